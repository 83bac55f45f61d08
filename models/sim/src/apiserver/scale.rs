//! The subresource `scale`: how many replicas, whatever the kind calls them.

use std::sync::Arc;

use serde_json::{Value, json};

use super::admission::Wish;
use super::bounds::go_type_of;
use super::cause::{Cause, Causes};
use super::create::Origin;
use super::http::Response;
use super::metadata::text;
use super::mistake::Slip;
use super::negotiate::{content_type, is_protobuf, require_known};
use super::options::Writing;
use super::resource::Resource;
use super::status::{Failure, Outcome};
use super::store::Stored;
use super::update::check_name;
use super::{Call, Server, decode, types};
use crate::{patch, protobuf};

/// The paths of the fields that a scale shows, such as `/spec/replicas`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Scale {
    pub(crate) spec: String,
    pub(crate) status: String,
    /// A text that selects the pods; the built-in kinds have a selector instead.
    pub(crate) selector: Option<String>,
}

impl Scale {
    /// The scale of the built-in workloads.
    pub(crate) fn built_in() -> Self {
        let (spec, status) = ("/spec/replicas".to_owned(), "/status/replicas".to_owned());
        Self { spec, status, selector: None }
    }

    /// The scale that a definition declares, with paths such as `.spec.replicas`.
    pub(crate) fn declared(scale: &Value) -> Option<Self> {
        let path = |key: &str| scale[key].as_str().map(|path| path.replace('.', "/"));
        let selector = path("labelSelectorPath");
        Some(Self {
            spec: path("specReplicasPath")?,
            status: path("statusReplicasPath")?,
            selector,
        })
    }

    /// Names the values that a scale could not show: invalid counts, or a selector that is not a
    /// text.
    pub(crate) fn check(&self, object: &Value, of_status: bool, causes: &mut Causes) {
        let counts = [&self.spec, &self.status];
        for path in counts.into_iter().skip(usize::from(of_status)) {
            let field = path.replace('/', ".");
            if let Some(found) = no_object(object, path) {
                causes.push(unreadable(field, &0.into(), found, "map[string]interface {}"));
                continue;
            }
            let Some(found) = object.pointer(path) else { continue };
            let why = match found.as_i64() {
                Some(0..=0x7fff_ffff) => continue,
                Some(..0) => "should be a non-negative integer".to_owned(),
                Some(_) => format!("should be less than or equal to {}", i32::MAX),
                None => {
                    causes.push(unreadable(field, &0.into(), found, "int64"));
                    continue;
                }
            };
            causes.push(Cause::invalid(field, found, &why));
        }
        let selector = self.selector.as_deref().unwrap_or("");
        if let Some(found) = object.pointer(selector).filter(|it| !it.is_string())
            && !selector.is_empty()
        {
            causes.push(unreadable(selector.replace('/', "."), &"".into(), found, "string"));
        }
    }

    fn of(&self, object: &Value) -> Value {
        let count = |path: &str| object.pointer(path).and_then(Value::as_i64).unwrap_or(0);
        let selector = match &self.selector {
            Some(path) => object.pointer(path).and_then(Value::as_str).unwrap_or("").to_owned(),
            None => {
                let labels =
                    object.pointer("/spec/selector/matchLabels").and_then(Value::as_object);
                let labels = labels.into_iter().flatten();
                let labels = labels.map(|(key, it)| format!("{key}={}", it.as_str().unwrap_or("")));
                labels.collect::<Vec<_>>().join(",")
            }
        };
        let mut metadata = json!({});
        for field in ["name", "namespace", "uid", "resourceVersion", "creationTimestamp"] {
            if let Some(value) = object["metadata"].get(field) {
                metadata[field] = value.clone();
            }
        }
        let mut scale = json!({
            "apiVersion": "autoscaling/v1", "kind": "Scale", "metadata": metadata,
            "spec": {}, "status": {"replicas": count(&self.status)},
        });
        if count(&self.spec) != 0 {
            scale["spec"]["replicas"] = count(&self.spec).into();
        }
        if !selector.is_empty() {
            scale["status"]["selector"] = selector.into();
        }
        scale
    }
}

/// The first value on the way along a path that is neither an object nor null, if there is one.
fn no_object<'a>(object: &'a Value, path: &str) -> Option<&'a Value> {
    let mut at = object;
    for part in path.split('/').filter(|part| !part.is_empty()) {
        if !at.is_object() {
            return (!at.is_null()).then_some(at);
        }
        at = &at[part];
    }
    None
}

