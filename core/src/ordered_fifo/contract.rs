//! The ordered FIFO as one of the queues of objects.

use crate::events::{Queue, own_calls};
use crate::runtime::Runtime;
use crate::store::EnqueueError;
use crate::store::{Handle, Key, KnownObjects, LastState};

use super::{OrderedFifo, Popped};

impl<K, O, N, R> Queue<K, O> for OrderedFifo<K, O, N, R>
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

    fn replace(&self, objects: Vec<O>, resource_version: &str) -> Result<(), EnqueueError> {
        self.replace(objects, resource_version)
    }

    fn resync(&self) -> Result<(), EnqueueError> {
        self.resync()
    }

    fn bookmark(&self, resource_version: &str) {
        self.bookmark(resource_version);
    }

    own_calls!();
}
