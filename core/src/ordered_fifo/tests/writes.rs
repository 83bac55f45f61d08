//! Add, update, delete, resync, bookmark, and single pops.

use std::error::Error;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use super::*;
use crate::events::fixtures::slow_hook;
use crate::fifo::Closed;
use crate::runtime::Manual;
use crate::runtime::probe::Probe;

#[test]
fn every_event_comes_out_alone_and_in_order() {
    let queue = atomic();
    queue.add(("a", 1)).unwrap();
    queue.add(("b", 1)).unwrap();
    queue.update(("a", 2)).unwrap();
    queue.delete(("unknown", 1)).unwrap();
    queue.delete(("unknown", 2)).unwrap();
    assert_eq!(queue.len(), 5);
    assert_eq!(pop(&queue), added(("a", 1)));
    assert_eq!(pop(&queue), added(("b", 1)));
    assert_eq!(pop(&queue), Delta::Updated(("a", 2)).into(), "cache:TR-14");
    assert_eq!(pop(&queue), deleted(("unknown", 1)), "nobody is asked");
    assert_eq!(pop(&queue), deleted(("unknown", 2)), "and nothing merged");
}

#[test]
fn every_refused_write_is_a_write() {
    for refused in [
        |queue: &Atomic| queue.add(("", 1)),
        |queue: &Atomic| queue.update(("", 1)),
        |queue: &Atomic| queue.delete(("", 1)),
    ] {
        for queue in [atomic(), in_batches(1)] {
            let error = refused(&queue).unwrap_err();
            assert!(matches!(error, EnqueueError::Key(_)));
            assert_eq!(error.source().expect("a cause").to_string(), "object has no meta");
            assert!(queue.is_empty());
            assert!(queue.has_synced(), "QU-19");
        }
    }
}

#[test]
fn objects_are_transformed_and_tombstones_are_not() {
    let queue = transforming(&Store::of(&[("known", 1)]));
    queue.add(("a", 1)).unwrap();
    queue.delete(("a", 2)).unwrap();
    queue.delete_last_state(LastState::unknown("a", Some(("a", 3)))).unwrap();
    queue.resync().unwrap();
    assert!(matches!(queue.add(("a", 13)), Err(EnqueueError::Transform(_))));
    assert!(matches!(queue.delete(("a", 13)), Err(EnqueueError::Transform(_))));
    assert_eq!(pop(&queue), added(("a", 101)));
    assert_eq!(pop(&queue), deleted(("a", 102)));
    assert_eq!(pop(&queue), tombstone("a", Some(("a", 3))));
    assert_eq!(pop(&queue), Delta::Sync(("known", 1)).into());
    assert!(queue.is_empty());
}

#[test]
fn a_panicking_transformer_leaves_the_queue_as_it_was() {
    let queue = transforming(&Store::of(&[("a", 1), ("b", 1)]));
    queue.add(("a", 2)).unwrap();
    let calls: [&dyn Fn(&Plain); 3] = [
        &|queue| drop(queue.update(("a", 66))),
        &|queue| drop(queue.delete(("b", 66))),
        &|queue| drop(queue.replace(vec![("b", 2), ("a", 66)], "")),
    ];
    for call in calls {
        assert!(catch_unwind(AssertUnwindSafe(|| call(&queue))).is_err());
    }
    assert_eq!(queue.list(), [added(("a", 102))]);
}

#[test]
fn a_plain_resync_shows_what_is_known_and_not_queued() {
    let queue = plain(&Store::of(&[("a", 1), ("b", 1), ("lost", 1)]));
    queue.update(("a", 2)).unwrap();
    queue.resync().unwrap();
    queue.resync().unwrap();
    let events = queue.list();
    assert_eq!(events, [Delta::Updated(("a", 2)).into(), Delta::Sync(("b", 1)).into()]);
}

#[test]
fn a_resync_of_an_object_without_a_key_says_so() {
    let queue = plain(&Store::of(&[("a", 1), ("nameless", 1), ("z", 1)]));
    let error = queue.resync().unwrap_err();
    assert_eq!(error.source().expect("RF-12").to_string(), "object has no meta");
    assert_eq!(queue.list(), [Delta::Sync(("a", 1)).into()], "what is in front is shown");
}

#[test]
fn an_atomic_resync_is_one_event_whatever_is_queued() {
    let queue = atomic();
    queue.resync().unwrap();
    queue.resync().unwrap();
    assert!(!queue.has_synced(), "a resync is no write");
    assert_eq!(queue.list(), [Event::SyncAll, Event::SyncAll]);
}