fn unreadable(field: String, shown: &Value, found: &Value, expected: &str) -> Cause {
    let kind = go_type_of(found);
    let found = found.as_str().map_or_else(|| found.to_string(), str::to_owned);
    let why = format!("{field} accessor error: {found} is of the type {kind}, expected {expected}");
    Cause::invalid(field, shown, &why)
}

impl Server {
    fn scaled(&mut self, call: &Call<'_>) -> Outcome<(Scale, Stored)> {
        let scale = call.resource().scale.clone().ok_or_else(Failure::no_resource)?;
        let missing = || Failure::not_found(call.resource(), call.name());
        let stored = self.read(call.resource(), &call.key())?.ok_or_else(missing)?;
        Ok((scale, stored))
    }

    pub(super) fn get_scale(&mut self, call: &Call<'_>) -> Outcome<Response> {
        let (scale, stored) = self.scaled(call)?;
        Ok(Response::of(200, Arc::new(scale.of(&stored.object))))
    }

    pub(super) fn put_scale(&mut self, call: &mut Call<'_>) -> Outcome<Response> {
        let is_patch = call.request.method == "PATCH";
        if is_patch && content_type(call.request) == "application/apply-patch+yaml" {
            return self.apply_scale(call);
        }
        let kind = if is_patch { "PatchOptions" } else { "UpdateOptions" };
        let writing = Writing::parse(call.request, kind, false)?;
        if !is_patch {
            require_known(call.request, call.resource())?;
        }
        let sent = if is_patch { None } else { Some(read(call)?) };
        let (scale, stored) = self.scaled(call)?;
        let before = scale.of(&stored.object);
        let wanted = sent.map_or_else(|| patched(call, &before), Ok)?;
        let wanted = self.judge_scale(call, &writing, wanted, &before)?;
        check_name(&wanted, call.name())?;
        let replicas = replicas(call.resource(), &wanted)?;
        let uid = text(&wanted, "uid");
        if !uid.is_empty() && uid != text(&before, "uid") {
            return Err(Failure::stale(call.resource(), call.name()));
        }
        let mut object = Value::clone(&stored.object);
        put(&mut object, &scale.spec, replicas);
        let version = text(&wanted, "resourceVersion");
        if !version.is_empty() {
            object["metadata"]["resourceVersion"] = version.into();
        }
        // A write through a scale takes the count from its owners. If the count had no owner, the
        // writer does not own it either. A count of zero cannot be owned.
        if replicas == 0 {
            disown(&mut object, &scale);
        }
        let owns = is_owned(&object, &scale) || self.slips(Slip::ScalesOwn);
        let origin = if owns { Origin::Update } else { Origin::Apply };
        let object = self.change(call, &stored, object, &writing, origin)?;
        Ok(Response::of(200, Arc::new(scale.of(&object))))
    }

    /// Asks webhooks about a scale, which they may change.
    fn judge_scale(
        &mut self,
        call: &mut Call<'_>,
        writing: &Writing,
        wanted: Value,
        before: &Value,
    ) -> Outcome<Value> {
        let wish = Wish::write(call, "UPDATE", writing).of_kind(["autoscaling", "v1", "Scale"]);
        let wanted = self.mutated(call, &wish, wanted, Some(before))?;
        self.approve(call, &wish, Some(&wanted), Some(before))?;
        Ok(wanted)
    }

    /// Applies a count: the manager owns that of the object, by way of the scale.
    fn apply_scale(&mut self, call: &mut Call<'_>) -> Outcome<Response> {
        let writing = Writing::parse(call.request, "PatchOptions", true)?;
        let wanted = read(call)?;
        let (scale, stored) = self.scaled(call)?;
        // What is applied lands on the scale that is there, which has a name.
        if !text(&wanted, "name").is_empty() {
            check_name(&wanted, call.name())?;
        }
        let resource = call.target.resource.clone();
        let (version, kind) = (resource.api_version(), &resource.kind);
        let mut body = json!({"apiVersion": version, "kind": kind, "metadata": {}});
        body["metadata"]["name"] = call.name().into();
        if !wanted["spec"]["replicas"].is_null() {
            put(&mut body, &scale.spec, replicas(&resource, &wanted)?);
        }
        let before = scale.of(&stored.object);
        let mut after = before.clone();
        after["spec"] = wanted["spec"].clone();
        self.judge_scale(call, &writing, after, &before)?;
        let object = self.apply_body(call, Some(&stored.object), &body, &writing)?;
        let object = decode::applied(&resource, object)?;
        let object = self.change(call, &stored, object, &writing, Origin::Apply)?;
        Ok(Response::of(200, Arc::new(scale.of(&object))))
    }
}

