//! Very many stale places: those of objects that were deleted.

use super::*;
use crate::machine::AT_ONCE;
use crate::machine::single_step::Stepped;
use crate::runtime::bell::{Bell, poll};
use crate::runtime::probe::{Probe, Probing};

type Queue = Stepped<FifoQueue<usize, usize>>;

/// Adds an object, which takes a place, and deletes it.
fn leave_stale(queue: &mut Queue, key: usize) {
    let hasher = KeyHasher::fixed(0);
    queue.call(Put { key: Some(hasher.hashed(key)), object: Some(key) });
    assert_eq!(queue.call(Delete(hasher.hashed(key))), Some(key));
}

/// Makes a queue whose first list has this many objects, all of which are deleted.
fn stale(count: usize) -> Queue {
    let hasher = KeyHasher::fixed(0);
    let mut queue = Stepped::new(FifoQueue::new(hasher.clone()));
    let listed = (0..count).map(|key| Keyed { key: hasher.hashed(key), object: key });
    queue.call(Replace(listed.collect()));
    (0..count).for_each(|key| assert_eq!(queue.call(Delete(hasher.hashed(key))), Some(key)));
    queue
}

/// One step of a pop: what it returns, and how many that wait for the first list it wakes.
fn step(pop: &mut Pop<usize>, queue: &mut Queue) -> (Step<Option<Popped<usize, usize>>>, u16) {
    let mut cx = Cx::new(&queue.clock);
    let step = pop.step(&mut queue.machine, &mut cx);
    queue.machine.check();
    (step, cx.wakes.get(SYNC))
}

const ASLEEP: Step<Option<Popped<usize, usize>>> = Step::Wait { on: POPPERS, until: None };

#[test]
fn a_pop_behind_very_many_stale_places_takes_several_steps() {
    let count = 2 * AT_ONCE + 1;
    let (mut queue, mut pop) = (stale(count), Pop::new());
    queue.call(Put { key: Some(KeyHasher::fixed(0).hashed(1_000)), object: Some(1_000) });
    for skipped in [AT_ONCE, 2 * AT_ONCE] {
        assert_eq!(step(&mut pop, &mut queue), (Step::again(POPPERS), 0));
        assert_eq!((pop.stale.len(), queue.machine.latch().is_set()), (skipped, false));
    }
    let (last, woken) = step(&mut pop, &mut queue);
    let Step::Held(Some(popped)) = last else { panic!("{last:?}") };
    assert_eq!((popped.object, popped.initial, woken), (1_000, false, 0));
    assert!(pop.stale.iter().copied().eq(0..count), "they are dropped with the call");
    assert!(queue.machine.latch().is_set());
    queue.call(Processed { requeue: None });
    assert_eq!(queue.woken.get(SYNC), Wakes::ALL, "it tells what the held step could not");
}

#[test]
fn a_pop_of_stale_places_alone_sets_the_latch_with_the_last_one() {
    for (count, steps) in [(AT_ONCE - 1, 1), (AT_ONCE, 1), (AT_ONCE + 1, 2), (3 * AT_ONCE, 3)] {
        let (mut queue, mut pop) = (stale(count), Pop::new());
        for _ in 1..steps {
            assert_eq!(step(&mut pop, &mut queue), (Step::again(POPPERS), 0), "{count}");
        }
        assert_eq!(step(&mut pop, &mut queue), (ASLEEP, Wakes::ALL), "{count}");
        assert_eq!((pop.stale.len(), queue.machine.latch().is_set()), (count, true));
    }
}

#[test]
fn the_first_list_is_over_with_its_last_place_although_more_stale_ones_follow() {
    let (mut queue, mut pop) = (stale(1), Pop::new());
    (1..=2 * AT_ONCE).for_each(|key| leave_stale(&mut queue, key));
    assert_eq!(step(&mut pop, &mut queue), (Step::again(POPPERS), Wakes::ALL));
    assert!(queue.machine.latch().is_set());
    assert_eq!(step(&mut pop, &mut queue), (Step::again(POPPERS), 0), "they know it");
    assert_eq!(step(&mut pop, &mut queue), (ASLEEP, 0));
}

#[test]
fn a_key_goes_with_its_last_stale_place() {
    let (mut queue, mut pop) = (stale(1), Pop::new());
    leave_stale(&mut queue, 0);
    assert_eq!(step(&mut pop, &mut queue).0, ASLEEP, "both places are gone");
    assert_eq!(**pop.stale, [0], "once");
}

#[test]
fn who_pops_gets_the_object_behind_very_many_stale_places() {
    let count = u8::MAX;
    let [probe, silent]: [Arc<Probe>; 2] = Default::default();
    let queue = Arc::new(Fifo::new(&System::new(), |object: &Probing| Ok(object.clone())));
    let new = |number| Probing(number, Arc::clone(if number == 200 { &probe } else { &silent }));
    queue.replace((0..count).map(new).collect()).unwrap();
    (0..count).for_each(|number| drop(queue.delete(new(number))));
    let bell = Arc::<Bell>::default();
    let mut first_list = std::pin::pin!(queue.wait_for_sync_async());
    assert!(poll(first_list.as_mut(), &bell).is_pending());
    queue.add(new(count)).unwrap();
    let asked = Arc::clone(&queue);
    probe.calls(move || _ = asked.len());
    let (popped, initial) = queue.pop(|popped| popped.initial).unwrap();
    assert_eq!(probe.ends(), (1, 1), "a key of a stale place is dropped without the lock");
    assert_eq!((popped.object.0, initial, bell.rings()), (count, false, 1));
    assert!(poll(first_list.as_mut(), &bell).is_ready() && queue.has_synced());
}
