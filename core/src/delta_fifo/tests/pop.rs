//! Pop, close, requeue.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use super::*;
use crate::events::fixtures::{all_sleepers_are_woken_by_the_end, slow_hook};
use crate::fifo::{AfterPop, Closed, SlowProcessing};
use crate::runtime::Manual;
use crate::runtime::probe::Probe;

#[test]
fn a_closed_queue_is_drained_before_pop_ends() {
    let queue = plain();
    queue.add(("a", 1)).unwrap();
    queue.close();
    queue.close();
    assert!(queue.is_closed());
    queue.update(("b", 1)).unwrap(); // closing does not stop writers
    assert_eq!(pop(&queue).key, "a");
    assert_eq!(pop(&queue).key, "b");
    assert_eq!(queue.pop(|_| ()).unwrap_err(), Closed);
    queue.add(("c", 1)).unwrap();
    assert_eq!(pop(&queue).key, "c");
    assert_eq!(queue.pop(|_| ()).unwrap_err().to_string(), "the queue is closed and empty");
}

#[test]
fn close_wakes_every_sleeper() {
    all_sleepers_are_woken_by_the_end(plain());
}

#[test]
fn a_write_wakes_a_sleeper() {
    let runtime = System::new();
    let queue = Arc::new(plain());
    let popper = {
        let queue = Arc::clone(&queue);
        runtime.spawn("popper", move || queue.pop(|_| ()).unwrap().0)
    };
    queue.add(("a", 1)).unwrap();
    assert_eq!(runtime.join(popper).unwrap().key, "a");
}

#[test]
fn pop_returns_what_process_returned_and_forgets_the_entry() {
    let queue = plain();
    queue.add(("a", 1)).unwrap();
    let (popped, result) = queue.pop(|_| Err::<(), _>("boom")).unwrap();
    assert_eq!((popped.key, result), ("a", Err("boom")));
    assert!(queue.is_empty(), "a failure does not put it back");
}

#[test]
fn a_panicking_process_loses_its_entry_and_nothing_else() {
    let queue = plain();
    queue.replace(vec![("a", 1), ("b", 1)]).unwrap();
    let panicked = catch_unwind(AssertUnwindSafe(|| queue.pop(|_| panic!("handler bug"))));
    assert!(panicked.is_err());
    assert_eq!(pop(&queue).key, "b");
    assert!(queue.has_synced());
}

#[test]
fn a_requeued_entry_goes_to_the_tail() {
    let queue = plain();
    queue.add(("a", 1)).unwrap();
    queue.add(("b", 1)).unwrap();
    let (popped, result) = queue.pop_or_requeue(|_| (AfterPop::Requeue, "later")).unwrap();
    assert_eq!((popped.key, result), ("a", "later"));
    assert_eq!(pop(&queue).key, "b");
    let again = pop(&queue);
    assert_eq!((again.key, again.deltas), (popped.key, popped.deltas));
}

#[test]
fn changes_added_back_give_way_to_newer_ones() {
    let queue = plain();
    queue.add(("a", 1)).unwrap();
    let old = pop(&queue).deltas;
    queue.update(("a", 2)).unwrap();
    queue.add_if_absent(old.clone()).unwrap();
    assert_eq!(drain(&queue), [vec![Delta::Updated(("a", 2))]], "the old ones are dropped");
    queue.add_if_absent(old).unwrap();
    assert_eq!(drain(&queue), [vec![Delta::Added(("a", 1))]]);
}

#[test]
fn adding_back_nothing_is_an_error() {
    let queue = plain();
    let error = queue.add_if_absent(Deltas::new()).unwrap_err();
    assert_eq!(error.source().unwrap().to_string(), NoDeltas.to_string());
    assert!(!queue.has_synced());
    queue.add_if_absent(Deltas::from(tombstone("a", None))).unwrap();
    assert!(queue.has_synced(), "it counts as a write (QU-10)");
    assert_eq!(pop(&queue).key, "a", "a tombstone has the key that it names");
}

#[test]
fn changes_that_are_put_back_have_the_key_of_the_newest() {
    let queue = plain();
    let changes = [Delta::Added(("a", 1)), Delta::Updated(("b", 1))];
    queue.add_if_absent(changes.into_iter().collect()).unwrap();
    assert_eq!(pop(&queue).key, "b", "KY-10");
}

#[test]
fn what_was_popped_is_not_kept_alive() {
    let runtime = System::new();
    let queue = DeltaFifo::new(&runtime, |object: &Arc<u32>| Ok(**object));
    let object = Arc::new(1);
    queue.add(Arc::clone(&object)).unwrap();
    queue.add(Arc::new(2)).unwrap();
    drop(queue.pop(|_| ()).unwrap());
    assert_eq!(Arc::strong_count(&object), 1);
}

#[test]
fn slow_processing_is_told_when_many_wait() {
    let clock = Manual::seeded(1);
    let probe = Arc::<Probe>::default();
    let (hook, told) = slow_hook(&probe);
    let options = Options { on_slow: Some(hook), ..Options::default() };
    let intake = Intake::new(&clock, |object: &u32| Ok(*object));
    let queue = Arc::new(DeltaFifo::with_options(&clock, intake, options));
    let asked = Arc::clone(&queue);
    probe.calls(move || _ = asked.len());
    let took = Duration::from_millis(100);
    (0..12).for_each(|object| queue.add(object).unwrap());
    queue.pop(|_| clock.advance(took)).unwrap();
    queue.pop(|_| clock.advance(took)).unwrap(); // only ten are left
    queue.add(12).unwrap();
    queue.pop(|_| ()).unwrap(); // quick
    (13..15).for_each(|object| queue.add(object).unwrap());
    System::new().block_on(queue.pop_async(|_| clock.advance(took))).unwrap();
    let slow = |key: &str, left| SlowProcessing { key: key.to_owned(), left, took };
    assert_eq!(*told.lock(), [slow("0", 11), slow("3", 11)]);
    assert_eq!(probe.ends(), (2, 2), "it is told when the lock is released");
}
