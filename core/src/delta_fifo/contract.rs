//! The DeltaFIFO as one of the queues of objects.

use crate::events::{Queue, own_calls};
use crate::runtime::Runtime;
use crate::store::EnqueueError;
use crate::store::{Handle, Key, KnownObjects, LastState};

use super::{DeltaFifo, Popped};

impl<K, O, N, R> Queue<K, O> for DeltaFifo<K, O, N, R>
where
    K: Key,
    O: Handle,
    N: KnownObjects<K, O>,
    R: Runtime,
{
    type Popped = Popped<K, O>;

    fn add(&self, object: O) -> Result<(), EnqueueError> {
        self.add(object)
    }

    fn update(&self, object: O) -> Result<(), EnqueueError> {
        self.update(object)
    }

    fn delete(&self, last: LastState<K, O>) -> Result<(), EnqueueError> {
        self.delete_last_state(last)
    }

    fn replace(&self, objects: Vec<O>, _: &str) -> Result<(), EnqueueError> {
        self.replace(objects)
    }

    fn resync(&self) -> Result<(), EnqueueError> {
        self.resync();
        Ok(())
    }

    own_calls!();
}
