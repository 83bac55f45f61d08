//! Every call that is awaited can be given to an executor, whatever its keys are: also if they are
//! borrowed for ever, where a compiler that forgets for how long asks for the future of any
//! borrower.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use seatrial_core::cancel::CancelToken;
use seatrial_core::delaying_queue::DelayingQueue;
use seatrial_core::delta_fifo::DeltaFifo;
use seatrial_core::fifo::Fifo;
use seatrial_core::limited_queue::LimitedQueue;
use seatrial_core::ordered_fifo::OrderedFifo;
use seatrial_core::priority_queue::PriorityQueue;
use seatrial_core::queue::WorkQueue;
use seatrial_core::runtime::{Ambient, Runtime, System};
use seatrial_core::store::KeyedHeap;

type Key = &'static str;
type Object = (Key, u32);

/// Runs a future as an executor does: on a thread that need not be the one that made it.
fn spawned<T: Send + 'static>(future: impl Future<Output = T> + Send + 'static) -> T {
    let system = System::new();
    let thread = system.spawn("executor", move || System::new().block_on(future));
    system.join(thread).expect("the task ends")
}

fn key_of(object: &Object) -> Result<Key, seatrial_core::store::Cause> {
    Ok(object.0)
}

/// Awaits everything that a work queue offers. A macro, because the four share no trait that could
/// say it.
macro_rules! is_worked_by_a_task {
    ($queue:expr) => {{
        let queue = Arc::new($queue);
        for key in ["a", "b", "c", "d"] {
            queue.add(key);
        }
        let inner = Arc::clone(&queue);
        spawned(async move {
            drop(inner.get_async().await.expect("a waits"));
            let token = inner.take_async().await.expect("b waits").0;
            inner.done(token);
            drop(inner.get_batch_async(std::num::NonZeroUsize::MIN).await.expect("c waits"));
            let taken = inner.take_batch_async(std::num::NonZeroUsize::MIN).await;
            assert!(taken.into_iter().all(|taken| inner.done(taken.0)), "d is held");
        });
        assert!(queue.is_empty());
        queue
    }};
}

#[test]
fn consumers_of_work_queues_are_spawned() {
    let system = System::new();
    let queue = is_worked_by_a_task!(WorkQueue::<Key>::new(&system));
    spawned(async move { queue.drain_async().await });
    let queue = is_worked_by_a_task!(DelayingQueue::<Key>::new(&system));
    spawned(async move { queue.drain_when_done_async().await });
    let queue = is_worked_by_a_task!(LimitedQueue::<Key>::with_default_limiter(&system));
    spawned(async move { queue.drain_async().await });
    is_worked_by_a_task!(PriorityQueue::<Key>::new(&system));
}

#[cfg(feature = "stream")]
#[test]
fn readers_of_streams_are_spawned() {
    use std::pin::pin;

    let queue = Arc::new(WorkQueue::<Key>::new(&System::new()));
    queue.add("a");
    queue.shut_down();
    let got = spawned(async move {
        let mut stream = pin!(queue.stream());
        let mut got = vec![];
        while let Some(work) =
            std::future::poll_fn(|cx| futures_core::Stream::poll_next(stream.as_mut(), cx)).await
        {
            got.push(*work);
        }
        got
    });
    assert_eq!(got, ["a"]);
}

#[test]
fn consumers_of_event_queues_are_spawned() {
    let system = System::new();
    let fifo = Fifo::new(&system, key_of);
    fifo.replace(vec![("a", 1)]).expect("it has a key");
    let (popped, synced) = spawned(async move {
        let popped = fifo.pop_async(|popped| popped.object).await;
        (popped.map(|(_, object)| object), fifo.wait_for_sync_async().await)
    });
    assert_eq!((popped, synced), (Ok(("a", 1)), true));

    let deltas = DeltaFifo::new(&system, key_of);
    deltas.replace(vec![("a", 1)]).expect("it has a key");
    let (popped, synced) = spawned(async move {
        let popped = deltas.pop_async(|popped| popped.key).await;
        (popped.map(|(_, key)| key), deltas.wait_for_sync_async().await)
    });
    assert_eq!((popped, synced), (Ok("a"), true));

    let events = OrderedFifo::new(&system, key_of);
    events.add(("a", 1)).expect("it has a key");
    events.add(("b", 1)).expect("it has a key");
    let left = spawned(async move {
        let first = events.pop_async(|popped| popped.left).await;
        let rest = events.pop_batch_async(|batch| batch.left).await;
        (first.map(|(_, left)| left), rest.map(|(_, left)| left))
    });
    assert_eq!(left, (Ok(1), Ok(0)));
}

#[test]
fn a_waiter_for_a_heap_or_a_token_is_spawned() {
    let system = System::new();
    let heap = KeyedHeap::new(&system, key_of, |one: &Object, other| one.1 < other.1);
    heap.add(("a", 1)).expect("it has a key");
    assert_eq!(spawned(async move { heap.pop_async().await }).ok(), Some(("a", 1)));

    let token = CancelToken::new(&system);
    let child = token.child_with_deadline(system.now() + Duration::from_millis(1));
    spawned(async move { child.wait_async().await });
    assert!(!token.is_cancelled());
}
