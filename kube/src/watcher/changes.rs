//! The changes of an informer as a stream.

use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use futures_core::Stream;
use seatrial_core::informer::{Informer, ObjectChange, Subscription};
use seatrial_core::runtime::Tokio;

use crate::object::Object;

type Change<K> = ObjectChange<Object<K>>;
type Read<K> = Subscription<Change<K>, Tokio>;
type Call<K> = Pin<Box<dyn Future<Output = Option<(Change<K>, Read<K>)>> + Send>>;

/// The changes of a collection, beginning with the objects that exist. It ends with its informer.
/// Dropping it ends the subscription.
pub struct Changes<K: kube::Resource + fmt::Debug + Send + Sync + 'static> {
    /// The next change, and the subscription for the changes after it.
    call: Option<Call<K>>,
}

/// Subscribes to an informer, before it runs or while it does: a stream, for code that takes one,
/// such as code for kube's reflector. Any number of streams can read one cache.
pub fn changes<K>(informer: &Informer<Object<K>, Tokio>) -> Changes<K>
where
    K: kube::Resource + fmt::Debug + Send + Sync + 'static,
{
    Changes { call: Some(next(informer.subscribe())) }
}

fn next<K: kube::Resource + fmt::Debug + Send + Sync + 'static>(mut from: Read<K>) -> Call<K> {
    Box::pin(async move {
        let change = from.next_async().await.ok()?;
        Some((change, from))
    })
}

impl<K: kube::Resource + fmt::Debug + Send + Sync + 'static> Stream for Changes<K> {
    type Item = Change<K>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Change<K>>> {
        let Some(call) = &mut self.call else { return Poll::Ready(None) };
        let read = ready!(call.as_mut().poll(context));
        let (change, call) = match read {
            Some((change, from)) => (Some(change), Some(next(from))),
            None => (None, None),
        };
        self.call = call;
        Poll::Ready(change)
    }
}

impl<K: kube::Resource + fmt::Debug + Send + Sync + 'static> fmt::Debug for Changes<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Changes")
    }
}
