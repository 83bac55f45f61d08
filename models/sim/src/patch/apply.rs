//! Server-side apply: a manager says which fields it wants, and owns these.

use serde_json::{Map, Value, json};

use super::PatchError;
use super::check::check;
use super::combine::combine;
use super::difference::Difference;
use super::limits;
use super::managers::{self, Identity, Managers, Owned};
use super::ownership::{Conflict, adapt, conflicts, give, take};
use super::prune::prune;
use super::set::{self, FieldSet};
use super::track::{Update, changed};
use super::typed::fields;
use super::types::Types;
use super::versions::{self, Changes, Others};
use crate::short::{MOST, short};

/// The manager that applies, the time, and the part of the object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Apply<'a> {
    /// The name of the field manager.
    pub manager: &'a str,
    /// Whether it takes fields that others own.
    pub force: bool,
    /// The version in which it applies: `group/version`, or `version`.
    pub api_version: &'a str,
    /// Now, in RFC 3339 with seconds.
    pub time: &'a str,
    /// The subresource that is written, or "" for the object itself.
    pub subresource: &'a str,
}

/// The owner of fields from before the first apply, if their owner is unknown.
const BEFORE: &str = "before-first-apply";
/// The client whose older way to apply left an annotation of what it had applied.
const KUBECTL: &str = "kubectl";
const LAST_APPLIED: &str = "kubectl.kubernetes.io/last-applied-configuration";

/// Applies what a manager wants to an object, or makes one of it if there is none.
///
/// The result has its `metadata.managedFields`. The time of the manager is only set if anything
/// else changed, so that the same apply again gives an equal object. Fields that the manager
/// applied before and leaves out now are removed unless others own them.
///
/// # Errors
///
/// 409 with a cause for each field that others own with another value, unless it is forced; 400 for
/// another version or managed fields in the applied object; 500 for an object that does not fit the
/// kind.
pub fn apply(
    live: Option<&Value>,
    applied: &Value,
    request: &Apply<'_>,
    kind: &Types,
) -> Result<Value, PatchError> {
    apply_from(&nothing(applied), live, applied, request, kind, None)
}

/// The same for a kind whose objects have fields that nobody has set, which are in `nothing`: these
/// have no owner, and where versions of a kind have other fields.
pub(crate) fn apply_from(
    nothing: &Value,
    live: Option<&Value>,
    applied: &Value,
    request: &Apply<'_>,
    kind: &Types,
    mut versions: Others<'_, '_>,
) -> Result<Value, PatchError> {
    refuse(live, applied, request, kind)?;
    let mut all = live
        .map_or_else(|| Some(Managers::default()), Managers::of)
        .ok_or_else(|| PatchError::internal("failed to decode managed fields"))?;
    let mut base = live.map_or_else(|| self::nothing(applied), Value::clone);
    managers::remove(&mut base);
    if all.0.is_empty() {
        let Apply { api_version, time, subresource, .. } = *request;
        let before = Update { manager: BEFORE, api_version, time, subresource };
        changed(&mut all, (nothing, &base), &before, kind, versions.as_deref_mut())?;
    }
    all.forget_strangers(request.api_version);
    let mut write = Write { base: &base, applied, request, kind, all };
    write.perform(versions)
}

struct Write<'a> {
    base: &'a Value,
    applied: &'a Value,
    request: &'a Apply<'a>,
    kind: &'a Types,
    all: Managers,
}

impl Write<'_> {
    fn perform(&mut self, mut versions: Others<'_, '_>) -> Result<Value, PatchError> {
        let (request, kind) = (self.request, self.kind);
        let identity = Identity::apply(request.manager, request.subresource);
        let reset = kind.reset(request.subresource);
        let own = request.api_version;
        adapt(kind, &mut self.all, versions.is_some().then_some(own));
        let merged = combine(kind, kind.root(), Some(self.base), Some(self.applied))
            .unwrap_or_else(|| self.base.clone());
        let last = self.all.get(&identity).cloned().unwrap_or_default();
        let wanted = fields(kind, kind.root(), self.applied);
        let mine = Owned {
            api_version: request.api_version.to_owned(),
            fields: reset.map_or_else(|| wanted.clone(), |reset| wanted.clone().outside(reset)),
            time: last.time,
        };
        self.all.put(identity.clone(), mine.clone());
        let mut new = match versions.as_deref_mut() {
            None => prune(kind, merged, &self.all, &last.fields),
            Some(others) => {
                let last_of = (&last.fields, last.api_version.as_str(), own);
                versions::prune(merged, &self.all, last_of, others)?
            }
        };
        let states = (self.base, &new);
        let changes = Changes::between(&self.all, (kind, own), states, reset, versions)?;
        let found = conflicts(&self.all, &identity, &changes);
        if !found.is_empty() && !request.force {
            self.allow(found)?;
        }
        take(&mut self.all, Some(&identity), &changes);
        let time = if new == *self.base { mine.time } else { Some(request.time.to_owned()) };
        give(&mut self.all, identity, Owned { time, ..mine });
        if request.manager == KUBECTL {
            refresh_last_applied(&mut new, self.applied);
        }
        std::mem::take(&mut self.all).write(&mut new);
        Ok(new)
    }

    /// Refuses conflicts, apart from fields that the older way to apply has set.
    fn allow(&self, found: Vec<Conflict>) -> Result<(), PatchError> {
        let allowed = if self.request.manager == KUBECTL { self.last_applied() } else { None };
        let found = match allowed {
            None => found,
            Some(allowed) => found
                .into_iter()
                .map(|conflict| Conflict {
                    fields: conflict.fields.difference(&allowed),
                    ..conflict
                })
                .filter(|conflict| !conflict.fields.is_empty())
                .collect(),
        };
        if found.is_empty() { Ok(()) } else { Err(refusal(&found)) }
    }

    /// The fields of the annotation that are as it says.
    fn last_applied(&self) -> Option<FieldSet> {
        let text = annotation(self.base)?;
        let then = serde_json::from_str::<Value>(text).ok().filter(Value::is_object)?;
        let since = Difference::between(self.kind, &then, self.base);
        let all = fields(self.kind, self.kind.root(), &then);
        Some(all.difference(&since.changed()).difference(&since.removed))
    }
}

