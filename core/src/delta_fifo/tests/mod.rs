//! The rules of the DeltaFIFO on real threads, one behaviour a test.

mod compression;
mod drops;
mod pop;
mod relist;
mod sync;
mod wakes;
mod writes;

use std::sync::Arc;

use super::*;
use crate::events::fixtures::Store;
use crate::store::NoMetadata;
use crate::store::tests::{Object, key_of};

type Change = Delta<&'static str, Object>;
type Queue = DeltaFifo<&'static str, Object, Arc<Store>>;

impl Store {
    /// Applies an entry to the store, as a consumer does.
    fn apply(&self, popped: &Popped<&'static str, Object>) {
        for delta in &popped.deltas {
            match delta {
                Delta::Deleted(_) => self.0.lock().remove(popped.key),
                other => {
                    let object = *other.object().expect("a change carries its object");
                    self.0.lock().insert(object.0, object)
                }
            };
        }
    }

    fn objects(&self) -> Vec<Object> {
        self.0.lock().values().copied().collect()
    }
}

/// Refuses version 13, panics at version 66 and adds 100 to every other.
fn add_hundred(object: Object) -> Result<Object, Cause> {
    match object.1 {
        13 => Err(Arc::new(NoMetadata)),
        66 => panic!("the transformer has a bug"),
        version => Ok((object.0, version + 100)),
    }
}

fn plain() -> DeltaFifo<&'static str, Object> {
    DeltaFifo::new(&System::new(), key_of)
}

fn with_store(store: &Arc<Store>) -> Queue {
    let runtime = System::new();
    let options = Options::with_known(Arc::clone(store));
    DeltaFifo::with_options(&runtime, Intake::new(&runtime, key_of), options)
}

fn transforming(store: &Arc<Store>) -> Queue {
    let runtime = System::new();
    let intake = Intake::new(&runtime, key_of).with_transform(add_hundred);
    DeltaFifo::with_options(&runtime, intake, Options::with_known(Arc::clone(store)))
}

fn deleted(object: Object) -> Change {
    Delta::Deleted(LastState::Final(object))
}

fn tombstone(key: &'static str, object: Option<Object>) -> Change {
    Delta::Deleted(LastState::unknown(key, object))
}

/// Pops an entry that must be there.
fn pop<N: KnownObjects<&'static str, Object>>(
    queue: &DeltaFifo<&'static str, Object, N>,
) -> Popped<&'static str, Object> {
    assert!(!queue.is_empty(), "a pop would sleep");
    queue.pop(|_| ()).unwrap().0
}

/// Pops everything and returns the changes of each entry.
fn drain<N: KnownObjects<&'static str, Object>>(
    queue: &DeltaFifo<&'static str, Object, N>,
) -> Vec<Vec<Change>> {
    let mut entries = vec![];
    while !queue.is_empty() {
        entries.push(pop(queue).deltas.to_vec());
    }
    entries
}
