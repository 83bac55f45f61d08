//! The sleepers that each call wakes, as data.

use super::*;
use crate::machine::{Cx, Operation, Step, Wakes};
use crate::store::{KeyHasher, Keyed};

type Machine = DeltaQueue<&'static str, Object, Arc<Store>>;

fn machine(known: &[Object]) -> Machine {
    DeltaQueue::new(KeyHasher::fixed(0), Some(Store::of(known)), true)
}

fn key(name: &'static str) -> Hashed<&'static str> {
    KeyHasher::fixed(0).hashed(name)
}

fn put(name: &'static str) -> Put<&'static str, Object> {
    Put { verb: Verb::Update, key: Some(key(name)), object: Some(Ok((name, 1))) }
}

fn list(names: &[&'static str]) -> Replace<&'static str, Object> {
    let keyed = |name: &&'static str| Keyed { key: key(name), object: (*name, 1) };
    Replace::new(names.iter().map(keyed).collect(), None)
}

/// Steps a call that ends in one step; returns how many sleepers of `pop` and of `wait_for_sync`
/// it wakes.
fn woken<O: Operation<Machine>>(machine: &mut Machine, mut op: O) -> (u16, u16) {
    let system = System::new();
    let mut cx = Cx::new(&system);
    assert!(!matches!(op.step(machine, &mut cx), Step::Wait { .. }));
    machine.check();
    (cx.wakes.get(POPPERS), cx.wakes.get(SYNC))
}

/// Pops an entry and ends its processing; returns the sleepers that this wakes.
fn processed(machine: &mut Machine) -> (u16, u16) {
    assert_eq!(woken(machine, Pop), (0, 0), "a held step wakes nobody");
    woken(machine, Processed { requeue: None })
}

#[test]
fn every_new_entry_wakes_one_popper_and_a_further_change_nobody() {
    let mut machine = machine(&[]);
    assert_eq!(woken(&mut machine, put("a")), (1, Wakes::ALL), "the first write syncs, too");
    assert_eq!(woken(&mut machine, put("a")), (0, 0));
    assert_eq!(woken(&mut machine, put("b")), (1, 0));
}

#[test]
fn a_list_and_a_resync_wake_one_popper_per_new_entry() {
    let mut machine = machine(&[("known", 1), ("gone", 1)]);
    assert_eq!(woken(&mut machine, Resync::new()), (2, 0));
    assert_eq!(woken(&mut machine, list(&["a", "b", "a", "known"])), (2, 0));
    let refused = EnqueueError::Transform(Arc::new(NoMetadata));
    let broken = Replace { refused: Some(refused), ..list(&["a", "c"]) };
    assert_eq!(woken(&mut machine, broken), (1, 0), "also for the objects before a refusal");
}

#[test]
fn the_last_entry_of_the_first_list_wakes_who_waits_for_it_when_it_is_processed() {
    let mut machine = machine(&[]);
    woken(&mut machine, list(&["a", "b"]));
    assert_eq!(processed(&mut machine), (0, 0));
    assert_eq!(processed(&mut machine), (0, Wakes::ALL));
    woken(&mut machine, put("c"));
    assert_eq!(processed(&mut machine), (0, 0), "once");
}

#[test]
fn an_empty_first_list_wakes_who_waits_for_it() {
    assert_eq!(woken(&mut machine(&[]), list(&[])), (0, Wakes::ALL));
}

#[test]
fn closing_wakes_everybody() {
    assert_eq!(woken(&mut machine(&[]), Close), (Wakes::ALL, Wakes::ALL));
}

#[test]
fn the_last_entry_of_a_closed_queue_wakes_who_waits_for_a_sync_in_vain() {
    let mut machine = machine(&[("a", 1), ("b", 1)]);
    woken(&mut machine, Resync::new());
    woken(&mut machine, Close);
    assert_eq!(processed(&mut machine), (0, 0));
    assert_eq!(processed(&mut machine), (0, Wakes::ALL));
}

#[test]
fn an_entry_that_goes_back_wakes_a_popper() {
    let mut machine = machine(&[]);
    woken(&mut machine, put("a"));
    woken(&mut machine, Pop);
    let deltas = Deltas::from(Delta::Added(("a", 1)));
    let requeue = AddIfAbsent { key: Some(key("a")), deltas: deltas.clone() };
    let back = Processed { requeue: Some(Box::new(requeue)) };
    assert_eq!(woken(&mut machine, back), (1, 0));
    let beside = AddIfAbsent { key: Some(key("a")), deltas: deltas.clone() };
    assert_eq!(woken(&mut machine, beside), (0, 0));
    assert_eq!(woken(&mut machine, AddIfAbsent { key: Some(key("b")), deltas }), (1, 0));
}

#[test]
fn pop_and_wait_for_sync_sleep_apart() {
    let (mut machine, system) = (machine(&[]), System::new());
    let mut cx = Cx::new(&system);
    assert_eq!(Pop.step(&mut machine, &mut cx), Step::Wait { on: POPPERS, until: None });
    assert_eq!(WaitForSync.step(&mut machine, &mut cx), Step::Wait { on: SYNC, until: None });
}

#[test]
fn a_waiter_in_vain_waits_until_the_entry_in_process_is_done() {
    let mut machine = machine(&[]);
    let refused = EnqueueError::Transform(Arc::new(NoMetadata));
    woken(&mut machine, Replace { refused: Some(refused), ..list(&["a"]) }); // no first list
    woken(&mut machine, Pop);
    woken(&mut machine, Close);
    let system = System::new();
    let waits = WaitForSync.step(&mut machine, &mut Cx::new(&system));
    assert_eq!(waits, Step::Wait { on: SYNC, until: None }, "an entry is in process");
    assert_eq!(woken(&mut machine, Processed { requeue: None }), (0, Wakes::ALL));
    assert_eq!(WaitForSync.step(&mut machine, &mut Cx::new(&system)), Step::Done(false));
}

#[test]
fn nothing_can_be_put_back() {
    let mut machine = machine(&[]);
    let nothing = AddIfAbsent { key: Some(key("a")), deltas: Deltas::new() };
    assert_eq!(woken(&mut machine, nothing), (0, Wakes::ALL), "it is a write all the same");
    assert!(machine.is_empty());
}

#[test]
fn a_state_tells_whether_anything_is_pending() {
    let mut machine = machine(&[("a", 1)]);
    assert!(machine.is_empty());
    woken(&mut machine, put("a"));
    assert!(!machine.is_empty());
}