fn annotation(object: &Value) -> Option<&str> {
    object
        .get("metadata")?
        .get("annotations")?
        .get(LAST_APPLIED)?
        .as_str()
        .filter(|t| !t.is_empty())
}

/// Brings the annotation up to date, if there is one.
fn refresh_last_applied(new: &mut Value, applied: &Value) {
    if annotation(new).is_none() {
        return;
    }
    let mut now = applied.clone();
    let annotations = now.pointer_mut("/metadata/annotations").and_then(Value::as_object_mut);
    if let Some(annotations) = annotations {
        annotations.remove(LAST_APPLIED);
    }
    new["metadata"]["annotations"][LAST_APPLIED] = Value::from(format!("{now}\n"));
}

/// An object of the same kind that has nothing.
fn nothing(applied: &Value) -> Value {
    let names = ["apiVersion", "kind"];
    let known =
        names.iter().filter_map(|name| Some(((*name).to_owned(), applied.get(*name)?.clone())));
    Value::Object(known.collect::<Map<_, _>>())
}

fn refuse(
    live: Option<&Value>,
    applied: &Value,
    request: &Apply<'_>,
    kind: &Types,
) -> Result<(), PatchError> {
    if !applied.is_object() || live.is_some_and(|live| !live.is_object()) {
        return Err(PatchError::bad_request("error decoding YAML: the body is no object"));
    }
    if !limits::shallow(applied) || live.is_some_and(|live| !limits::shallow(live)) {
        return Err(PatchError::bad_request("error decoding YAML: nested too deeply"));
    }
    let text = |at: &str| applied.pointer(at).and_then(Value::as_str).unwrap_or_default();
    let (version, name, expected) =
        (text("/apiVersion"), text("/metadata/name"), request.api_version);
    if version != expected {
        return Err(PatchError::bad_request(format!(
            "Incorrect version specified in apply patch. Specified patch version: {version}, \
             expected: {expected}"
        )));
    }
    if applied.pointer("/metadata/managedFields").is_some_and(Value::is_array) {
        return Err(PatchError::bad_request("metadata.managedFields must be nil"));
    }
    let wrong = check(kind, applied);
    let wrong = match &wrong[..] {
        [] => return Ok(()),
        [only] => only.clone(),
        many => format!("errors:\n  {}", many.join("\n  ")),
    };
    let (namespace, kind) = (text("/metadata/namespace"), text("/kind"));
    let group_version =
        if version.contains('/') { version.to_owned() } else { format!("/{version}") };
    Err(PatchError::internal(format!(
        "failed to create typed patch object ({namespace}/{name}; {group_version}, Kind={kind}): \
         {wrong}"
    )))
}

/// 409, with a cause for each field.
fn refusal(found: &[Conflict]) -> PatchError {
    let mut room = MOST;
    let mut paths = Vec::new();
    for conflict in found.iter().take(MOST) {
        let these = conflict.fields.paths(room);
        room -= these.len();
        let these = these.iter().map(|path| short(set::Path(path))).collect::<Vec<_>>();
        paths.push((short(&conflict.with), these));
    }
    let causes = paths.iter().flat_map(|(with, paths)| {
        paths.iter().map(move |path| {
            json!({
                "reason": "FieldManagerConflict",
                "message": format!("conflict with {with}"),
                "field": path,
            })
        })
    });
    let causes = causes.collect::<Vec<_>>();
    let count: usize = found.iter().map(|conflict| conflict.fields.count()).sum();
    let message = match (&paths[..], count) {
        ([(with, fields)], 1) => {
            format!("Apply failed with 1 conflict: conflict with {with}: {}", fields[0])
        }
        (_, count) => {
            let each = paths
                .iter()
                .map(|(with, fields)| format!("conflicts with {with}:\n- {}", fields.join("\n- ")));
            let each = each.collect::<Vec<_>>().join("\n");
            format!("Apply failed with {count} conflicts: {each}")
        }
    };
    PatchError {
        status: 409,
        reason: Some("Conflict"),
        message,
        details: Some(json!({ "causes": causes })),
    }
}
