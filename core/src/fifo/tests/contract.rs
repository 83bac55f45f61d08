//! The promises of every queue of objects to code that is generic over them (`cache:QU-1`).

use std::pin::pin;
use std::task::Poll;

use super::*;
use crate::delta_fifo::{Delta, DeltaFifo};
use crate::fifo::Queue;
use crate::ordered_fifo::{self, Event, OrderedFifo};
use crate::runtime::bell::{Bell, poll};
use crate::store::{EnqueueError, KnownObjects, LastState, LookupFailed};

fn everything_in_order<Q: Queue<&'static str, Object>>(queue: &Q) {
    assert!(queue.is_empty() && !queue.is_closed() && !queue.has_synced());
    queue.replace(vec![("a", 1)], "1").unwrap();
    assert_eq!((queue.len(), queue.is_empty(), queue.has_synced()), (1, false, false));
    assert_eq!(queue.pop(|_| 7).unwrap().1, 7, "what processing returned");
    assert!(queue.has_synced() && queue.wait_for_sync(), "QU-15");
    queue.add(("b", 1)).unwrap();
    queue.add(("c", 1)).unwrap();
    assert_eq!((queue.len(), queue.is_empty()), (2, false));
    queue.pop(|_| ()).unwrap();
    queue.update(("d", 1)).unwrap();
    queue.close();
    assert!(queue.is_closed() && queue.has_synced());
    for left in (0..2).rev() {
        queue.pop(|_| ()).expect("what waits is handed out, QU-3");
        assert_eq!(queue.len(), left);
    }
    assert!(queue.is_empty());
    assert!(matches!(queue.pop(|_| ()), Err(Closed)), "QU-2");
}

fn nothing_but_its_end<Q: Queue<&'static str, Object>>(queue: &Q) {
    queue.close();
    assert!(queue.is_closed() && !queue.has_synced());
    assert!(!queue.wait_for_sync(), "it was drained without a list");
    assert!(matches!(queue.pop(|_| ()), Err(Closed)));
}

/// A task that awaits gets an entry; one that is dropped passes its wake-up on.
fn awaited<Q: Queue<&'static str, Object>>(queue: &Q) {
    let [first, second, third]: [Arc<Bell>; 3] = Default::default();
    let rings = || [&first, &second, &third].map(|bell| bell.rings());
    let mut one = Box::pin(queue.pop_async(|_| 7));
    let (mut other, mut synced) = (pin!(queue.pop_async(|_| 8)), pin!(queue.wait_for_sync_async()));
    assert!(poll(one.as_mut(), &first).is_pending() && poll(other.as_mut(), &second).is_pending());
    assert!(poll(synced.as_mut(), &third).is_pending());
    queue.replace(vec![("a", 1)], "1").unwrap();
    assert_eq!(rings(), [1, 0, 0], "QU-7: the one that has slept longest");
    drop(one);
    assert_eq!(rings(), [1, 1, 0], "it passes its wake-up on");
    assert!(matches!(poll(other.as_mut(), &second), Poll::Ready(Ok((_, 8)))));
    assert_eq!((rings(), queue.len()), ([1, 1, 1], 0), "QU-15: it was the whole list");
    assert!(matches!(poll(synced.as_mut(), &third), Poll::Ready(true)));
    let mut last = pin!(queue.pop_async(|_| ()));
    assert!(poll(last.as_mut(), &first).is_pending());
    queue.close();
    assert_eq!(rings(), [2, 1, 1]);
    assert!(matches!(poll(last.as_mut(), &first), Poll::Ready(Err(Closed))), "QU-5");
}

fn refusals<Q: Queue<&'static str, Object>>(queue: &Q) {
    assert!(queue.add(("", 1)).is_err() && queue.update(("", 1)).is_err());
    assert!(queue.delete(LastState::Final(("", 1))).is_err());
    assert!(queue.is_empty());
}

/// Checks the promises on queues of one kind, and returns one more queue.
fn promises<Q: Queue<&'static str, Object>>(queue: impl Fn() -> Q) -> Q {
    everything_in_order(&queue());
    nothing_but_its_end(&queue());
    awaited(&queue());
    refusals(&queue());
    queue()
}

