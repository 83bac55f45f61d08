//! The events that are processed together.

use std::cell::Cell;
use std::hash::{Hash, Hasher};
use std::panic::{AssertUnwindSafe, catch_unwind};

use parking_lot::Mutex;

use super::*;
use crate::machine::{Cx, Operation, Step};
use crate::store::KeyHasher;
use crate::store::tests::Colliding;

fn names(batch: &Batch<&'static str, Object>) -> Vec<&'static str> {
    let name = |event: &Happened| match event {
        Event::Delta(delta) => delta.object().map_or("nothing", |object| object.0),
        Event::ReplacedAll(_) => "list",
        Event::SyncAll => "sync",
        Event::Bookmark(_) => "bookmark",
    };
    batch.events.iter().map(name).collect()
}

/// Pops a batch that must be there; returns its names and whether it is initial.
fn batch<N: KnownObjects<&'static str, Object>>(
    queue: &OrderedFifo<&'static str, Object, N>,
) -> (Vec<&'static str>, bool) {
    assert!(!queue.is_empty(), "a pop would sleep");
    let (batch, ()) = queue.pop_batch(|_| ()).unwrap();
    (names(&batch), batch.initial)
}

#[test]
fn a_batch_ends_before_a_key_that_is_in_it() {
    let queue = atomic();
    for object in [("a", 1), ("b", 1), ("a", 2), ("c", 1)] {
        queue.add(object).unwrap();
    }
    assert_eq!(batch(&queue).0, ["a", "b"]);
    assert_eq!(batch(&queue).0, ["a", "c"]);
}

#[test]
fn batches_of_one_need_no_comparison() {
    let queue = in_batches(1);
    for object in [("a", 1), ("b", 1), ("b", 2)] {
        queue.add(object).unwrap();
    }
    queue.delete(("a", 1)).unwrap();
    let next = || batch(&queue).0;
    assert_eq!([next(), next(), next(), next()], [["a"], ["b"], ["b"], ["a"]]);
}

#[test]
fn a_batch_is_no_longer_than_it_may_be() {
    let queue = in_batches(2);
    for object in [("a", 1), ("b", 1), ("c", 1)] {
        queue.add(object).unwrap();
    }
    assert_eq!(batch(&queue).0, ["a", "b"]);
    assert_eq!(batch(&queue).0, ["c"]);
}

#[test]
fn a_batch_may_be_as_long_as_the_queue() {
    let queue = in_batches(usize::MAX);
    for object in [("a", 1), ("b", 1), ("c", 1)] {
        queue.add(object).unwrap();
    }
    assert_eq!(batch(&queue).0, ["a", "b", "c"]);
}

#[test]
fn a_host_of_ones_own_hands_out_batches() {
    let runtime = System::new();
    let intake = Intake::new(&runtime, key_of);
    let state = OrderedQueue::new(intake.clone(), Options::default().mode, 3);
    let queue = OrderedFifo::with_host(&runtime, intake, true, None, state);
    for object in [("a", 1), ("b", 1)] {
        queue.add(object).unwrap();
    }
    assert_eq!(batch(&queue).0, ["a", "b"]);
}

#[test]
fn lists_resyncs_and_bookmarks_are_alone() {
    let queue = atomic();
    queue.add(("a", 1)).unwrap();
    queue.replace(vec![], "1").unwrap();
    queue.resync().unwrap();
    queue.bookmark("2");
    queue.add(("b", 1)).unwrap();
    for expected in ["a", "list", "sync", "bookmark", "b"] {
        assert_eq!(batch(&queue).0, [expected]);
    }
}

#[test]
fn a_batch_does_not_cross_the_end_of_the_first_list() {
    let queue = plain(&Store::of(&[]));
    queue.replace(vec![("a", 1), ("b", 1)], "1").unwrap();
    for object in [("c", 1), ("c", 2), ("d", 1)] {
        queue.add(object).unwrap();
    }
    assert_eq!(batch(&queue), (vec!["a", "b"], true));
    assert!(queue.has_synced());
    assert_eq!(batch(&queue), (vec!["c"], false));
    assert_eq!(batch(&queue), (vec!["c", "d"], false));
}

