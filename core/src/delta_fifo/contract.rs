//! The DeltaFIFO as one of the queues of objects.

use crate::events::{Closed, Queue};
use crate::machine::Host;
use crate::runtime::Runtime;
use crate::store::EnqueueError;
use crate::store::{Handle, Key, KnownObjects, LastState};

use super::{DeltaFifo, DeltaQueue, Popped};

impl<K, O, N, R, H> Queue<K, O> for DeltaFifo<K, O, N, R, H>
where
    K: Key,
    O: Handle,
    N: KnownObjects<K, O>,
    R: Runtime,
    H: Host<DeltaQueue<K, O, N>>,
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

    fn pop<T>(
        &self,
        process: impl FnOnce(&Popped<K, O>) -> T,
    ) -> Result<(Popped<K, O>, T), Closed> {
        self.pop(process)
    }

    fn pop_async<T: Send>(
        &self,
        process: impl FnOnce(&Popped<K, O>) -> T + Send,
    ) -> impl Future<Output = Result<(Popped<K, O>, T), Closed>> + Send {
        self.pop_async(process)
    }

    fn has_synced(&self) -> bool {
        self.has_synced()
    }

    fn wait_for_sync(&self) -> bool {
        self.wait_for_sync()
    }

    fn wait_for_sync_async(&self) -> impl Future<Output = bool> + Send {
        self.wait_for_sync_async()
    }

    fn close(&self) {
        self.close();
    }

    fn is_closed(&self) -> bool {
        self.is_closed()
    }

    fn len(&self) -> usize {
        self.len()
    }
}
