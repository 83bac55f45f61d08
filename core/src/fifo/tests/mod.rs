//! The rules of the FIFO on real threads, one behaviour a test.

mod contract;
mod stale;
mod trouble;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use super::*;
use crate::events::fixtures::all_sleepers_are_woken_by_the_end;
use crate::machine::{Cx, Operation, Step, Wakes};
use crate::store::tests::{Colliding, Object, key_of};
use crate::store::{KeyHasher, Keyed, NoMetadata};

fn queue() -> Fifo<&'static str, Object> {
    Fifo::new(&System::new(), key_of)
}

fn pop(queue: &Fifo<&'static str, Object>) -> Object {
    assert!(!queue.is_empty(), "a pop would sleep");
    queue.pop(|_| ()).unwrap().0.object
}

fn drain(queue: &Fifo<&'static str, Object>) -> Vec<Object> {
    let mut objects = vec![];
    while !queue.is_empty() {
        objects.push(pop(queue));
    }
    objects
}

#[test]
fn changes_collapse_into_the_newest_at_the_place_of_the_first() {
    let queue = queue();
    queue.add(("a", 1)).unwrap();
    queue.add(("b", 1)).unwrap();
    queue.update(("a", 2)).unwrap();
    assert_eq!(queue.len(), 2);
    assert_eq!(drain(&queue), [("a", 2), ("b", 1)], "cache:TR-1");
}

#[test]
fn an_object_added_again_after_its_pop_jumps_no_line() {
    let queue = queue();
    for object in [("foo", 10), ("bar", 1), ("foo", 11), ("foo", 13), ("zab", 30)] {
        queue.add(object).unwrap();
    }
    assert_eq!(pop(&queue), ("foo", 13));
    queue.add(("foo", 14)).unwrap();
    assert_eq!(drain(&queue), [("bar", 1), ("zab", 30), ("foo", 14)], "cache:TR-3");
}

#[test]
fn a_deleted_object_added_again_is_handed_out_at_its_old_place_once() {
    let queue = queue();
    queue.add(("a", 1)).unwrap();
    queue.add(("b", 1)).unwrap();
    queue.delete(("a", 1)).unwrap();
    queue.add(("a", 2)).unwrap();
    assert_eq!(queue.list(), [("a", ("a", 2)), ("b", ("b", 1))]);
    assert_eq!(drain(&queue), [("a", 2), ("b", 1)], "cache:TR-2");
    queue.close();
    assert!(queue.pop(|_| ()).is_err(), "the second place is skipped");
}

#[test]
fn a_deleted_object_is_not_handed_out() {
    let queue = queue();
    queue.add(("a", 1)).unwrap();
    queue.add(("b", 1)).unwrap();
    queue.delete_last_state(&LastState::unknown("a", None)).unwrap();
    queue.delete(("c", 1)).unwrap(); // need not exist
    assert_eq!(queue.get(&"a"), None);
    assert_eq!(queue.get(&"b"), Some(("b", 1)));
    assert_eq!(drain(&queue), [("b", 1)]);
}

#[test]
fn a_list_becomes_the_content_in_its_order() {
    let queue = queue();
    queue.add(("old", 1)).unwrap();
    queue.replace(vec![("b", 1), ("a", 1), ("b", 2)]).unwrap();
    assert_eq!(drain(&queue), [("b", 2), ("a", 1)]);
}

#[test]
fn an_object_without_a_key_is_refused_and_is_no_write() {
    let queue = queue();
    assert!(queue.add(("", 1)).is_err());
    assert!(queue.update(("", 1)).is_err());
    assert!(queue.delete(("", 1)).is_err());
    assert!(queue.add_if_absent(("", 1)).is_err());
    assert!(queue.replace(vec![("a", 1), ("", 1)]).is_err());
    assert!(queue.is_empty());
    assert!(!queue.has_synced());
}

#[test]
fn a_resync_changes_nothing() {
    let queue = queue();
    queue.resync();
    assert!(!queue.has_synced());
    queue.add(("a", 1)).unwrap();
    queue.resync();
    assert_eq!(drain(&queue), [("a", 1)]);
}

#[test]
fn the_first_list_is_processed_when_as_many_places_are() {
    let queue = queue();
    queue.replace(vec![("a", 1), ("a", 2), ("b", 1), ("c", 1)]).unwrap();
    queue.delete(("b", 1)).unwrap();
    assert!(queue.pop(|popped| popped.initial).unwrap().1);
    assert!(!queue.has_synced());
    assert!(queue.pop(|popped| popped.initial).unwrap().1, "b was skipped");
    assert!(queue.has_synced());
}

