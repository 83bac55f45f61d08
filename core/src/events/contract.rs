//! What every queue of objects offers, whatever it hands out.

use crate::store::{EnqueueError, LastState};

use super::Closed;

/// The contract between who sees changes and who applies them (`cache:QU-1`).
///
/// Closing ends every `pop` once the queue is empty, and gates no writer. `pop` lets `process`
/// look at the entry that it took; the entry is gone whatever `process` does. Each queue chooses which
/// locks it holds meanwhile, and what it hands out.
pub trait Queue<K, O>: Send + Sync + 'static {
    /// What `pop` hands out.
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

    /// Shows what the consumer has once more.
    ///
    /// # Errors
    /// An object of the consumer's has no key.
    fn resync(&self) -> Result<(), EnqueueError>;

    /// Takes in how far the server says that everything was seen. Most queues ignore it.
    fn bookmark(&self, resource_version: &str) {
        let _ = resource_version;
    }

    /// Takes what is next, sleeping until there is something, and lets `process` look at it.
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
    /// without getting there.
    fn wait_for_sync(&self) -> bool;

    /// As [`wait_for_sync`](Self::wait_for_sync), for tasks: to drop the future is to stop waiting.
    fn wait_for_sync_async(&self) -> impl Future<Output = bool> + Send;

    /// Lets every `pop` end once the queue is empty.
    fn close(&self);

    /// Tells whether the queue is closed.
    fn is_closed(&self) -> bool;

    /// Returns how much waits.
    fn len(&self) -> usize;

    /// Tells whether nothing waits.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }
}
