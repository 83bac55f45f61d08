//! What a reflector gives its deliveries to.

use crate::events::Queue;
use crate::store::{Described, EnqueueError, Handle, LastState};

use super::want::Delivery;

/// A store or a queue that a reflector keeps in step with its source.
pub(in crate::informer) trait Consumer<O>: Send {
    /// Takes a delivery, which may come into effect as late as the next [`settle`](Self::settle).
    fn take(
        &mut self,
        delivery: Delivery<O>,
    ) -> impl Future<Output = Result<(), EnqueueError>> + Send;

    /// Brings into effect what was taken. It is called before the reflector waits for anything.
    fn settle(&mut self) -> impl Future<Output = ()> + Send;
}

/// A queue as a consumer.
pub(super) struct Queued<'a, Q>(pub(super) &'a Q);

impl<O: Handle + Described, Q: Queue<String, O>> Consumer<O> for Queued<'_, Q> {
    async fn take(&mut self, delivery: Delivery<O>) -> Result<(), EnqueueError> {
        match delivery {
            Delivery::Replace(objects, version) => self.0.replace(objects, &version),
            Delivery::Add(object) => self.0.add(object),
            Delivery::Update(object) => self.0.update(object),
            Delivery::Delete(object) => {
                let key = object.key().ok();
                match (self.0.delete(LastState::Final(object)), key) {
                    // The object is gone whatever the transformer thinks of its last state.
                    (Err(EnqueueError::Transform(_)), Some(key)) => {
                        self.0.delete(LastState::unknown(key, None))
                    }
                    (result, _) => result,
                }
            }
            Delivery::Bookmark(version) => {
                self.0.bookmark(&version);
                Ok(())
            }
            Delivery::Resync => self.0.resync(),
        }
    }

    async fn settle(&mut self) {}
}
