//! Managed fields of every write that is no apply.

use serde_json::Value;

use super::check::check;
use super::difference::Difference;
use super::limits;
use super::managers::{self, Identity, Managers};
use super::ownership::{adapt, ownable, take};
use super::types::Types;

/// Who writes, when and where.
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
/// `new` is the object as the client wants it, before the server puts back what this write cannot
/// change: what a manager tried to set is its own all the same. What changed is taken from the other
/// managers. A client may rewrite the list itself, or empty it with `[]` or `[{}]`; a list that
/// cannot be read leaves the old one.
///
/// An object that has no managed fields gets none by an update, as one that is older than they are.
pub fn track(old: Option<&Value>, new: &mut Value, update: &Update<'_>, kind: &Types) {
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
    // What will be dropped need not have the form of its kind, or even its kind; its object has no
    // managers then.
    let is_other =
        old.is_some_and(|old| old.get("kind").is_some_and(|it| new.get("kind") != Some(it)));
    if is_other || !has_form(new, update.subresource, kind) {
        return;
    }
    let empty = Value::Object(serde_json::Map::new());
    all.forget_strangers(update.api_version);
    changed(&mut all, old.unwrap_or(&empty), new, update, kind);
    all.cap();
    all.write(new);
}

/// Whether the part that is not written, the status or all but that, has the form that its kind
/// wants. What is there twice is no question of form.
fn has_form(new: &Value, subresource: &str, kind: &Types) -> bool {
    let of_status = subresource == "status";
    let is_written = |key: &str| (key == "status") == of_status;
    let known = ["apiVersion", "kind", "metadata"];
    let fields = new.as_object().into_iter().flatten();
    let fields = fields.filter(|(key, _)| !is_written(key) && !known.contains(&key.as_str()));
    let left = fields.map(|(key, value)| (key.clone(), value.clone()));
    let left: serde_json::Map<_, _> = left.collect();
    let wrong = if left.is_empty() { Vec::new() } else { check(kind, &left.into()) };
    wrong.iter().all(|wrong| wrong.contains("duplicate"))
}

/// Records in the managers a change that one of them made.
pub(crate) fn changed(
    all: &mut Managers,
    old: &Value,
    new: &Value,
    update: &Update<'_>,
    kind: &Types,
) {
    adapt(kind, all);
    let reset = kind.reset(update.subresource);
    let change = Difference::between(kind, old, new).outside(reset);
    take(all, None, &change);
    let gained = ownable(change.into_changed());
    // What nobody owns does not count as a change, and so does not change the time.
    if gained.is_empty() {
        return;
    }
    let identity = Identity::update(update.manager, update.api_version, update.subresource);
    let owned = all.entry(identity);
    owned.api_version = update.api_version.to_owned();
    owned.time = Some(update.time.to_owned());
    owned.fields.absorb(gained);
}

/// What a client says about the managers.
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