#[test]
fn places_are_counted_so_a_shorter_second_list_can_leave_the_latch_unset() {
    let queue = queue();
    queue.replace(vec![("a", 1), ("b", 1), ("c", 1)]).unwrap();
    queue.replace(vec![("a", 1)]).unwrap();
    drain(&queue);
    assert!(!queue.has_synced(), "cache:KD-28");
    queue.add(("x", 1)).unwrap();
    queue.add(("y", 1)).unwrap();
    drain(&queue);
    assert!(queue.has_synced());
}

#[test]
fn an_empty_first_list_and_any_earlier_write_sync_at_once() {
    let empty = queue();
    empty.replace(vec![]).unwrap();
    assert!(empty.has_synced());
    let deleted = queue();
    deleted.delete(("a", 1)).unwrap();
    assert!(deleted.has_synced());
    deleted.replace(vec![("a", 1)]).unwrap();
    assert!(deleted.has_synced());
}

#[test]
fn the_latch_is_set_at_once_when_the_last_place_of_the_first_list_is_stale() {
    let queue = Arc::new(queue());
    queue.replace(vec![("a", 1)]).unwrap();
    queue.delete(("a", 1)).unwrap();
    assert!(!queue.has_synced());
    let runtime = System::new();
    let popper = {
        let queue = Arc::clone(&queue);
        runtime.spawn("popper", move || queue.pop(|popped| popped.initial))
    };
    assert!(queue.wait_for_sync(), "although pop goes on sleeping (FF-13)");
    queue.add(("b", 1)).unwrap();
    let (popped, initial) = runtime.join(popper).unwrap().unwrap();
    assert_eq!((popped.object, initial), (("b", 1), false));
}

#[test]
fn an_object_behind_the_last_stale_place_is_not_initial() {
    let queue = queue();
    queue.replace(vec![("a", 1)]).unwrap();
    queue.delete(("a", 1)).unwrap();
    queue.add(("b", 1)).unwrap();
    assert!(!queue.pop(|popped| popped.initial).unwrap().1);
    assert!(queue.has_synced());
}

#[test]
fn a_closed_queue_is_drained_and_takes_writes() {
    let queue = queue();
    queue.add(("a", 1)).unwrap();
    queue.close();
    queue.close();
    queue.add(("b", 1)).unwrap();
    assert!(queue.is_closed());
    assert_eq!(drain(&queue), [("a", 1), ("b", 1)]);
    assert_eq!(queue.pop(|_| ()).unwrap_err(), Closed);
    assert!(queue.wait_for_sync());
    let never = Fifo::new(&System::new(), key_of);
    never.close();
    assert!(!never.wait_for_sync(), "nothing more can come");
}

#[test]
fn close_wakes_every_sleeper() {
    all_sleepers_are_woken_by_the_end(queue());
}

#[test]
fn a_panicking_process_loses_its_object_and_nothing_else() {
    let queue = queue();
    queue.replace(vec![("a", 1), ("b", 1)]).unwrap();
    let panicked = catch_unwind(AssertUnwindSafe(|| queue.pop(|_| panic!("handler bug"))));
    assert!(panicked.is_err());
    assert_eq!(drain(&queue), [("b", 1)]);
    assert!(queue.has_synced());
}

#[test]
fn a_requeued_object_goes_to_the_tail_and_gives_way_to_a_newer_one() {
    let queue = queue();
    queue.add(("a", 1)).unwrap();
    queue.add(("b", 1)).unwrap();
    queue.pop_or_requeue(|_| (AfterPop::Requeue, ())).unwrap();
    queue.add_if_absent(("b", 0)).unwrap();
    queue.add_if_absent(("c", 1)).unwrap();
    assert_eq!(drain(&queue), [("b", 1), ("a", 1), ("c", 1)]);
}

#[test]
fn what_was_popped_or_deleted_is_not_kept_alive() {
    let queue = Fifo::new(&System::new(), |object: &Arc<u32>| Ok(**object));
    let objects = [Arc::new(1), Arc::new(2)];
    for object in &objects {
        queue.add(Arc::clone(object)).unwrap();
    }
    drop(queue.pop(|_| ()).unwrap());
    queue.delete(Arc::clone(&objects[1])).unwrap();
    assert_eq!(objects.map(|object| Arc::strong_count(&object)), [1, 1]);
}

#[test]
fn keys_that_collide_are_kept_apart() {
    let queue = Fifo::new(&System::new(), |object: &Object| Ok(Colliding(object.0)));
    for object in [("a", 1), ("b", 1), ("c", 1), ("b", 2)] {
        queue.add(object).unwrap();
    }
    queue.delete(("a", 1)).unwrap();
    assert_eq!(queue.pop(|_| ()).unwrap().0.object, ("b", 2));
    assert_eq!(queue.pop(|_| ()).unwrap().0.object, ("c", 1));
}

