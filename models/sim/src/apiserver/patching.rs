//! `PATCH`, and who owns which fields.

use std::sync::Arc;

use serde_json::Value;

use super::cause::Cause;
use super::create::{Origin, check_namespace};
use super::http::Response;
use super::metadata::text;
use super::mistake::Slip;
use super::negotiate::content_type;
use super::options::{Unknown, Writing};
use super::resource::{Resource, Shape};
use super::status::{Failure, Outcome};
use super::update::{check_name, parse_version};
use super::{Call, Server, clock, decode, types};
use crate::json;
use crate::patch::{self, Others, PatchError, Types, Versions};
use crate::short::note;

/// The four kinds of patches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Format {
    Json,
    Merge,
    Strategic,
    Apply,
}

impl From<PatchError> for Box<Failure> {
    fn from(error: PatchError) -> Self {
        let PatchError { status, reason, message, details } = error;
        Self::new(Failure { status, reason, message, details, ..Failure::default() })
    }
}

impl Server {
    pub(super) fn patch(&mut self, call: &mut Call<'_>) -> Outcome<Response> {
        if let Some(lies_in) = self.lies_in(call.resource(), &call.key()) {
            call.target.resource = lies_in;
        }
        let resource = call.target.resource.clone();
        let format = format(call, &resource)?;
        let is_apply = format == Format::Apply;
        let writing = Writing::parse(call.request, "PatchOptions", is_apply)?;
        let old = self.read(&resource, &call.key())?;
        let (old, object) = match (old, is_apply) {
            (Some(old), false) => {
                let object = patched(call, format, &old.object, writing.unknown)?;
                (old, object)
            }
            (Some(old), true) => {
                let object = self.applied(call, Some(&old.object), &writing)?;
                (old, object)
            }
            (None, true) if call.target.subresource.is_none() => {
                let object = self.apply_new(call, &writing)?;
                return Ok(Response::of(201, object));
            }
            (None, _) => return Err(Failure::not_found(&resource, call.name())),
        };
        let mut object = object;
        check_namespace(&mut object, &call.target.namespace)?;
        check_name(&object, call.name())?;
        let origin = if is_apply { Origin::Apply } else { Origin::Update };
        let object = self.change(call, &old, object, &writing, origin)?;
        Ok(Response::of(200, object))
    }

    /// Creates the object that a manager applies, if it does not exist yet.
    fn apply_new(&mut self, call: &mut Call<'_>, writing: &Writing) -> Outcome<Arc<Value>> {
        let mut object = self.applied(call, None, writing)?;
        let uid = text(&object, "uid");
        if !uid.is_empty() {
            let why = format!(
                "uid mismatch: the provided object specified uid {uid}, and no existing object was found"
            );
            return Err(Failure::conflict(call.resource(), call.name(), &why));
        }
        check_namespace(&mut object, &call.target.namespace)?;
        check_name(&object, call.name())?;
        parse_version(&object)?;
        self.create(call, object, writing, Origin::Apply)
    }

    /// The object as a manager wants it.
    fn applied(
        &mut self,
        call: &mut Call<'_>,
        old: Option<&Value>,
        writing: &Writing,
    ) -> Outcome<Value> {
        let resource = call.target.resource.clone();
        let (mut body, twice) = json::parse(&call.request.body)
            .map_err(|error| Failure::bad_request(format!("error decoding YAML: {error}")))?;
        if body.is_object() {
            check_type(&resource, &body)?;
        }
        decode::whole_numbers(&mut body);
        let object = self.apply_body(call, old, &body, writing)?;
        let strict = twice.iter().map(|path| format!("duplicate field {path:?}"));
        match writing.unknown {
            Unknown::Refuse if !twice.is_empty() => {
                let strict = strict.collect::<Vec<_>>().join(", ");
                return Err(decode::cannot(&resource, &format!("strict decoding error: {strict}")));
            }
            Unknown::Warn => call.warnings.extend(strict),
            _ => {}
        }
        decode::applied(&resource, object)
    }

    /// An object with what a manager applies to it, and who owns that.
    pub(super) fn apply_body(
        &mut self,
        call: &Call<'_>,
        old: Option<&Value>,
        body: &Value,
        writing: &Writing,
    ) -> Outcome<Value> {
        let resource = call.target.resource.clone();
        let request = patch::Apply {
            manager: &writing.manager,
            force: writing.force,
            api_version: &resource.api_version(),
            time: &clock::stamp(self.now),
            subresource: call.target.subresource.as_deref().unwrap_or(""),
        };
        let empty = empty(&resource);
        let knows = resource.converter().is_some() && !self.slips(Slip::ManagersKnowOneVersion);
        let mut versions = Shows { server: self, resource: &resource };
        let others: Others<'_, '_> = if knows { Some(&mut versions) } else { None };
        Ok(patch::apply_from(&empty, old, body, &request, &resource.types, others)?)
    }

    /// Writes down who owns what a write changes. Fails if a webhook must be called for that: nobody may see
    /// the object before.
    pub(super) fn track(
        &mut self,
        call: &Call<'_>,
        old: Option<&Value>,
        object: &mut Value,
        writing: &Writing,
    ) -> Outcome<()> {
        let update = patch::Update {
            manager: &writing.manager,
            api_version: &call.resource().api_version(),
            time: &clock::stamp(self.now),
            subresource: call.target.subresource.as_deref().unwrap_or(""),
        };
        let nothing = if old.is_none() { empty(call.resource()) } else { Value::Null };
        let old = old.or(Some(&nothing).filter(|it| it.is_object()));
        let resource = call.target.resource.clone();
        let knows = resource.converter().is_some() && !self.slips(Slip::ManagersKnowOneVersion);
        let mut versions = Shows { server: self, resource: &resource };
        let others: Others<'_, '_> = if knows { Some(&mut versions) } else { None };
        patch::track_in(old, object, &update, &resource.types, others);
        if self.lacks_replies() {
            return Err(Failure::internal("a webhook is to be called"));
        }
        Ok(())
    }
}