#[test]
fn a_fifo_is_a_queue_of_objects() {
    let queue = promises(queue);
    queue.add(("a", 1)).unwrap();
    Queue::bookmark(&queue, "1");
    Queue::resync(&queue).unwrap();
    Queue::delete(&queue, LastState::Final(("a", 2))).unwrap();
    assert!(Queue::is_empty(&queue), "what was deleted does not wait, FF-7");
    Queue::add(&queue, ("b", 1)).unwrap();
    Queue::update(&queue, ("b", 2)).unwrap();
    assert_eq!(Queue::pop(&queue, |_| ()).unwrap().0.object, ("b", 2), "the newest, FF-5");
}

#[test]
fn a_delta_fifo_is_a_queue_of_objects() {
    let queue = || DeltaFifo::new(&System::new(), key_of);
    let queue = promises(queue);
    Queue::bookmark(&queue, "1");
    Queue::resync(&queue).unwrap();
    assert!(Queue::is_empty(&queue), "nothing is known that could be shown");
    queue.add(("a", 1)).unwrap();
    Queue::delete(&queue, LastState::Final(("a", 2))).unwrap();
    assert_eq!(queue.pop(|popped| popped.deltas.len()).unwrap().1, 2);
    Queue::update(&queue, ("b", 1)).unwrap();
    let deltas = Queue::pop(&queue, |_| ()).unwrap().0.deltas;
    assert_eq!(deltas.iter().collect::<Vec<_>>(), [&Delta::Updated(("b", 1))]);
}

#[test]
fn an_ordered_fifo_is_a_queue_of_objects() {
    let queue = || OrderedFifo::new(&System::new(), key_of);
    let queue = promises(queue);
    Queue::bookmark(&queue, "1");
    Queue::resync(&queue).unwrap();
    Queue::delete(&queue, LastState::Final(("a", 2))).unwrap();
    assert_eq!(Queue::len(&queue), 3, "each of them is an event");
    let queue = OrderedFifo::new(&System::new(), key_of);
    Queue::update(&queue, ("a", 1)).unwrap();
    Queue::replace(&queue, vec![("b", 1)], "7").unwrap();
    let next = || Queue::pop(&queue, |_| ()).unwrap().0.event;
    assert_eq!(next(), Event::Delta(Delta::Updated(("a", 1))));
    assert!(
        matches!(next(), Event::ReplacedAll(list) if list.resource_version == "7"),
        "cache:RF-4"
    );
}

/// Knows an object that has lost its key.
struct Nameless;

impl KnownObjects<&'static str, Object> for Nameless {
    fn keys(&self) -> Vec<&'static str> {
        vec!["a"]
    }

    fn get(&self, _: &&'static str) -> Result<Option<Object>, LookupFailed> {
        Ok(Some(("", 1)))
    }
}

#[test]
fn a_resync_of_what_has_no_key_is_refused() {
    let system = System::new();
    let options = ordered_fifo::Options::plain(Nameless);
    let queue = OrderedFifo::with_options(&system, Intake::new(&system, key_of), options);
    assert!(Queue::resync(&queue).is_err());
}

#[test]
fn a_state_tells_whether_it_is_empty_and_whether_anybody_has_written() {
    let mut state = FifoQueue::<&'static str, Object>::new(KeyHasher::fixed(0));
    assert!(state.is_empty() && !state.latch().is_populated());
    let key = Some(KeyHasher::fixed(0).hashed("a"));
    let mut put = Put { key, object: Some(("a", 1)) };
    assert!(matches!(put.step(&mut state, &mut Cx::new(&System::new())), Step::Done(())));
    assert!(!state.is_empty() && state.latch().is_populated(), "QU-14");
}

#[test]
fn a_refusal_names_its_cause() {
    let cause = || -> Cause { Arc::new(NoMetadata) };
    for error in [EnqueueError::Transform(cause()), KeyError::new(&"a", cause()).into()] {
        let source = std::error::Error::source(&error).expect("there is a cause");
        assert_eq!(source.to_string(), cause().to_string());
    }
}
