//! The rules of the indexed store, one behaviour a test.

mod bursting;
mod content;
mod drops;
mod failures;
mod indices;
mod members;
mod snapshots;
mod versions;

use super::*;
use crate::store::NoMetadata;

/// A name, which is the key, labels, and a version.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Object {
    name: &'static str,
    labels: &'static [&'static str],
    version: &'static str,
}

type Store = IndexedStore<&'static str, Arc<Object>>;

fn object(name: &'static str, labels: &'static [&'static str]) -> Arc<Object> {
    Arc::new(Object { name, labels, version: "" })
}

fn at_version(name: &'static str, version: &'static str) -> Arc<Object> {
    Arc::new(Object { name, labels: &[], version })
}

fn key_of(object: &Arc<Object>) -> Result<&'static str, Cause> {
    if object.name.is_empty() { Err(Arc::new(NoMetadata)) } else { Ok(object.name) }
}

/// Indexes by label. The label `broken` makes it fail, `bomb` makes it panic.
fn by_label() -> IndexFunction<Arc<Object>> {
    Arc::new(|object, values| {
        for label in object.labels {
            match *label {
                "broken" => return Err(Arc::new(NoMetadata)),
                "bomb" => panic!("the index function has a bug"),
                label => values.add(label),
            }
        }
        Ok(())
    })
}

fn plain() -> Store {
    IndexedStore::new(&System::new(), key_of)
}

fn labelled() -> Store {
    let store = plain();
    store.add_indexers([("label", by_label())]).unwrap();
    store
}

/// Makes a store that follows the version of its content; an object of version `?` has none.
fn following() -> Store {
    let runtime = System::new();
    let version_of: VersionOf<Arc<Object>> =
        Arc::new(|object| Some(object.version).filter(|version| *version != "?"));
    IndexedStore::with_intake(&runtime, Intake::new(&runtime, key_of), Some(version_of))
}

fn names(objects: Vec<Arc<Object>>) -> Vec<&'static str> {
    let mut names: Vec<_> = objects.iter().map(|object| object.name).collect();
    names.sort_unstable();
    names
}

fn under(store: &Store, label: &str) -> Vec<&'static str> {
    store.assert_valid();
    names(store.by_index("label", label).unwrap())
}

fn labels(store: &Store) -> Vec<Arc<str>> {
    let mut labels = store.list_index_values("label");
    labels.sort_unstable();
    labels
}