/// Shows objects in other versions, as managers of fields need them.
struct Shows<'a> {
    server: &'a mut Server,
    resource: &'a Resource,
}

impl Versions for Shows<'_> {
    fn show(
        &mut self,
        object: &Value,
        version: &str,
    ) -> Result<Option<(Value, Types)>, PatchError> {
        let Some(other) = self.server.sibling(self.resource, version) else { return Ok(None) };
        let shown = self.server.converted(self.resource, object, version).map_err(|it| {
            let Failure { status, reason, message, details, .. } = *it;
            PatchError { status, reason, message, details }
        })?;
        Ok(Some((shown.into_owned(), other.types.clone())))
    }
}

/// A new, empty object of a built-in kind, with fields that nobody has set; else null.
fn empty(resource: &Resource) -> Value {
    match &resource.shape {
        Shape::Struct(of) => types::zero(of),
        Shape::Structural(_) => Value::Null,
    }
}

/// Refuses to apply an object of another kind or version.
fn check_type(resource: &Resource, body: &Value) -> Outcome<()> {
    let part = |key: &str| body[key].as_str().unwrap_or("");
    let (kind, version) = (part("kind"), part("apiVersion"));
    if kind == resource.kind && version == resource.api_version() {
        return Ok(());
    }
    let slash = if version.contains('/') { "" } else { "/" };
    let why = format!("invalid object type: {slash}{version}, Kind={kind}");
    Err(Failure::bad_request(why))
}

/// Refuses a patch of an unknown type; that comes before all else.
pub(super) fn check_format(call: &Call<'_>) -> Outcome<()> {
    if call.target.subresource.as_deref() == Some("scale") {
        return Ok(());
    }
    format(call, call.resource()).map(drop)
}

fn format(call: &Call<'_>, resource: &Resource) -> Outcome<Format> {
    let format = match content_type(call.request) {
        "application/json-patch+json" => Some(Format::Json),
        "application/merge-patch+json" => Some(Format::Merge),
        "application/strategic-merge-patch+json" if !resource.is_custom => Some(Format::Strategic),
        "application/apply-patch+yaml" => Some(Format::Apply),
        _ => None,
    };
    format.ok_or_else(|| {
        if resource.is_custom {
            return Failure::unsupported(
                "application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml",
            );
        }
        let message = "415: Unsupported Media Type";
        let mut failure = Failure::new(415, "UnsupportedMediaType", message);
        failure.details = Some(serde_json::json!({}));
        failure
    })
}

/// The object after a patch, read like a new one.
fn patched(call: &mut Call<'_>, format: Format, old: &Value, unknown: Unknown) -> Outcome<Value> {
    let (resource, body) = (call.target.resource.clone(), &call.request.body);
    let make = || match format {
        Format::Json => patch::json(old, body),
        Format::Merge => patch::merge(old, body),
        Format::Strategic | Format::Apply => patch::strategic(old, body, &resource.types),
    };
    let invalid = |why: &str| {
        // Only a failure shows the object.
        let shown = decode::shown(&resource, make().unwrap_or_default());
        let cause = Cause::invalid("patch", &shown.into(), why);
        Failure::invalid("", "", "", &[cause])
    };
    if format == Format::Merge && unknown == Unknown::Ignore && is_list(body) {
        return Err(invalid(
            "couldn't get version/kind; json parse error: json: cannot unmarshal array",
        ));
    }
    let object = make()?;
    let object = decode::kind(&resource, object, &[])
        .map_err(|failure| invalid(&failure.message))?
        .ok_or_else(|| invalid("Object 'Kind' is missing"))?;
    let mut paths = Vec::new();
    let object = decode::shape(&resource, object, &mut paths).map_err(|why| invalid(&why))?;
    let mut strict = repeated(format, body, unknown);
    paths.iter().for_each(|path| note(&mut strict, format_args!("unknown field {path:?}")));
    match unknown {
        Unknown::Refuse if !strict.is_empty() => {
            Err(invalid(&format!("strict decoding error: {}", strict.join(", "))))
        }
        Unknown::Warn => {
            call.warnings.append(&mut strict);
            Ok(object)
        }
        _ => Ok(object),
    }
}

/// Tells whether a patch is a list, which replaces the object if its fields are not checked first.
fn is_list(body: &[u8]) -> bool {
    json::parse(body).is_ok_and(|(patch, _)| patch.is_array())
}

/// The fields that a patch sets twice (the last one counts), if the client wants to be told.
fn repeated(format: Format, body: &[u8], unknown: Unknown) -> Vec<String> {
    let twice = match unknown {
        Unknown::Ignore => Vec::new(),
        Unknown::Warn | Unknown::Refuse => json::parse(body).map_or(Vec::new(), |(_, twice)| twice),
    };
    let of = if format == Format::Json { "json patch " } else { "" };
    twice.iter().map(|path| format!("{of}duplicate field {path:?}")).collect()
}