#[test]
fn a_tombstone_has_the_key_that_it_names() {
    let queue = atomic();
    queue.add(("a", 1)).unwrap();
    queue.delete_last_state(LastState::unknown("b", Some(("a", 2)))).unwrap();
    queue.delete_last_state(LastState::unknown("a", None)).unwrap();
    queue.add(("c", 1)).unwrap();
    assert_eq!(batch(&queue).0, ["a", "a"], "the keys are a and b");
    assert_eq!(batch(&queue).0, ["nothing", "c"], "others follow it in its batch");
}

#[test]
fn an_event_that_lost_its_key_is_the_last_of_its_batch() {
    let queue = transforming(&Store::of(&[]));
    for _ in ["nobody has taken a batch yet", "somebody has"] {
        queue.add(("a", 1)).unwrap();
        queue.update(("b", 14)).unwrap();
        queue.delete(("c", 14)).unwrap();
        queue.add(("d", 1)).unwrap();
        assert_eq!(batch(&queue).0, ["a", ""], "RF-20");
        assert_eq!(batch(&queue).0, [""]);
        assert_eq!(batch(&queue).0, ["d"]);
    }
}

#[test]
fn a_listed_object_that_lost_its_key_is_the_last_of_its_batch() {
    let queue = transforming(&Store::of(&[]));
    for version in ["1", "2"] {
        queue.replace(vec![("a", 1), ("b", 14), ("c", 1)], version).unwrap();
        assert_eq!(batch(&queue).0, ["a", ""], "RF-20");
        assert_eq!(batch(&queue).0, ["c"]);
    }
}

/// Makes a queue that counts the calls of its key function.
fn counting(store: &Arc<Store>) -> (Plain, Arc<Mutex<u32>>) {
    let asked = Arc::new(Mutex::new(0));
    let counted = Arc::clone(&asked);
    let intake = Intake::new(&System::new(), move |object: &Object| {
        *counted.lock() += 1;
        key_of(object)
    });
    let options = Options::plain(Arc::clone(store));
    (OrderedFifo::with_options(&System::new(), intake, options), asked)
}

#[test]
fn who_takes_batches_has_keys_asked_for_once_more() {
    let (queue, asked) = counting(&Store::of(&[]));
    let add = |objects: &[Object]| objects.iter().for_each(|object| queue.add(*object).unwrap());
    add(&[("a", 1), ("b", 1), ("c", 1), ("a", 2)]);
    assert_eq!(*asked.lock(), 4, "on the way in: an object without a key is refused");
    assert_eq!(batch(&queue).0, ["a", "b", "c"]);
    assert_eq!(*asked.lock(), 8);
    assert_eq!(batch(&queue).0, ["a"]);
    assert_eq!(*asked.lock(), 8, "one that is alone is not compared");
}

#[test]
fn who_takes_events_one_by_one_has_no_key_asked_for_twice() {
    let (queue, asked) = counting(&Store::of(&[]));
    for object in [("a", 1), ("b", 1), ("a", 2)] {
        queue.add(object).unwrap();
    }
    while !queue.is_empty() {
        queue.pop(|_| ()).unwrap();
    }
    assert_eq!(*asked.lock(), 3);
}

#[test]
fn a_key_function_that_panics_leaves_the_batch_in_the_queue() {
    let panics = Arc::new(Mutex::new(false));
    let told = Arc::clone(&panics);
    let queue = OrderedFifo::new(&System::new(), move |object: &Object| {
        assert!(!*told.lock(), "as it is told");
        key_of(object)
    });
    for object in [("a", 1), ("b", 1), ("a", 2)] {
        queue.add(object).unwrap();
    }
    *panics.lock() = true;
    let taken = AssertUnwindSafe(|| queue.pop_batch(|_| ()));
    assert!(catch_unwind(taken).is_err());
    *panics.lock() = false;
    assert_eq!(queue.len(), 3);
    assert_eq!(batch(&queue).0, ["a", "b"]);
}

thread_local! {
    /// How many names can still be hashed before one panics.
    static FUSE: Cell<u32> = const { Cell::new(u32::MAX) };
}

/// A name that panics when it is hashed after the fuse has reached zero.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Fused(&'static str);

impl Hash for Fused {
    fn hash<H: Hasher>(&self, state: &mut H) {
        let left = FUSE.get().checked_sub(1).expect("as it is told");
        FUSE.set(left);
        self.0.hash(state);
    }
}

/// A store of two objects.
struct Two;

