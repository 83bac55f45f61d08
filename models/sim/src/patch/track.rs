//! Managed fields of all writes except applies.

use serde_json::Value;

use super::PatchError;
use super::check;
use super::limits;
use super::managers::{self, Identity, Managers};
use super::ownership::{adapt, ownable, take};
use super::types::Types;
use super::versions::{Changes, Others};

/// The manager that writes, the time, and the part of the object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Update<'a> {
    /// The name of the field manager.
    pub manager: &'a str,
    /// The version in which it writes: `group/version`, or `version`.
    pub api_version: &'a str,
    /// Now, in RFC 3339 with seconds.
    pub time: &'a str,
    /// The subresource that is written, or "" for the object itself.
    pub subresource: &'a str,
}

/// Sets `metadata.managedFields` of an object that is created, replaced or patched.
///
/// `new` is the object as the client wants it, before the server restores the fields that this
/// write cannot change: a manager owns the fields that it tried to set all the same. Changed fields
/// are taken from the other managers. A client may rewrite the list itself, or empty it with `[]`
/// or `[{}]`. If the list cannot be read, the old one stays.
///
/// If an object has no managed fields, as one from before they existed, an update adds none.
pub fn track(old: Option<&Value>, new: &mut Value, update: &Update<'_>, kind: &Types) {
    track_in(old, new, update, kind, None);
}

/// The same where versions of a kind have other fields. If the object cannot be shown in a version, it loses
/// its managers.
pub(crate) fn track_in(
    old: Option<&Value>,
    new: &mut Value,
    update: &Update<'_>,
    kind: &Types,
    versions: Others<'_, '_>,
) {
    let before = || old.and_then(Managers::of).unwrap_or_default();
    let mut all = match given(new) {
        _ if !update.subresource.is_empty() => before(),
        Given::Reset => Managers::default(),
        Given::List(list) => list,
        Given::Nothing => before(),
    };
    managers::remove(new);
    let is_create = old.is_none_or(|old| {
        managers::of_metadata(old, "uid").and_then(Value::as_str).is_none_or(str::is_empty)
    });
    let too_deep = |value: &Value| !limits::shallow(value);
    if (all.0.is_empty() && !is_create) || too_deep(new) || old.is_some_and(too_deep) {
        return;
    }
    // The part that this write drops may have any form, and the object another kind. Then the
    // object gets no managers.
    let is_other =
        old.is_some_and(|old| old.get("kind").is_some_and(|it| new.get("kind") != Some(it)));
    if is_other || !has_form(new, update.subresource, kind) {
        return;
    }
    let empty = Value::Object(serde_json::Map::new());
    all.forget_strangers(update.api_version);
    if changed(&mut all, (old.unwrap_or(&empty), new), update, kind, versions).is_err() {
        return;
    }
    all.cap();
    all.write(new);
}

/// Whether the part that is not written (the status, or everything but the status) has the form of
/// its kind. Duplicates are not a wrong form.
fn has_form(new: &Value, subresource: &str, kind: &Types) -> bool {
    let of_status = subresource == "status";
    let is_written = |key: &str| (key == "status") == of_status;
    let known = ["apiVersion", "kind", "metadata"];
    let fields = new.as_object().into_iter().flatten();
    let fields = fields.filter(|(key, _)| !is_written(key) && !known.contains(&key.as_str()));
    let left = fields.map(|(key, value)| (key.clone(), value.clone()));
    let left: serde_json::Map<_, _> = left.collect();
    left.is_empty() || check::has_form(kind, &left.into())
}

/// Records in the managers a change that one of them made.
pub(crate) fn changed(
    all: &mut Managers,
    states: (&Value, &Value),
    update: &Update<'_>,
    kind: &Types,
    versions: Others<'_, '_>,
) -> Result<(), PatchError> {
    adapt(kind, all, versions.is_some().then_some(update.api_version));
    let reset = kind.reset(update.subresource);
    let changes = Changes::between(all, (kind, update.api_version), states, reset, versions)?;
    take(all, None, &changes);
    let gained = ownable(changes.own.into_changed());
    // A change of fields that nobody owns does not count, and so does not change the time.
    if gained.is_empty() {
        return Ok(());
    }
    let identity = Identity::update(update.manager, update.api_version, update.subresource);
    let owned = all.entry(identity);
    owned.api_version = update.api_version.to_owned();
    owned.time = Some(update.time.to_owned());
    owned.fields.absorb(gained);
    Ok(())
}

/// The managers that a client asks for.
enum Given {
    Nothing,
    Reset,
    List(Managers),
}

fn given(new: &Value) -> Given {
    let list = managers::of_metadata(new, "managedFields").and_then(Value::as_array);
    match list.map(Vec::as_slice) {
        None => Given::Nothing,
        Some([]) => Given::Reset,
        Some([Value::Object(only)]) if only.values().all(is_empty) => Given::Reset,
        Some(_) => match Managers::of(new) {
            Some(list) if !list.0.is_empty() => Given::List(list),
            _ => Given::Nothing,
        },
    }
}

fn is_empty(value: &Value) -> bool {
    value.is_null() || value.as_str().is_some_and(str::is_empty)
}
