//! What a webhook is asked, and what its answer means.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use super::super::Call;
use super::super::access::User;
use super::super::options::{Deleting, Writing};
use super::super::resource::Resource;
use super::super::status::Failure;
use super::hook::Hook;
use super::{WebhookCall, WebhookReply};
use crate::json::{self, ROOM, TOO_MUCH};
use crate::short::short;

/// What a request does to an object, beside the two states of that.
#[derive(Clone, Debug)]
pub(crate) struct Wish {
    pub(crate) operation: &'static str,
    /// The group, the version and the kind of the object.
    pub(crate) kind: [String; 3],
    pub(crate) namespace: String,
    pub(crate) name: String,
    pub(crate) is_dry: bool,
    options: Value,
}

impl Wish {
    pub(in super::super) fn write(
        call: &Call<'_>,
        operation: &'static str,
        writing: &Writing,
    ) -> Self {
        let of = if operation == "CREATE" { "CreateOptions" } else { "UpdateOptions" };
        let mut options = json!({});
        for field in ["fieldManager", "fieldValidation"] {
            if let Some(value) = call.request.parameter(field).filter(|it| !it.is_empty()) {
                options[field] = value.into();
            }
        }
        Self::new(call, operation, (of, options), writing.is_dry)
    }

    pub(in super::super) fn delete(call: &Call<'_>, deleting: &Deleting) -> Self {
        Self::new(call, "DELETE", ("DeleteOptions", deleting.shown()), deleting.is_dry)
    }

    fn new(
        call: &Call<'_>,
        operation: &'static str,
        (of, mut options): (&str, Value),
        is_dry: bool,
    ) -> Self {
        options["kind"] = of.into();
        options["apiVersion"] = "meta.k8s.io/v1".into();
        if is_dry {
            options["dryRun"] = json!(["All"]);
        }
        let resource = call.resource();
        let kind = [&resource.group, &resource.version, &resource.kind].map(String::clone);
        let (namespace, name) = (call.target.namespace.clone(), call.name().to_owned());
        let mut wish = Self { operation, kind, namespace, name, is_dry, options };
        wish.is_about(&Value::Null);
        wish
    }

    /// Takes the name of an object for that of the request, if the path has none. A namespace lies in itself.
    pub(crate) fn is_about(&mut self, object: &Value) {
        if self.name.is_empty() {
            self.name = super::super::metadata::text(object, "name").to_owned();
        }
        if self.kind[2] == "Namespace" && self.kind[0].is_empty() {
            self.namespace.clone_from(&self.name);
        }
    }

    /// The same for an object of a kind of its own, as a scale is one.
    pub(crate) fn of_kind(mut self, kind: [&str; 3]) -> Self {
        self.kind = kind.map(str::to_owned);
        self
    }

    /// The object changes because its scale does, which was asked about already.
    pub(super) fn is_behind_a_scale(&self, call: &Call<'_>) -> bool {
        call.target.subresource.as_deref() == Some("scale") && self.kind[2] != "Scale"
    }

    /// The review without its uid; `version` is the one in which the resource is shown.
    pub(super) fn review(
        &self,
        call: &Call<'_>,
        version: &str,
        object: Option<&Value>,
        old: Option<&Value>,
    ) -> Value {
        let resource: &Resource = call.resource();
        let part = call.target.subresource.as_deref().unwrap_or("");
        let named = |version: &str| json!({"group": resource.group, "version": version, "resource": resource.plural});
        let is_own = self.kind[2] == resource.kind;
        let kind = |version: &str| {
            let [group, own, kind] = &self.kind;
            let version = if is_own { version } else { own };
            json!({"group": group, "version": version, "kind": kind})
        };
        let shown = |object: Option<&Value>| {
            let mut object = object.cloned().unwrap_or_default();
            if object.is_object() && is_own {
                object["kind"] = resource.kind.as_str().into();
                object["apiVersion"] = match resource.group.as_str() {
                    "" => version.into(),
                    group => format!("{group}/{version}").into(),
                };
            }
            object
        };
        let admin = User::admin();
        let mut request = json!({
            "kind": kind(version), "resource": named(version),
            "requestKind": kind(&resource.version), "requestResource": named(&resource.version),
            "operation": self.operation, "userInfo": call.user.as_deref().unwrap_or(&admin).shown(),
            "object": shown(object), "oldObject": shown(old),
            "dryRun": self.is_dry, "options": self.options,
        });
        for (field, value) in [
            ("name", self.name.as_str()),
            ("namespace", &self.namespace),
            ("subResource", part),
            ("requestSubResource", part),
        ] {
            if !value.is_empty() {
                request[field] = value.into();
            }
        }
        request
    }
}

/// What an answer means.
#[derive(Debug)]
pub(super) enum Verdict {
    Allowed {
        /// The patch, if there is one.
        patch: Option<Vec<u8>>,
        warnings: Vec<String>,
    },
    Denied {
        failure: Box<Failure>,
        warnings: Vec<String>,
    },
    /// There was no answer, or none that can be understood.
    Failed(String),
}

