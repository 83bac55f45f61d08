//! The sources of a controller's keys: the changes of a cache, mapped.

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;

use kube::Resource;
use seatrial_core::informer::{Change, ObjectChange, Wants};
use seatrial_core::store::Described;

use super::ObjectRef;
use super::queue::FairQueue;
use crate::cache::{Cache, NotSynced};
use crate::object::Object;

type BoxFuture<T> = Pin<Box<dyn Future<Output = T> + Send>>;
type Begin = dyn FnOnce(Arc<FairQueue>) -> Begun + Send;

/// A cache whose changes become keys.
pub(super) struct Source(Box<Begin>);

/// A source that has begun.
pub(super) struct Begun {
    /// Fills the queue. It panics if the cache ends, because changes would be missed from then on.
    pub(super) fill: BoxFuture<()>,
    /// Ready when the first list is in the queue; false if it never will be.
    pub(super) synced: BoxFuture<bool>,
    /// Says what is not listed, and why.
    pub(super) not_synced: Box<dyn Fn() -> NotSynced + Send>,
}

impl Source {
    /// Maps every state of a change, the new and the old one, to keys. Updates that the handle of
    /// the cache does not want are skipped.
    pub(super) fn new<O, I>(
        cache: Cache<O>,
        keys: impl Fn(&Object<O>) -> I + Send + Sync + 'static,
    ) -> Self
    where
        O: Resource + fmt::Debug + Send + Sync + 'static,
        I: IntoIterator<Item = ObjectRef>,
    {
        Self(Box::new(move |queue| {
            let Cache { shared, wanted } = cache;
            let mut changes = shared.informer.subscribe_with(Wants::default().resyncs());
            let progress = changes.progress();
            shared.start();
            let about = Arc::clone(&shared);
            let fill = Box::pin(async move {
                while let Ok(change) = changes.next_async().await {
                    if wanted.as_ref().is_none_or(|wanted| wanted.wants(&change)) {
                        enqueue(&change, &keys, &queue);
                    }
                }
                panic!("the cache of {} has ended, which a controller reads", shared.kind.name);
            });
            let synced = Box::pin(async move { progress.wait_for_sync_async().await });
            Begun { fill, synced, not_synced: Box::new(move || about.not_synced()) }
        }))
    }

    /// Begins to follow the collection, and to fill the queue.
    pub(super) fn begin(self, queue: &Arc<FairQueue>) -> Begun {
        (self.0)(Arc::clone(queue))
    }
}

fn enqueue<O, I>(
    change: &ObjectChange<Object<O>>,
    keys: &impl Fn(&Object<O>) -> I,
    queue: &FairQueue,
) where
    O: Resource + fmt::Debug + Send + Sync + 'static,
    I: IntoIterator<Item = ObjectRef>,
{
    let (states, is_low) = match change {
        Change::Added { object, initial } => ([Some(object), None], *initial),
        Change::Updated { old, new } => ([Some(new), Some(old)], is_same(old, new)),
        Change::Deleted(last) => ([last.object(), None], false),
    };
    for object in states.into_iter().flatten() {
        for key in keys(object) {
            queue.add(key, is_low);
        }
    }
}

/// Tells whether an unchanged object is shown again.
fn is_same<O: Resource>(old: &Object<O>, new: &Object<O>) -> bool {
    old.metadata() == new.metadata()
}

impl fmt::Debug for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Source")
    }
}
