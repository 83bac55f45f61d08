//! The owners of the fields of an object: `metadata.managedFields`.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::set::FieldSet;

/// How a manager came to own its fields.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Operation {
    Apply,
    Update,
}

/// The identity of a manager. Managers are sorted by it in messages.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Identity {
    pub(crate) manager: String,
    pub(crate) operation: Operation,
    /// Empty for a manager that applies: it is the same in every version.
    api_version: String,
    pub(crate) subresource: String,
}

impl Identity {
    pub(crate) fn apply(manager: &str, subresource: &str) -> Self {
        let (manager, subresource) = (manager.to_owned(), subresource.to_owned());
        Self { manager, operation: Operation::Apply, api_version: String::new(), subresource }
    }

    pub(crate) fn update(manager: &str, api_version: &str, subresource: &str) -> Self {
        Self {
            manager: manager.to_owned(),
            operation: Operation::Update,
            api_version: api_version.to_owned(),
            subresource: subresource.to_owned(),
        }
    }
}

impl std::fmt::Display for Identity {
    /// In the form in which the message of a conflict has it.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:?}", self.manager)?;
        if !self.subresource.is_empty() {
            write!(f, " with subresource {:?}", self.subresource)?;
        }
        if self.operation == Operation::Update {
            write!(f, " using {}", self.api_version)?;
        }
        Ok(())
    }
}

/// The fields of one manager.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Owned {
    pub(crate) api_version: String,
    pub(crate) time: Option<String>,
    pub(crate) fields: FieldSet,
}

/// All managers of an object with their fields, each once. None owns nothing.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Managers(pub(crate) BTreeMap<Identity, Owned>);

/// The number of updating managers that are kept apart.
const UPDATERS: usize = 10;
/// The owner of the fields of the other updating managers.
const OLDER: &str = "ancient-changes";

impl Managers {
    /// The managers of an object; none if its `managedFields` are not a list of managers.
    pub(crate) fn of(object: &Value) -> Option<Self> {
        let Some(entries) = of_metadata(object, "managedFields") else {
            return Some(Self::default());
        };
        let entries = match entries {
            Value::Array(entries) => entries.as_slice(),
            Value::Null => &[],
            _ => return None,
        };
        let mut all = Self::default();
        for entry in entries {
            let (identity, owned) = read(entry)?;
            all.put(identity, owned);
        }
        Some(all)
    }

    pub(crate) fn get(&self, of: &Identity) -> Option<&Owned> {
        self.0.get(of)
    }

    /// The fields of a manager, which has none so far if it is new.
    pub(crate) fn entry(&mut self, of: Identity) -> &mut Owned {
        self.0.entry(of).or_default()
    }

    pub(crate) fn put(&mut self, of: Identity, owned: Owned) {
        *self.entry(of) = owned;
    }

    pub(crate) fn remove(&mut self, of: &Identity) -> Option<Owned> {
        self.0.remove(of)
    }

    /// Forgets the managers that have used an API of another group: its fields have other names.
    pub(crate) fn forget_strangers(&mut self, api_version: &str) {
        let group = |version: &str| version.rsplit_once('/').map(|(group, _)| group.to_owned());
        let own = group(api_version);
        self.0.retain(|_, owned| group(&owned.api_version) == own);
    }

    /// Writes the managers into an object: the applying ones first, then by time and name.
    pub(crate) fn write(self, object: &mut Value) {
        remove(object);
        if self.0.is_empty() {
            return;
        }
        let mut entries: Vec<_> = self.0.into_iter().collect();
        entries.sort_by(|(p, owned_p), (q, owned_q)| {
            let key = |identity: &Identity| identity.operation;
            (key(p), &owned_p.time).cmp(&(key(q), &owned_q.time)).then_with(|| p.cmp(q))
        });
        // A `collect` would reuse the memory of the managers, which is larger.
        let mut list = Vec::with_capacity(entries.len());
        list.extend(entries.into_iter().map(|(identity, owned)| wire(identity, owned)));
        if let Some(object) = object.as_object_mut() {
            let metadata = object.entry("metadata").or_insert_with(|| Value::Object(Map::new()));
            if let Some(metadata) = metadata.as_object_mut() {
                metadata.insert("managedFields".to_owned(), Value::Array(list));
            }
        }
    }