/// Reads an answer.
pub(super) fn judge(hook: &Hook, call: &WebhookCall, reply: &WebhookReply) -> Verdict {
    let body = match reply {
        WebhookReply::Answered { status: 200..=299, body } => body,
        WebhookReply::Answered { status, body } => {
            return Verdict::Failed(format!("failed to call webhook: {}", refused(*status, body)));
        }
        WebhookReply::Failed(why) => {
            let url = call.to.url(call.timeout);
            return Verdict::Failed(format!("failed to call webhook: Post {url:?}: {why}"));
        }
    };
    let Some(answer) = values(body) else {
        let why =
            "failed to call webhook: couldn't get version/kind; json parse error: invalid JSON";
        return Verdict::Failed(why.to_owned());
    };
    match read(hook, &call.review["request"]["uid"], &answer) {
        Ok(verdict) => verdict,
        Err(why) => Verdict::Failed(why),
    }
}

/// An answer, unless its values would take too much memory.
pub(in super::super) fn values(body: &[u8]) -> Option<Value> {
    let fits = json::memory(body) <= ROOM;
    fits.then(|| serde_json::from_slice(body).ok()).flatten()
}

/// What a client of the reference makes of a failure.
pub(in super::super) fn refused(status: u16, body: &[u8]) -> String {
    let told = values(body).unwrap_or_default();
    if let Some(message) = told["message"].as_str().filter(|_| told["kind"] == "Status") {
        return short(message);
    }
    let why = match status {
        400 => "the server rejected our request for an unknown reason",
        401 => "the server has asked for the client to provide credentials",
        403 => "forbidden",
        404 => "the server could not find the requested resource",
        405 => "the server does not allow this method on the requested resource",
        429 => "the server has received too many requests and has asked us to try again later",
        503 => "the server is currently unable to handle the request",
        500.. => "an error on the server (\"unknown\") has prevented the request from succeeding",
        _ => {
            return format!(
                "the server responded with the status code {status} but did not return more information"
            );
        }
    };
    why.to_owned()
}

fn read(hook: &Hook, uid: &Value, answer: &Value) -> Result<Verdict, String> {
    let invalid = |why: String| format!("received invalid webhook response: {why}");
    let response = &answer["response"];
    if !response.is_object() {
        return Err(invalid("webhook response was absent".to_owned()));
    }
    let field = |name: &str| response.get(name).filter(|it| !it.is_null());
    if hook.version == "v1" {
        let (version, kind) = (&answer["apiVersion"], &answer["kind"]);
        if version != "admission.k8s.io/v1" || kind != "AdmissionReview" {
            let part = |it: &Value| short(it.as_str().unwrap_or(""));
            return Err(invalid(format!(
                "expected webhook response of admission.k8s.io/v1, Kind=AdmissionReview, got {}, Kind={}",
                part(version),
                part(kind)
            )));
        }
        let found = field("uid").and_then(Value::as_str).unwrap_or("");
        if *uid != found {
            return Err(invalid(format!("expected response.uid={uid}, got {:?}", short(found))));
        }
        let (patch, of) = (field("patch").is_some(), field("patchType").is_some());
        let why = match (hook.is_mutating, patch, of) {
            (false, true, _) => Some("validating webhook may not return response.patch"),
            (false, _, true) => Some("validating webhook may not return response.patchType"),
            (true, true, false) => {
                Some("webhook returned response.patch but not response.patchType")
            }
            (true, false, true) => {
                Some("webhook returned response.patchType but not response.patch")
            }
            _ => None,
        };
        if let Some(why) = why {
            return Err(invalid(why.to_owned()));
        }
    }
    let warnings = super::super::metadata::strings(&response["warnings"]);
    let warnings = warnings.into_iter().map(str::to_owned).collect();
    if response["allowed"] != true {
        return Ok(Verdict::Denied { failure: denied(&hook.name, &response["status"]), warnings });
    }
    let patch = match field("patch").filter(|_| hook.is_mutating) {
        None => None,
        Some(patch) => Some(decoded(patch, field("patchType"))?),
    };
    Ok(Verdict::Allowed { patch, warnings })
}

fn decoded(patch: &Value, of: Option<&Value>) -> Result<Vec<u8>, String> {
    if let Some(other) = of.filter(|it| *it != "JSONPatch") {
        return Err(format!("unsupported patch type {}", short(other)));
    }
    let undecodable =
        |why: String| format!("received undecodable patch in webhook response: {why}");
    let bytes = STANDARD
        .decode(patch.as_str().unwrap_or(""))
        .map_err(|_| "failed to call webhook: illegal base64 data in response.patch".to_owned())?;
    if json::memory(&bytes) > ROOM {
        return Err(undecodable(TOO_MUCH.to_owned()));
    }
    match serde_json::from_slice::<Vec<serde_json::Map<String, Value>>>(&bytes) {
        Ok(_) => Ok(bytes),
        Err(error) => Err(undecodable(error.to_string())),
    }
}

/// The refusal of a webhook, in the words that it wants.
fn denied(name: &str, status: &Value) -> Box<Failure> {
    let text = |field: &str| status[field].as_str().unwrap_or("");
    let by = format!("admission webhook {name:?} denied the request");
    let message = match (text("message"), text("reason")) {
        ("", "") => format!("{by} without explanation"),
        ("", reason) => format!("{by}: {reason}"),
        (message, _) => format!("{by}: {message}"),
    };
    // No code can be sent that is none of HTTP.
    let code = status["code"].as_u64().filter(|it| (100..1000).contains(it)).unwrap_or(400);
    let mut shown = json!({
        "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure",
        "message": message, "code": code,
    });
    for field in ["reason", "details"] {
        if let Some(value) = status.get(field).filter(|it| !it.is_null() && **it != "") {
            shown[field] = value.clone();
        }
    }
    let told = Some(shown);
    Box::new(Failure { status: code as u16, message, told, ..Failure::default() })
}
