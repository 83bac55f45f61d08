//! The items of a queue as a stream (feature `stream`).

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use futures_core::Stream;

/// Calls made one after the other, until one returns nothing.
pub(crate) struct Repeated<M, C, W> {
    make: M,
    /// The call that is under way.
    call: Option<C>,
    /// Makes an item from the result of a call.
    wrap: W,
}

impl<M, C, W> Repeated<M, C, W> {
    pub(crate) const fn new(make: M, wrap: W) -> Self {
        Self { make, call: None, wrap }
    }
}

/// Only the call is pinned, and it is `Unpin`.
impl<M, C: Unpin, W> Unpin for Repeated<M, C, W> {}

impl<M, C, W, T, U> Stream for Repeated<M, C, W>
where
    M: FnMut() -> C,
    C: Future<Output = Option<T>> + Unpin,
    W: FnMut(T) -> U,
{
    type Item = U;

    fn poll_next(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<U>> {
        let this = self.get_mut();
        // A call that panics is not kept: the next poll makes another one.
        let mut call = this.call.take().unwrap_or_else(&mut this.make);
        match Pin::new(&mut call).poll(context) {
            Poll::Ready(taken) => Poll::Ready(taken.map(&mut this.wrap)),
            Poll::Pending => {
                this.call = Some(call);
                Poll::Pending
            }
        }
    }
}

/// The items of a queue as a stream that owns a share of the queue. Each is taken by its own call.
pub(crate) fn owned<Q, M, F, T>(
    queue: &Arc<Q>,
    take: M,
) -> impl Stream<Item = T> + Send + Unpin + use<Q, M, F, T>
where
    Q: Send + Sync + 'static,
    M: Fn(Arc<Q>) -> F + Send + 'static,
    F: Future<Output = Option<T>> + Send + 'static,
{
    let queue = Arc::clone(queue);
    Repeated::new(move || Box::pin(take(Arc::clone(&queue))), |item| item)
}

#[cfg(test)]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::pin::pin;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU32, Ordering};

    use super::*;
    use crate::delaying_queue::DelayingQueue;
    use crate::limited_queue::LimitedQueue;
    use crate::priority_queue::{AddOptions, PriorityQueue};
    use crate::queue::WorkQueue;
    use crate::runtime::System;
    use crate::runtime::bell::Bell;

    fn next<S: Stream>(stream: Pin<&mut S>, bell: &Arc<Bell>) -> Poll<Option<S::Item>> {
        stream.poll_next(&mut Context::from_waker(&Arc::clone(bell).into()))
    }

    /// The tests of a stream, for every queue whose plain calls are those of the work queue.
    macro_rules! streams {
        ($($name:ident: $queue:expr;)*) => {$(
            #[test]
            fn $name() {
                let queue = $queue;
                let [first, second]: [Arc<Bell>; 2] = Default::default();
                let mut given_up = Box::pin(queue.stream());
                let mut items = pin!(queue.stream());
                assert!(next(given_up.as_mut(), &first).is_pending());
                assert!(next(items.as_mut(), &second).is_pending());
                queue.add(1);
                drop(given_up);
                assert_eq!((first.rings(), second.rings()), (1, 1), "it passes its wake-up on");
                let Poll::Ready(Some(one)) = next(items.as_mut(), &second) else { panic!("none") };
                assert_eq!((*one, queue.is_empty()), (1, true));
                queue.add(1);
                assert!(queue.is_empty(), "it is still being processed");
                assert!(next(items.as_mut(), &second).is_pending());
                drop(one);
                assert_eq!(second.rings(), 2, "the item comes once more");
                assert!(matches!(next(items.as_mut(), &second), Poll::Ready(Some(item)) if *item == 1));
                assert!(next(items.as_mut(), &second).is_pending());
                queue.shut_down();
                assert_eq!(second.rings(), 3);
                for _ in 0..2 {
                    assert!(matches!(next(items.as_mut(), &second), Poll::Ready(None)));
                }
            }
        )*};
    }

    streams! {
        the_items_of_a_work_queue_are_a_stream: WorkQueue::<u8>::new(&System::new());
        the_items_of_a_delaying_queue_are_a_stream: DelayingQueue::<u8>::new(&System::new());
        the_items_of_a_limited_queue_are_a_stream:
            LimitedQueue::<u8>::with_default_limiter(&System::new());
    }

    fn may_be_spawned<T: Send + 'static>(stream: T) -> T {
        stream
    }

    /// A stream with a share of the queue does the same, and keeps the queue alive.
    macro_rules! owned_streams {
        ($($name:ident: $queue:expr, |$item:ident| $key:expr;)*) => {$(
            #[test]
            fn $name() {
                let queue = Arc::new($queue);
                let [first, second]: [Arc<Bell>; 2] = Default::default();
                let mut given_up = may_be_spawned(queue.owned_stream());
                let mut items = may_be_spawned(queue.owned_stream());
                assert!(next(Pin::new(&mut given_up), &first).is_pending());
                assert!(next(Pin::new(&mut items), &second).is_pending());
                queue.add(1);
                drop(given_up);
                assert_eq!(second.rings(), 1, "one that is given up passes its wake-up on");
                let Poll::Ready(Some($item)) = next(Pin::new(&mut items), &second) else {
                    panic!("none")
                };
                assert_eq!($key, 1);
                queue.add(1);
                let seen = Arc::downgrade(&queue);
                drop(queue);
                assert!(next(Pin::new(&mut items), &second).is_pending());
                drop($item);
                assert_eq!(second.rings(), 2, "the item comes once more");
                assert!(next(Pin::new(&mut items), &second).is_ready());
                seen.upgrade().expect("the stream has a share").shut_down();
                assert!(matches!(next(Pin::new(&mut items), &second), Poll::Ready(None)));
                drop(items);
                assert!(seen.upgrade().is_none(), "and gives it back");
            }
        )*};
    }

    owned_streams! {
        a_work_queue_may_be_shared_by_its_stream: WorkQueue::<u8>::new(&System::new()), |item| *item;
        a_delaying_queue_may_be_shared_by_its_stream:
            DelayingQueue::<u8>::new(&System::new()), |item| *item;
        a_limited_queue_may_be_shared_by_its_stream:
            LimitedQueue::<u8>::with_default_limiter(&System::new()), |item| *item;
        a_priority_queue_may_be_shared_by_its_stream:
            PriorityQueue::<u8>::new(&System::new()), |item| *item.0;
    }

    #[test]
    fn the_items_of_a_priority_queue_are_a_stream_with_their_priorities() {
        let queue = PriorityQueue::<u8>::new(&System::new());
        let bell = Arc::<Bell>::default();
        let mut items = pin!(queue.stream());
        assert!(next(items.as_mut(), &bell).is_pending());
        queue.add(1);
        queue.add_with(2, AddOptions { priority: 7, ..AddOptions::default() });
        for expected in [(2, 7), (1, 0)] {
            let Poll::Ready(Some((item, priority))) = next(items.as_mut(), &bell) else {
                panic!("two are ready")
            };
            assert_eq!((*item, priority), expected);
        }
        queue.shut_down();
        assert!(matches!(next(items.as_mut(), &bell), Poll::Ready(None)));
    }

    /// A key whose copy panics the first time.
    #[derive(PartialEq, Eq, Hash, Debug)]
    struct Shy(u8);

    static COPIES: AtomicU32 = AtomicU32::new(0);

    impl Clone for Shy {
        fn clone(&self) -> Self {
            assert!(COPIES.fetch_add(1, Ordering::SeqCst) > 0, "a bug of the key");
            Self(self.0)
        }
    }

    #[test]
    fn a_stream_goes_on_after_a_panic_of_the_key() {
        let (queue, bell) = (Arc::new(WorkQueue::new(&System::new())), Arc::<Bell>::default());
        let mut items = queue.owned_stream();
        queue.add_all([Shy(1), Shy(2)]);
        let first = catch_unwind(AssertUnwindSafe(|| next(Pin::new(&mut items), &bell).is_ready()));
        assert!(first.is_err());
        let mut taken = [0, 0].map(|_| {
            let Poll::Ready(Some(item)) = next(Pin::new(&mut items), &bell) else { panic!("none") };
            item.0
        });
        taken.sort_unstable();
        assert_eq!(taken, [1, 2], "the one that could not be copied waited again");
        assert!(next(Pin::new(&mut items), &bell).is_pending());
        queue.shut_down();
        assert!(matches!(next(Pin::new(&mut items), &bell), Poll::Ready(None)));
    }
}