impl KnownObjects<Fused, Object> for Two {
    fn keys(&self) -> Vec<Fused> {
        vec![Fused("a"), Fused("b")]
    }

    fn get(&self, key: &Fused) -> Result<Option<Object>, LookupFailed> {
        Ok(Some((key.0, 1)))
    }
}

/// Makes a call on an empty queue whose consumer takes batches, again and again: first the first
/// hash panics, then the second, and so on, until none does. Returns how many did.
fn panics(call: impl Operation<OrderedQueue<Fused, Object, Two>>) -> u32 {
    for hashed in 0.. {
        let intake =
            Intake::with_hasher(KeyHasher::fixed(0), |object: &Object| Ok(Fused(object.0)));
        let mut queue = OrderedQueue::new(intake, Mode::Plain { known: Two }, 3);
        let (system, mut call) = (System::new(), call.clone());
        let mut cx = Cx::new(&system);
        assert!(matches!(PopBatch.step(&mut queue, &mut cx), Step::Wait { .. }));
        FUSE.set(hashed);
        let ended = catch_unwind(AssertUnwindSafe(|| drop(call.step(&mut queue, &mut cx))));
        FUSE.set(u32::MAX);
        if ended.is_ok() {
            assert!(!queue.is_empty(), "the call was made");
            return hashed;
        }
        assert!(queue.is_empty() && !queue.latch().is_populated(), "as it was");
    }
    unreachable!("a call ends")
}

#[test]
fn a_key_that_panics_when_it_is_hashed_leaves_the_queue_as_it_was() {
    assert_eq!(panics(Put { verb: Verb::Add, object: Some(Ok(("a", 1))) }), 0);
    assert_eq!(panics(Delete { last: Some(Ok(LastState::Final(("a", 1)))) }), 0);
    assert_eq!(panics(Resync), 2, "each known name is looked up");
    let hasher = KeyHasher::fixed(0);
    let keyed = |name| Keyed { key: hasher.hashed(Fused(name)), object: (name, 2) };
    let objects = vec![keyed("b"), keyed("c")];
    assert_eq!(panics(Replace { objects, behind: vec![].into(), refused: None }), 2);
}

#[test]
fn a_long_batch_is_compared_to_its_end() {
    let queue = OrderedFifo::new(&System::new(), |number: &u32| Ok(*number));
    let length = || queue.pop_batch(|batch| batch.events.len()).unwrap().1;
    for _ in ["nobody has taken a batch yet", "somebody has"] {
        (0..50).chain([7]).for_each(|number| queue.add(number).unwrap());
        assert_eq!((length(), length()), (50, 1));
    }
}

#[test]
fn batches_and_single_events_are_the_same_sequence() {
    let fill = || {
        let queue = in_batches(3);
        for step in 0..200_u32 {
            let name = ["a", "b", "c", "d", "e"][(step * step % 5) as usize];
            match step % 17 {
                5 => queue.resync().unwrap(),
                11 => queue.bookmark("1"),
                _ => queue.update((name, step)).unwrap(),
            }
        }
        queue.close();
        queue
    };
    let (single, batched) = (fill(), fill());
    let mut one_by_one = vec![];
    while let Ok((popped, ())) = single.pop(|_| ()) {
        one_by_one.push(popped.event);
    }
    let mut together = vec![];
    while let Ok((batch, ())) = batched.pop_batch(|_| ()) {
        assert!(batch.events.len() <= 3);
        together.extend(batch.events);
    }
    assert_eq!(one_by_one, together, "RF-24");
}

#[test]
fn a_first_list_of_one_object_is_a_batch_of_its_own() {
    let queue = plain(&Store::of(&[]));
    queue.replace(vec![("a", 1)], "").unwrap();
    queue.add(("b", 1)).unwrap();
    queue.add(("c", 1)).unwrap();
    assert_eq!(batch(&queue), (vec!["a"], true));
    assert_eq!(batch(&queue), (vec!["b", "c"], false));
}

#[test]
fn keys_that_collide_are_kept_apart() {
    let queue = OrderedFifo::new(&System::new(), |object: &Object| Ok(Colliding(object.0)));
    for object in [("a", 1), ("b", 1), ("c", 1), ("b", 2)] {
        queue.add(object).unwrap();
    }
    assert_eq!(queue.pop_batch(|batch| batch.events.len()).unwrap().1, 3);
}
