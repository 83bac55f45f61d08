//! The queue of newest objects as one of the queues that informers can fill.

use crate::events::{Queue, own_calls};
use crate::runtime::Runtime;
use crate::store::{EnqueueError, Handle, Key, LastState};

use super::{Fifo, Popped};

impl<K: Key, O: Handle, R: Runtime> Queue<K, O> for Fifo<K, O, R> {
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

    own_calls!();
}