#[test]
fn a_bookmark_is_an_event_where_it_was_asked_for_and_no_write() {
    let queue = atomic();
    queue.bookmark("7");
    let bookmark = Bookmark { resource_version: "7".to_owned() };
    assert_eq!(pop(&queue), Event::Bookmark(Arc::new(bookmark)));
    assert!(!queue.has_synced());
    let queue = plain(&Store::of(&[]));
    queue.bookmark("7");
    assert!(queue.is_empty());
}

#[test]
fn a_closed_queue_is_drained_and_takes_writes() {
    let queue = atomic();
    queue.add(("a", 1)).unwrap();
    queue.close();
    queue.close();
    assert!(queue.is_closed());
    queue.add(("b", 1)).unwrap();
    assert_eq!(pop(&queue), added(("a", 1)));
    assert_eq!(pop(&queue), added(("b", 1)));
    assert_eq!(queue.pop(|_| ()).unwrap_err(), Closed);
    assert_eq!(queue.pop_batch(|_| ()).unwrap_err(), Closed);
}

#[test]
fn a_panicking_process_loses_its_event_and_nothing_else() {
    let locked = plain(&Store::of(&[]));
    locked.replace(vec![("a", 1), ("b", 1)], "1").unwrap();
    let panicked = catch_unwind(AssertUnwindSafe(|| locked.pop(|_| panic!("handler bug"))));
    assert!(panicked.is_err());
    assert_eq!(pop(&locked), replaced(("b", 1)));
    assert!(locked.has_synced());

    let unlocked = atomic();
    unlocked.add(("a", 1)).unwrap();
    unlocked.add(("b", 1)).unwrap();
    let panicked = catch_unwind(AssertUnwindSafe(|| unlocked.pop_batch(|_| panic!("bug"))));
    assert!(panicked.is_err());
    unlocked.add(("c", 1)).unwrap();
    assert_eq!(pop(&unlocked), added(("c", 1)), "the next consumer is let in");
}

#[test]
fn what_was_popped_is_not_kept_alive() {
    let queue = OrderedFifo::new(&System::new(), |object: &Arc<u32>| Ok(**object));
    let objects = [Arc::new(1), Arc::new(2), Arc::new(3)];
    for object in &objects {
        queue.add(Arc::clone(object)).unwrap();
    }
    drop(queue.pop(|_| ()).unwrap());
    drop(queue.pop_batch(|_| ()).unwrap());
    assert_eq!(objects.map(|object| Arc::strong_count(&object)), [1, 1, 1]);
}

#[test]
fn an_event_takes_two_words() {
    assert_eq!(size_of::<Event<String, Arc<u8>>>(), 16);
}

#[test]
fn slow_processing_of_a_batch_is_judged_by_its_length_and_told_under_its_first_key() {
    let clock = Manual::seeded(1);
    let probe = Arc::<Probe>::default();
    let (hook, told) = slow_hook(&probe);
    let batch_size = NonZeroUsize::new(3).unwrap();
    let mode =
        Mode::<NothingKnown>::Atomic { unlock_while_processing: false, emit_bookmarks: false };
    let options = Options { mode, on_slow: Some(hook), batch_size };
    let intake = Intake::new(&clock, |object: &u32| Ok(*object));
    let queue = Arc::new(OrderedFifo::with_options(&clock, intake, options));
    let asked = Arc::clone(&queue);
    probe.calls(move || _ = asked.len());
    (0..20).for_each(|object| queue.add(object).unwrap());
    queue.pop_batch(|_| clock.advance(Duration::from_millis(299))).unwrap();
    queue.pop_batch(|_| clock.advance(Duration::from_millis(300))).unwrap();
    queue.pop(|_| clock.advance(Duration::from_millis(99))).unwrap();
    queue.pop(|_| clock.advance(Duration::from_millis(100))).unwrap();
    (20..23).for_each(|object| queue.add(object).unwrap());
    let slow = queue.pop_batch_async(|_| clock.advance(Duration::from_millis(300)));
    System::new().block_on(slow).unwrap();
    let told: Vec<_> = told.lock().drain(..).map(|slow| (slow.key, slow.left)).collect();
    let expected = [("3", 14), ("7", 12), ("8", 12)].map(|(key, left)| (key.to_owned(), left));
    assert_eq!(told, expected, "QU-21");
    assert_eq!(probe.ends(), (3, 3), "it is told when the lock is released");
}
