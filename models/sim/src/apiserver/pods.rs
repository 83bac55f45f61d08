//! What is asked of an object by a `POST`: of a pod to go (`eviction`), and to a node (`binding`); of a
//! service account a token.

use std::sync::Arc;

use serde_json::{Value, json};

use super::admission::Wish;
use super::http::{Answer, Response};
use super::metadata::text;
use super::negotiate::is_protobuf;
use super::resource::Resource;
use super::status::{Failure, Outcome};
use super::update::check_name;
use super::{Call, Request, Server};
use crate::protobuf;

/// The resources of the core group, what is posted to which subresource of them, and its group and kind.
type Asked = (&'static str, &'static str, &'static str, &'static str);
pub(super) const ASKED: [Asked; 3] = [
    ("pods", "binding", "", "Binding"),
    ("pods", "eviction", "policy", "Eviction"),
    ("serviceaccounts", "token", "authentication.k8s.io", "TokenRequest"),
];

/// The kind of what is posted to a subresource; none if the resource has it not.
pub(super) fn posted(resource: &Resource, name: &str) -> Option<&'static Asked> {
    let fits = |it: &&Asked| resource.plural == it.0 && resource.group.is_empty() && it.1 == name;
    ASKED.iter().find(fits)
}

impl Server {
    pub(super) fn ask_object(&mut self, call: &mut Call<'_>, what: &str) -> Outcome<Response> {
        let body = read(call, what)?;
        if !text(&body, "name").is_empty() || what == "eviction" {
            check_name(&body, call.name())?;
        }
        let body = self.judge_asked(call, what, body)?;
        match what {
            "eviction" => self.evict(call, &body),
            "token" => self.give_token(call, body),
            _ => self.bind(call, &body),
        }
    }

    /// Asks webhooks about what is asked of an object.
    fn judge_asked(&mut self, call: &mut Call<'_>, what: &str, body: Value) -> Outcome<Value> {
        let Some((_, _, group, kind)) = posted(call.resource(), what) else { return Ok(body) };
        let mut body = body;
        body["kind"] = (*kind).into();
        body["apiVersion"] =
            if group.is_empty() { "v1".into() } else { format!("{group}/v1").into() };
        for (field, value) in [("name", call.name()), ("namespace", &call.target.namespace)] {
            super::metadata::set(&mut body, field, value);
        }
        let writing = Self::writing(call, "CreateOptions")?;
        let wish = Wish::write(call, "CREATE", &writing).of_kind([group, "v1", kind]);
        let body = self.mutated(call, &wish, body, None)?;
        self.approve(call, &wish, Some(&body), None)?;
        Ok(body)
    }

    /// Deletes it. No disruption budget is looked at, and no webhook is asked about the deletion.
    fn evict(&mut self, call: &Call<'_>, body: &Value) -> Outcome<Response> {
        let path = call.request.path.trim_end_matches('/');
        let path = path.strip_suffix("/eviction").unwrap_or(path); // a pod may have that name, too
        let mut request = Request::new("DELETE", path);
        request.query.clone_from(&call.request.query);
        if body["deleteOptions"].is_object() {
            request = request.json(&body["deleteOptions"]);
        }
        match self.exempt(|server| server.serve(&request, None))? {
            Answer::Response(response) if response.status >= 400 => Ok(response),
            _ => Ok(done()),
        }
    }

    fn bind(&mut self, call: &Call<'_>, body: &Value) -> Outcome<Response> {
        let (resource, key) = (call.target.resource.clone(), call.key());
        let missing = || Failure::not_found(&resource, call.name());
        let stored = self.stored(&resource, &key).ok_or_else(missing)?;
        let node = body["target"]["name"].as_str().unwrap_or("");
        let own = stored.object["spec"]["nodeName"].as_str().unwrap_or("");
        if node.is_empty() {
            return Err(Failure::bad_request("target.name: Required value"));
        }
        if !own.is_empty() {
            let why = format!("pod {} is already assigned to node {own:?}", call.name());
            return Err(Failure::conflict(&resource, call.name(), &why));
        }
        let mut object = Value::clone(&stored.object);
        object["spec"]["nodeName"] = node.into();
        let now = json!({
            "type": "PodScheduled", "status": "True", "lastProbeTime": null,
            "lastTransitionTime": super::clock::stamp(self.now),
        });
        match object["status"]["conditions"].as_array_mut() {
            Some(conditions) => {
                conditions.retain(|it| it["type"] != "PodScheduled");
                conditions.push(now);
            }
            None => object["status"]["conditions"] = json!([now]),
        }
        self.write(&resource, key, object, false);
        Ok(done())
    }
}

fn read(call: &Call<'_>, what: &str) -> Outcome<Value> {
    let body = &call.request.body;
    if !is_protobuf(call.request) {
        let parsed = crate::json::parse(body);
        return Ok(parsed.map_err(|error| Failure::bad_request(error.to_string()))?.0);
    }
    let kind = match what {
        "eviction" => ("policy/v1", "Eviction"),
        "token" => ("authentication.k8s.io/v1", "TokenRequest"),
        _ => ("core/v1", "Binding"),
    };
    let decoded = protobuf::decode_as(body, Some(kind));
    decoded.map_err(|error| Failure::bad_request(error.to_string()))
}

fn done() -> Response {
    let status = json!({
        "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "code": 201,
    });
    Response::of(201, Arc::new(status))
}
