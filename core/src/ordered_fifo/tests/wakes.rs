//! The sleepers that each call wakes, and whether it keeps the lock, as data.

use super::*;
use crate::machine::{Cx, Operation, Step, Wakes};
use crate::store::KeyHasher;

type Machine = OrderedQueue<&'static str, Object, Arc<Store>>;

fn intake() -> Intake<&'static str, Object> {
    Intake::with_hasher(KeyHasher::fixed(0), key_of)
}

fn plain_machine(known: &[Object]) -> Machine {
    OrderedQueue::new(intake(), Mode::Plain { known: Store::of(known) }, 2)
}

fn atomic_machine(unlock_while_processing: bool) -> Machine {
    let mode = Mode::Atomic { unlock_while_processing, emit_bookmarks: true };
    OrderedQueue::new(intake(), mode, 2)
}

fn put(name: &'static str) -> Put<Object> {
    Put { verb: Verb::Update, object: Some(Ok((name, 1))) }
}

fn list(names: &[&'static str]) -> Replace<&'static str, Object> {
    let keyed = |name: &&'static str| {
        let object = (*name, 1);
        Keyed { key: intake().key(&object).unwrap(), object }
    };
    Replace { objects: names.iter().map(keyed).collect(), behind: vec![].into(), refused: None }
}

fn snapshot() -> ReplaceAll<Object> {
    ReplaceAll(Arc::new(Snapshot { resource_version: String::new(), objects: vec![] }))
}

/// Steps a call; returns its decision, and how many sleepers of `pop` and of `wait_for_sync` it
/// wakes.
fn step<O: Operation<Machine>>(machine: &mut Machine, mut op: O) -> (Step<O::Ret>, (u16, u16)) {
    let system = System::new();
    let mut cx = Cx::new(&system);
    let step = op.step(machine, &mut cx);
    machine.check();
    (step, (cx.wakes.get(POPPERS), cx.wakes.get(SYNC)))
}

fn woken<O: Operation<Machine>>(machine: &mut Machine, op: O) -> (u16, u16) {
    let (step, wakes) = step(machine, op);
    assert!(!matches!(step, Step::Wait { .. }));
    wakes
}

#[test]
fn every_event_wakes_one_popper() {
    let mut machine = plain_machine(&[("known", 1), ("gone", 1)]);
    assert_eq!(woken(&mut machine, Resync), (2, 0));
    assert_eq!(woken(&mut machine, list(&["known", "a", "b"])), (4, 0), "gone has a tombstone");
    assert_eq!(woken(&mut machine, put("a")), (1, 0));
    let delete = Delete { last: Some(Ok(LastState::Final(("a", 1)))) };
    assert_eq!(woken(&mut machine, delete), (1, 0));
    let mut machine = atomic_machine(true);
    assert_eq!(woken(&mut machine, Resync), (1, 0));
    assert_eq!(woken(&mut machine, snapshot()), (1, 0));
    let bookmark = Mark(Arc::new(Bookmark { resource_version: String::new() }));
    assert_eq!(woken(&mut machine, bookmark), (1, 0));
}

#[test]
fn the_last_event_of_the_first_list_wakes_who_waits_for_it_when_it_is_processed() {
    let mut machine = plain_machine(&[]);
    woken(&mut machine, list(&["a", "b", "c"]));
    assert_eq!(woken(&mut machine, PopBatch), (0, 0));
    assert_eq!(woken(&mut machine, Processed), (1, 0), "one event is left");
    assert_eq!(woken(&mut machine, Pop), (0, 0));
    assert_eq!(woken(&mut machine, Processed), (0, Wakes::ALL));
    assert_eq!(woken(&mut plain_machine(&[]), list(&[])), (0, Wakes::ALL));
    assert_eq!(woken(&mut plain_machine(&[]), put("a")), (1, Wakes::ALL));
}

#[test]
fn the_lock_is_released_in_atomic_mode_on_request_and_while_the_queue_is_short() {
    for (mut machine, left, held) in [
        (plain_machine(&[]), 0, true),
        (atomic_machine(false), 0, true),
        (atomic_machine(true), 3, false),
        (atomic_machine(true), 4, true),
    ] {
        let mut batched = machine.clone();
        let names = ["a", "b", "c", "d", "e", "f"];
        for name in &names[..=left] {
            woken(&mut machine, put(name));
        }
        assert_eq!(matches!(step(&mut machine, Pop).0, Step::Held(_)), held);
        for name in &names[..left + 2] {
            woken(&mut batched, put(name));
        }
        assert_eq!(matches!(step(&mut batched, PopBatch).0, Step::Held(_)), held);
    }
}

#[test]
fn a_queue_is_long_when_two_batches_are_left() {
    for (waiting, held) in [(6, false), (7, true)] {
        let mode = Mode::Atomic { unlock_while_processing: true, emit_bookmarks: true };
        let mut machine: Machine = OrderedQueue::new(intake(), mode, 3);
        for _ in 0..waiting {
            woken(&mut machine, Resync);
        }
        assert_eq!(matches!(step(&mut machine, Pop).0, Step::Held(_)), held, "RF-31");
    }
}

#[test]
fn who_waits_for_the_first_list_of_a_closed_queue_sleeps_while_the_last_is_in_process() {
    let mut machine = atomic_machine(true);
    woken(&mut machine, snapshot());
    woken(&mut machine, Pop);
    woken(&mut machine, Close);
    assert_eq!(step(&mut machine, WaitForSync).0, Step::Wait { on: SYNC, until: None });
    woken(&mut machine, Processed);
    assert_eq!(step(&mut machine, WaitForSync).0, Step::Done(true), "QU-15");
}

#[test]
fn a_consumer_that_had_to_wait_is_woken_when_the_other_is_done() {
    let mut machine = atomic_machine(true);
    woken(&mut machine, put("a"));
    woken(&mut machine, put("b"));
    assert!(matches!(step(&mut machine, Pop).0, Step::Done(Some(_))));
    assert_eq!(step(&mut machine, Pop).0, Step::Wait { on: POPPERS, until: None });
    assert_eq!(step(&mut machine, PopBatch).0, Step::Wait { on: POPPERS, until: None });
    assert_eq!(woken(&mut machine, Processed), (1, 0));
    woken(&mut machine, Pop);
    assert_eq!(woken(&mut machine, Processed), (0, 0), "nothing is left");
}

#[test]
fn closing_wakes_everybody_and_so_does_the_last_event_of_a_closed_queue() {
    let mut machine = atomic_machine(true);
    woken(&mut machine, Resync);
    woken(&mut machine, Resync);
    woken(&mut machine, Pop);
    assert_eq!(woken(&mut machine, Close), (Wakes::ALL, Wakes::ALL));
    assert_eq!(step(&mut machine, Pop).0, Step::Wait { on: POPPERS, until: None }, "one is left");
    assert_eq!(woken(&mut machine, Processed), (1, 0));
    woken(&mut machine, Pop);
    assert_eq!(step(&mut machine, Pop).0, Step::Done(None), "none is left to wait for");
    assert_eq!(woken(&mut machine, Processed), (Wakes::ALL, Wakes::ALL));
}

#[test]
fn who_waits_for_a_sync_sleeps_until_the_list_is_processed_or_none_can_come() {
    let asleep = Step::Wait { on: SYNC, until: None };
    let mut machine = plain_machine(&[]);
    assert_eq!(step(&mut machine, WaitForSync).0, asleep, "there was no list");
    woken(&mut machine, list(&["a"]));
    assert_eq!(step(&mut machine, WaitForSync).0, asleep, "nothing of it is taken");
    woken(&mut machine, Pop);
    assert_eq!(step(&mut machine, WaitForSync).0, asleep, "it is not processed");
    woken(&mut machine, Processed);
    assert_eq!(step(&mut machine, WaitForSync).0, Step::Done(true), "QU-15");
    let mut machine = plain_machine(&[]);
    assert!(machine.known().is_some() && !machine.is_closed());
    woken(&mut machine, Close);
    assert!(machine.is_closed());
    assert_eq!(step(&mut machine, WaitForSync).0, Step::Done(false));
}

#[test]
fn a_consumer_of_an_empty_queue_sleeps_until_it_is_closed() {
    let asleep = Step::Wait { on: POPPERS, until: None };
    let mut machine = atomic_machine(true);
    assert_eq!(step(&mut machine, Pop).0, asleep);
    assert!(matches!(step(&mut machine, PopBatch).0, Step::Wait { on: POPPERS, until: None }));
    woken(&mut machine, Close);
    assert_eq!(step(&mut machine, Pop).0, Step::Done(None), "QU-2");
    assert_eq!(step(&mut machine, PopBatch).0, Step::Done(None));
}

#[test]
fn a_batch_size_of_nothing_is_one() {
    let mode = Mode::Plain { known: Store::of(&[]) };
    let mut machine = OrderedQueue::new(intake(), mode, 0);
    woken(&mut machine, put("a"));
    woken(&mut machine, put("b"));
    let Step::Held(Some(batch)) = step(&mut machine, PopBatch).0 else {
        panic!("there is a batch, and plain mode keeps its lock");
    };
    assert_eq!((batch.events.len(), batch.left), (1, 1));
}

#[test]
fn a_queue_shows_how_much_waits_and_how_it_was_made() {
    let mut machine = atomic_machine(true);
    woken(&mut machine, Resync);
    let shown = format!("{machine:?}");
    assert!(shown.contains("waiting: 1") && shown.contains("closed: false"), "{shown}");
    let shown = format!("{:?}", Options::default());
    assert!(shown.contains("atomic: true") && shown.contains("batch_size: 1000"), "{shown}");
    assert_eq!(format!("{:?}", atomic()), "OrderedFifo");
}
