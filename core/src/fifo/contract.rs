//! The queue of newest objects as one of those that informers fill.

use crate::events::{Closed, Queue};
use crate::machine::Host;
use crate::runtime::Runtime;
use crate::store::{EnqueueError, Handle, Key, LastState};

use super::{Fifo, FifoQueue, Popped};

impl<K: Key, O: Handle, R: Runtime, H: Host<FifoQueue<K, O>>> Queue<K, O> for Fifo<K, O, R, H> {
    type Popped = Popped<K, O>;

    fn add(&self, object: O) -> Result<(), EnqueueError> {
        Ok(self.add(object)?)
    }

    fn update(&self, object: O) -> Result<(), EnqueueError> {
        Ok(self.update(object)?)
    }

    fn delete(&self, last: LastState<K, O>) -> Result<(), EnqueueError> {
        Ok(self.delete_last_state(&last)?)
    }

    fn replace(&self, objects: Vec<O>, _: &str) -> Result<(), EnqueueError> {
        Ok(self.replace(objects)?)
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