fn is_owned(object: &Value, scale: &Scale) -> bool {
    let path = scale.spec.replace('/', "/f:");
    let managers = object["metadata"]["managedFields"].as_array();
    managers.into_iter().flatten().any(|it| it["fieldsV1"].pointer(&path).is_some())
}

/// Takes the count from all who own it.
fn disown(object: &mut Value, scale: &Scale) {
    let path = scale.spec.replace('/', "/f:");
    let Some((parents, last)) = path.rsplit_once('/') else { return };
    let managers = object["metadata"].get_mut("managedFields").and_then(Value::as_array_mut);
    let Some(managers) = managers else { return };
    for manager in managers.iter_mut() {
        let parent = manager["fieldsV1"].pointer_mut(parents).and_then(Value::as_object_mut);
        parent.and_then(|fields| fields.remove(last));
        drop_empty(&mut manager["fieldsV1"], parents);
    }
    managers.retain(|manager| !types::is_empty(&manager["fieldsV1"]));
}

/// Removes what has nothing left in it, from the end of a path on.
fn drop_empty(fields: &mut Value, path: &str) {
    let Some((parents, last)) = path.rsplit_once('/') else { return };
    let Some(above) = fields.pointer_mut(parents).and_then(Value::as_object_mut) else { return };
    if above.get(last).is_some_and(types::is_empty) {
        above.remove(last);
        drop_empty(fields, parents);
    }
}

/// The scale of an update. A body that does not fit is refused before the object is looked up.
fn read(call: &Call<'_>) -> Outcome<Value> {
    let body = &call.request.body;
    let scale = if is_protobuf(call.request) {
        let scale = protobuf::decode_as(body, Some(("autoscaling/v1", "Scale")));
        scale.map_err(|error| Failure::bad_request(error.to_string()))?
    } else {
        let parsed = crate::json::parse(body);
        parsed.map_err(|error| Failure::bad_request(error.to_string()))?.0
    };
    if fits(&scale) {
        return Ok(scale);
    }
    let why = "Scale in version \"v1\" cannot be handled as a Scale: spec.replicas is no int32";
    Err(Failure::bad_request(why))
}

fn fits(scale: &Value) -> bool {
    let replicas = &scale["spec"]["replicas"];
    replicas.is_null() || replicas.as_i64().is_some_and(|it| i32::try_from(it).is_ok())
}

fn patched(call: &Call<'_>, before: &Value) -> Outcome<Value> {
    let body = &call.request.body;
    let scale = match content_type(call.request) {
        "application/json-patch+json" => patch::json(before, body)?,
        // No list of a scale is merged, so a strategic patch is a merge.
        "application/merge-patch+json" | "application/strategic-merge-patch+json" => {
            patch::merge(before, body)?
        }
        _ => {
            let known = "application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml";
            return Err(Failure::unsupported(known));
        }
    };
    if fits(&scale) {
        return Ok(scale);
    }
    let why = "spec.replicas is no int32";
    let cause = Cause::invalid("patch", &scale.to_string().into(), why);
    Err(Failure::invalid("", "", "", &[cause]))
}

fn replicas(resource: &Resource, wanted: &Value) -> Outcome<i64> {
    let replicas = &wanted["spec"]["replicas"];
    let count = replicas.as_i64().unwrap_or(0);
    // A custom resource checks the count by its own rules.
    if count < 0 && !resource.is_custom {
        let why = "must be greater than or equal to 0";
        let cause = Cause::invalid("spec.replicas", replicas, why);
        return Err(Failure::invalid("autoscaling", "Scale", text(wanted, "name"), &[cause]));
    }
    Ok(count)
}

/// Sets a value at a path; objects on the way are made where nothing is.
fn put(object: &mut Value, path: &str, value: i64) {
    let mut at = object;
    for part in path.split('/').filter(|part| !part.is_empty()) {
        if !at.is_object() && !at.is_null() {
            return;
        }
        at = &mut at[part];
    }
    *at = value.into();
}
