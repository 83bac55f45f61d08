//! The sources of a controller's keys: the changes of an informer, mapped.

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;

use kube::Resource;
use seatrial_core::cancel::CancelToken;
use seatrial_core::informer::{Change, Informer, ObjectChange, Predicate, Wants};
use seatrial_core::runtime::Tokio;
use seatrial_core::store::Described;

use super::ObjectRef;
use super::queue::FairQueue;
use crate::object::Object;

type Awaited<T> = Pin<Box<dyn Future<Output = T> + Send>>;
type Run = dyn FnOnce(Arc<FairQueue>, CancelToken<Tokio>) -> Awaited<()> + Send;

/// An informer whose changes become keys.
pub(super) struct Source {
    /// Follows the collection and fills the queue until the token ends.
    pub(super) run: Box<Run>,
    /// Ready when the first list is in the queue; false if it never will be.
    pub(super) synced: Awaited<bool>,
}

impl Source {
    /// Maps every state of a change, the new and the old one, to keys. Updates that are not wanted
    /// are skipped.
    pub(super) fn new<O, I>(
        informer: Arc<Informer<Object<O>, Tokio>>,
        wanted: Option<Predicate<Object<O>>>,
        keys: impl Fn(&Object<O>) -> I + Send + Sync + 'static,
    ) -> Self
    where
        O: Resource + fmt::Debug + Send + Sync + 'static,
        I: IntoIterator<Item = ObjectRef>,
    {
        let mut changes = informer.subscribe_with(Wants::default().resyncs());
        let progress = changes.progress();
        let synced = Box::pin(async move { progress.wait_for_sync_async().await });
        let run = |queue: Arc<FairQueue>, token| -> Awaited<()> {
            Box::pin(async move {
                let fill = async {
                    while let Ok(change) = changes.next_async().await {
                        if wanted.as_ref().is_none_or(|wanted| wanted.wants(&change)) {
                            enqueue(&change, &keys, &queue);
                        }
                    }
                };
                let follow = async {
                    let _ran_before = informer.run_async(&token).await; // no one else runs it
                };
                crate::race::first(fill, follow).await;
            })
        };
        Self { run: Box::new(run), synced }
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
