//! The rules of the ordered FIFO on real threads, one behaviour a test.

mod batch;
mod relist;
mod sync;
mod unlocked;
mod wakes;
mod writes;

use std::num::NonZeroUsize;

use super::*;
use crate::delta_fifo::Delta;
use crate::events::fixtures::Store;
use crate::store::tests::{Object, key_of};
use crate::store::{LookupFailed, NoMetadata};

type Happened = Event<&'static str, Object>;
type Plain = OrderedFifo<&'static str, Object, Arc<Store>>;
type Atomic = OrderedFifo<&'static str, Object>;

/// Refuses version 13, panics at version 66, takes the name from version 14, and adds 100 to every
/// other.
fn transform(object: Object) -> Result<Object, Cause> {
    match object.1 {
        13 => Err(Arc::new(NoMetadata)),
        66 => panic!("the transformer has a bug"),
        14 => Ok(("", 14)),
        version => Ok((object.0, version + 100)),
    }
}

fn plain(store: &Arc<Store>) -> Plain {
    let runtime = System::new();
    let intake = Intake::new(&runtime, key_of);
    OrderedFifo::with_options(&runtime, intake, Options::plain(Arc::clone(store)))
}

fn transforming(store: &Arc<Store>) -> Plain {
    let runtime = System::new();
    let intake = Intake::new(&runtime, key_of).with_transform(transform);
    OrderedFifo::with_options(&runtime, intake, Options::plain(Arc::clone(store)))
}

fn atomic() -> Atomic {
    OrderedFifo::new(&System::new(), key_of)
}

/// Makes a queue in atomic mode with batches of this size.
fn in_batches(batch_size: usize) -> Atomic {
    let runtime = System::new();
    let batch_size = NonZeroUsize::new(batch_size).unwrap();
    let options = Options { batch_size, ..Options::default() };
    OrderedFifo::with_options(&runtime, Intake::new(&runtime, key_of), options)
}

fn deleted(object: Object) -> Happened {
    Delta::Deleted(LastState::Final(object)).into()
}

fn tombstone(key: &'static str, object: Option<Object>) -> Happened {
    Delta::Deleted(LastState::unknown(key, object)).into()
}

fn added(object: Object) -> Happened {
    Delta::Added(object).into()
}

fn replaced(object: Object) -> Happened {
    Delta::Replaced(object).into()
}

/// Pops an event that must be there.
fn pop<N: KnownObjects<&'static str, Object>>(
    queue: &OrderedFifo<&'static str, Object, N>,
) -> Happened {
    assert!(!queue.is_empty(), "a pop would sleep");
    queue.pop(|_| ()).unwrap().0.event
}