/// Steps a call that ends in one step; returns how many sleepers of `pop` and of `wait_for_sync`
/// it wakes.
fn woken<O>(machine: &mut FifoQueue<&'static str, Object>, mut op: O) -> (u16, u16)
where
    O: Operation<FifoQueue<&'static str, Object>>,
{
    let system = System::new();
    let mut cx = Cx::new(&system);
    drop(op.step(machine, &mut cx));
    machine.check();
    (cx.wakes.get(POPPERS), cx.wakes.get(SYNC))
}

#[test]
fn a_new_place_wakes_one_popper_and_nothing_else_does() {
    let hasher = KeyHasher::fixed(0);
    let put = |name| Put { key: Some(hasher.hashed(name)), object: Some((name, 1)) };
    let back = |name| AddIfAbsent { key: Some(hasher.hashed(name)), object: Some((name, 1)) };
    let mut machine = FifoQueue::new(hasher.clone());
    assert_eq!(woken(&mut machine, put("a")), (1, Wakes::ALL), "the first write syncs, too");
    assert_eq!(woken(&mut machine, put("a")), (0, 0));
    assert_eq!(woken(&mut machine, Delete(hasher.hashed("a"))), (0, 0));
    assert_eq!(woken(&mut machine, put("a")), (1, 0), "a second place");
    assert_eq!(woken(&mut machine, back("a")), (0, 0));
    assert_eq!(woken(&mut machine, back("b")), (1, 0));
    let listed = ["x", "y", "x"].map(|name| Keyed { key: hasher.hashed(name), object: (name, 1) });
    assert_eq!(woken(&mut machine, Replace(listed.to_vec().into())), (2, 0));
    assert_eq!(woken(&mut machine, Resync), (0, 0));
    assert_eq!(woken(&mut machine, Close), (Wakes::ALL, Wakes::ALL));
}

#[test]
fn who_waits_for_sync_is_woken_when_the_last_place_is_processed_or_skipped() {
    let hasher = KeyHasher::fixed(0);
    let keyed = |name| Keyed { key: hasher.hashed(name), object: (name, 1) };
    let mut machine = FifoQueue::new(hasher.clone());
    woken(&mut machine, Replace(vec![keyed("a"), keyed("b")].into()));
    woken(&mut machine, Pop::new());
    assert_eq!(woken(&mut machine, Processed { requeue: None }), (0, 0));
    woken(&mut machine, Delete(hasher.hashed("b")));
    let mut skipping = machine.clone();
    assert_eq!(woken(&mut skipping, Pop::new()), (0, Wakes::ALL), "pop goes on sleeping");
    woken(&mut machine, Put { key: Some(hasher.hashed("c")), object: Some(("c", 1)) });
    assert_eq!(woken(&mut machine, Pop::new()), (0, 0), "a held step wakes nobody");
    assert_eq!(woken(&mut machine, Processed { requeue: None }), (0, Wakes::ALL), "so this does");
}

#[test]
fn who_waits_for_sync_is_woken_by_whatever_drains_a_closed_queue() {
    let hasher = KeyHasher::fixed(0);
    let keyed = |name| Keyed { key: hasher.hashed(name), object: (name, 1) };
    let mut machine = FifoQueue::new(hasher.clone());
    woken(&mut machine, Replace(vec![keyed("a"), keyed("b"), keyed("c")].into()));
    woken(&mut machine, Replace(vec![keyed("d"), keyed("e")].into())); // too short ever to sync (FF-10)
    woken(&mut machine, Close);
    assert_eq!(woken(&mut machine, Delete(hasher.hashed("d"))), (0, 0), "one is left");
    let (mut emptied, mut popped) = (machine.clone(), machine.clone());
    assert_eq!(woken(&mut machine, Delete(hasher.hashed("e"))), (0, Wakes::ALL));
    assert_eq!(woken(&mut emptied, Replace(vec![].into())), (0, Wakes::ALL));
    woken(&mut popped, Pop::new());
    assert_eq!(woken(&mut popped, Processed { requeue: None }), (0, Wakes::ALL));
}

#[test]
fn a_pop_that_finds_only_stale_places_sleeps() {
    let hasher = KeyHasher::fixed(0);
    let mut machine = FifoQueue::new(hasher.clone());
    woken(&mut machine, Put { key: Some(hasher.hashed("a")), object: Some(("a", 1)) });
    woken(&mut machine, Delete(hasher.hashed("a")));
    let system = System::new();
    let step = Pop::new().step(&mut machine, &mut Cx::new(&system));
    assert_eq!(step, Step::Wait { on: POPPERS, until: None });
}
