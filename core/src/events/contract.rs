//! The contract of every queue of objects, whatever it hands out.

use crate::store::{EnqueueError, LastState};

use super::Closed;

/// The contract between a producer of changes and the consumer that applies them (`cache:QU-1`).
///
/// Closing ends every `pop` once the queue is empty, but does not stop writes. `pop` lets `process`
/// look at the entry that it took; the entry is removed whatever `process` does. Each queue chooses
/// the locks that it holds meanwhile, and the form of its entries.
pub trait Queue<K, O>: Send + Sync + 'static {
    /// The type of entry that `pop` hands out.
    type Popped: Send + 'static;

    /// Takes in a new object.
    ///
    /// # Errors
    /// It has no key, or the transformer refused it.
    fn add(&self, object: O) -> Result<(), EnqueueError>;

    /// Takes in a changed object.
    ///
    /// # Errors
    /// As [`add`](Self::add).
    fn update(&self, object: O) -> Result<(), EnqueueError>;

    /// Takes in a deletion.
    ///
    /// # Errors
    /// As [`add`](Self::add).
    fn delete(&self, last: LastState<K, O>) -> Result<(), EnqueueError>;

    /// Takes in a complete list, which was read at a resource version.
    ///
    /// # Errors
    /// As [`add`](Self::add), for one of the objects.
    fn replace(&self, objects: Vec<O>, resource_version: &str) -> Result<(), EnqueueError>;

    /// Shows the consumer's objects again.
    ///
    /// # Errors
    /// An object of the consumer has no key.
    fn resync(&self) -> Result<(), EnqueueError>;

    /// Takes in a version up to which the server has sent everything. Most queues ignore it.
    fn bookmark(&self, resource_version: &str) {
        let _ = resource_version;
    }

    /// Takes the next entry, sleeping until there is one, and lets `process` look at it.
    ///
    /// # Errors
    /// The queue is closed and empty.
    fn pop<T>(&self, process: impl FnOnce(&Self::Popped) -> T)
    -> Result<(Self::Popped, T), Closed>;

    /// As [`pop`](Self::pop), for tasks. `process` awaits nothing. A future that is dropped takes
    /// nothing, and a wake-up that was meant for it goes to another consumer.
    ///
    /// # Errors
    /// The queue is closed and empty.
    fn pop_async<T: Send>(
        &self,
        process: impl FnOnce(&Self::Popped) -> T + Send,
    ) -> impl Future<Output = Result<(Self::Popped, T), Closed>> + Send;

    /// Tells whether the first list has been processed.
    fn has_synced(&self) -> bool;

    /// Sleeps until the first list has been processed; false if the queue was closed and drained
    /// before.
    fn wait_for_sync(&self) -> bool;

    /// As [`wait_for_sync`](Self::wait_for_sync), for tasks. Dropping the future stops the wait.
    fn wait_for_sync_async(&self) -> impl Future<Output = bool> + Send;

    /// Ends every `pop` once the queue is empty.
    fn close(&self);

    /// Tells whether the queue is closed.
    fn is_closed(&self) -> bool;

    /// Returns how many entries wait.
    fn len(&self) -> usize;

    /// Tells whether nothing waits.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }
}