    /// Moves the fields of the oldest updating managers to one manager that replaces them.
    pub(crate) fn cap(&mut self) {
        if self.0.len() <= UPDATERS {
            return;
        }
        let mut updaters = self
            .0
            .iter()
            .filter(|(identity, _)| identity.operation == Operation::Update)
            .map(|(identity, owned)| (owned.time.clone(), identity.clone()))
            .collect::<Vec<_>>();
        let mut left = updaters.len();
        updaters.sort();
        let mut first_of = BTreeMap::<String, Identity>::new();
        for (_, identity) in updaters {
            if left <= UPDATERS {
                return;
            }
            let Some(owned) = self.get(&identity) else { continue };
            let version = owned.api_version.clone();
            let Some(first) = first_of.get(&version) else {
                first_of.insert(version, identity);
                continue;
            };
            let older = Identity::update(OLDER, &version, "");
            if self.get(&older).is_none()
                && let Some(first) = self.remove(first)
            {
                self.put(older.clone(), first);
            }
            if identity == older {
                continue;
            }
            if let (Some(moved), Some(bucket)) = (self.remove(&identity), self.0.get_mut(&older)) {
                bucket.fields.absorb(moved.fields);
                (bucket.api_version, bucket.time) = (moved.api_version, moved.time);
                left -= 1;
            }
        }
    }
}

/// Whether two objects differ in nothing but the times of their managed fields: then there is nothing
/// to be written.
pub fn unchanged(old: &Value, new: &Value) -> bool {
    same_members(old, new, &|key, old, new| match key {
        "metadata" => same_members(old, new, &|key, old, new| match key {
            "managedFields" => same_managers(old, new),
            _ => old == new,
        }),
        _ => old == new,
    })
}

/// Whether two objects have the same members, as `same` sees them.
fn same_members(old: &Value, new: &Value, same: &dyn Fn(&str, &Value, &Value) -> bool) -> bool {
    match (old, new) {
        (Value::Object(old), Value::Object(new)) => {
            let is_same =
                |(key, old): (&String, &Value)| new.get(key).is_some_and(|new| same(key, old, new));
            old.len() == new.len() && old.iter().all(is_same)
        }
        _ => old == new,
    }
}

fn same_managers(old: &Value, new: &Value) -> bool {
    let timeless = |entry: &Value| {
        let has_time = entry.get("time").is_some();
        entry.as_object().map_or(0, |fields| fields.len() - usize::from(has_time))
    };
    let is_same = |(old, new): (&Value, &Value)| match old {
        Value::Object(fields) => {
            let mut fields = fields.iter().filter(|(key, _)| *key != "time");
            timeless(old) == timeless(new) && fields.all(|(key, old)| new.get(key) == Some(old))
        }
        _ => old == new,
    };
    match (old, new) {
        (Value::Array(old), Value::Array(new)) => {
            old.len() == new.len() && old.iter().zip(new).all(is_same)
        }
        _ => old == new,
    }
}

/// A field of an object's metadata.
pub(crate) fn of_metadata<'a>(object: &'a Value, field: &str) -> Option<&'a Value> {
    object.get("metadata")?.get(field)
}

/// Takes the managers out of an object.
pub(crate) fn remove(object: &mut Value) {
    if let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut) {
        metadata.remove("managedFields");
    }
}

fn read(entry: &Value) -> Option<(Identity, Owned)> {
    let text = |name: &str| entry.get(name).and_then(Value::as_str).unwrap_or_default();
    let (manager, subresource, api_version) =
        (text("manager"), text("subresource"), text("apiVersion"));
    let identity = match text("operation") {
        "Apply" => Identity::apply(manager, subresource),
        "Update" => Identity::update(manager, api_version, subresource),
        _ => return None,
    };
    if api_version.is_empty() || text("fieldsType") != "FieldsV1" {
        return None;
    }
    let fields = match entry.get("fieldsV1") {
        None | Some(Value::Null) => FieldSet::default(),
        Some(wire) => FieldSet::from_wire(wire)?,
    };
    let time = entry.get("time").and_then(Value::as_str).map(str::to_owned);
    Some((identity, Owned { api_version: api_version.to_owned(), time, fields }))
}

fn wire(identity: Identity, owned: Owned) -> Value {
    let operation = match identity.operation {
        Operation::Apply => "Apply",
        Operation::Update => "Update",
    };
    let mut entry = Map::new();
    let mut set = |key: &str, value: Value| entry.insert(key.to_owned(), value);
    set("manager", identity.manager.into());
    set("operation", operation.into());
    set("apiVersion", owned.api_version.into());
    set("fieldsType", "FieldsV1".into());
    set("fieldsV1", owned.fields.into_wire());
    if let Some(time) = owned.time {
        set("time", time.into());
    }
    if !identity.subresource.is_empty() {
        set("subresource", identity.subresource.into());
    }
    Value::Object(entry)
}
