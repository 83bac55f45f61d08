//! Ends, bad input and foreign code that fails.

use crate::events::Stopwatch;
use crate::events::fixtures::slow_hook;
use std::sync::OnceLock;
use std::time::Duration;

use super::*;
use crate::runtime::probe::{Probe, Probing};
use crate::runtime::{Ambient, Manual};

#[test]
fn who_waits_in_vain_is_woken_when_the_last_object_of_a_closed_queue_is_processed() {
    let hasher = KeyHasher::fixed(0);
    let keyed = |name| Keyed { key: hasher.hashed(name), object: (name, 1) };
    let mut machine = FifoQueue::new(hasher.clone());
    woken(&mut machine, Replace(vec![keyed("a"), keyed("b")].into()));
    woken(&mut machine, Replace(vec![keyed("c")].into())); // one place of the first list is never taken
    woken(&mut machine, Pop::new());
    woken(&mut machine, Close);
    let system = System::new();
    let step = WaitForSync.step(&mut machine, &mut Cx::new(&system));
    assert_eq!(step, Step::Wait { on: SYNC, until: None }, "an object is in process");
    assert_eq!(woken(&mut machine, Processed { requeue: None }), (0, Wakes::ALL));
    let step = WaitForSync.step(&mut machine, &mut Cx::new(&system));
    assert_eq!(step, Step::Done(false));
}

#[test]
fn who_waits_for_the_first_list_of_a_closed_queue_sleeps_while_an_object_of_it_waits() {
    let hasher = KeyHasher::fixed(0);
    let mut machine = FifoQueue::new(hasher.clone());
    woken(&mut machine, Replace(vec![Keyed { key: hasher.hashed("a"), object: ("a", 1) }].into()));
    woken(&mut machine, Close);
    let system = System::new();
    let step = WaitForSync.step(&mut machine, &mut Cx::new(&system));
    assert_eq!(step, Step::Wait { on: SYNC, until: None }, "it can still be processed");
}

#[test]
fn an_object_under_the_hash_of_another_key_is_noticed() {
    let mut machine = FifoQueue::new(KeyHasher::fixed(0));
    let key = Some(KeyHasher::fixed(1).hashed("a"));
    let put = AssertUnwindSafe(|| woken(&mut machine, Put { key, object: Some(("a", 1)) }));
    assert!(catch_unwind(put).is_err());
}

#[test]
fn a_queue_shows_what_it_is() {
    let intake = Intake::<&'static str, Object>::with_hasher(KeyHasher::fixed(0), key_of);
    assert!(format!("{intake:?}").contains("transform: false"), "{intake:?}");
    let intake = intake.with_transform(Ok);
    assert!(format!("{intake:?}").contains("transform: true"), "{intake:?}");
    let mut machine = FifoQueue::new(KeyHasher::fixed(0));
    let key = Some(KeyHasher::fixed(0).hashed("a"));
    woken(&mut machine, Put { key, object: Some(("a", 1)) });
    assert!(format!("{machine:?}").contains("waiting: 1"), "{machine:?}");
    assert_eq!(format!("{:?}", queue()), "Fifo");
}

#[test]
fn putting_an_object_back_is_a_write() {
    let hasher = KeyHasher::fixed(0);
    let mut machine = FifoQueue::new(hasher.clone());
    let back = AddIfAbsent { key: Some(hasher.hashed("a")), object: Some(("a", 1)) };
    assert_eq!(woken(&mut machine, back), (1, Wakes::ALL));
    assert!(machine.latch().is_set());
}

#[test]
fn entries_that_are_free_are_used_again() {
    let hasher = KeyHasher::fixed(0);
    let put = |name| Put { key: Some(hasher.hashed(name)), object: Some((name, 1)) };
    let mut machine = FifoQueue::new(hasher.clone());
    for name in ["a", "b", "c"] {
        woken(&mut machine, put(name));
    }
    for _ in 0..3 {
        woken(&mut machine, Pop::new());
        woken(&mut machine, Processed { requeue: None });
    }
    woken(&mut machine, put("d"));
    woken(&mut machine, put("e"));
    assert_eq!(machine.iter().map(|(name, _)| *name).collect::<Vec<_>>(), ["d", "e"]);
}

#[test]
fn slow_is_a_tenth_of_a_second_each_and_a_second_at_most() {
    const JUST_LESS: Duration = Duration::from_nanos(1);
    let clock = Manual::seeded(1);
    let start = |left, entries| Stopwatch::start(true, &clock, || "a".to_owned(), left, entries);
    for (entries, millis) in [(1, 100), (3, 300), (10, 1000), (50, 1000)] {
        let limit = Duration::from_millis(millis);
        let (early, late) = (start(11, entries).unwrap(), start(11, entries).unwrap());
        clock.advance(limit - JUST_LESS);
        assert_eq!(early.stop(&clock), None, "{entries} entries");
        clock.advance(JUST_LESS);
        let slow = late.stop(&clock).unwrap();
        assert_eq!((slow.took, slow.left), (limit, 11), "{entries} entries");
    }
    assert!(start(10, 1).is_none(), "few wait");
    assert!(Stopwatch::start(false, &clock, String::new, 11, 1).is_none(), "nobody asks");
}

#[test]
fn slow_processing_is_told_when_many_wait() {
    let clock = Manual::seeded(1);
    let probe = Arc::<Probe>::default();
    let (hook, told) = slow_hook(&probe);
    let intake = Intake::new(&clock, key_of);
    let options = Options { on_slow: Some(hook) };
    assert_eq!(format!("{options:?}"), "Options { on_slow: true }");
    let queue = Arc::new(Fifo::with_options(&clock, intake, options));
    let asked = Arc::clone(&queue);
    probe.calls(move || _ = asked.len());
    let names = ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l", "m"];
    queue.replace(names.map(|name| (name, 1)).to_vec()).unwrap();
    queue.pop(|_| clock.advance(Duration::from_millis(99))).unwrap();
    queue.pop(|_| clock.advance(Duration::from_millis(100))).unwrap();
    queue.pop(|_| clock.advance(Duration::from_millis(100))).unwrap(); // only ten are left
    queue.replace(names.map(|name| (name, 2)).to_vec()).unwrap();
    let slow = queue.pop_async(|_| clock.advance(Duration::from_millis(100)));
    System::new().block_on(slow).unwrap();
    let told: Vec<_> = told.lock().drain(..).map(|slow| (slow.key, slow.left)).collect();
    assert_eq!(told, [("b", 11), ("a", 12)].map(|(name, left)| (format!("{name:?}"), left)));
    assert_eq!(probe.ends(), (2, 2), "it is told when the lock is released");
}

/// An object whose copies take a second each.
#[derive(Debug)]
struct Dear(u32, Manual);

impl Clone for Dear {
    fn clone(&self) -> Self {
        self.1.advance(Duration::from_secs(1));
        Self(self.0, self.1.clone())
    }
}

#[test]
fn what_putting_back_takes_is_no_slow_processing() {
    let clock = Manual::seeded(1);
    let hook = Arc::new(|slow| panic!("nothing is slow: {slow:?}"));
    let intake = Intake::new(&clock, |object: &Dear| Ok(object.0));
    let queue = Fifo::with_options(&clock, intake, Options { on_slow: Some(hook) });
    queue.replace((0..20).map(|key| Dear(key, clock.clone())).collect()).unwrap();
    let before = clock.now();
    queue.pop_or_requeue(|_| (AfterPop::Requeue, ())).unwrap();
    assert!(clock.now() > before, "it was copied");
    assert_eq!(queue.len(), 20);
}

#[test]
fn a_key_function_may_ask_its_own_queue() {
    let asked: Arc<OnceLock<Fifo<u32, u32>>> = Arc::default();
    let itself = Arc::clone(&asked);
    let queue = Fifo::new(&System::new(), move |object: &u32| {
        Ok(*object + itself.get().map_or(0, |queue| queue.len() as u32))
    });
    let queue = asked.get_or_init(|| queue);
    queue.add(1).unwrap();
    queue.add(1).unwrap();
    let keys = queue.list().into_iter().map(|(key, _)| key);
    assert_eq!(keys.collect::<Vec<_>>(), [1, 2], "no lock is held while it is asked");
}

#[test]
fn a_panicking_key_function_leaves_the_queue_as_it_was() {
    let queue = Fifo::new(&System::new(), |object: &Object| {
        assert!(object.0 != "bomb", "a bug");
        key_of(object)
    });
    queue.replace(vec![("a", 1)]).unwrap();
    let attempts: [&dyn Fn(); 4] = [
        &|| drop(queue.add(("bomb", 1))),
        &|| drop(queue.delete(("bomb", 1))),
        &|| drop(queue.replace(vec![("b", 1), ("bomb", 1)])),
        &|| drop(queue.add_if_absent(("bomb", 1))),
    ];
    for attempt in attempts {
        assert!(catch_unwind(AssertUnwindSafe(attempt)).is_err());
    }
    assert_eq!(drain(&queue), [("a", 1)]);
    assert!(queue.has_synced());
}

#[test]
fn what_a_list_replaces_is_handed_to_the_call_which_drops_it_without_the_lock() {
    let hasher = KeyHasher::fixed(0);
    let keyed = |name, version| Keyed { key: hasher.hashed(name), object: (name, version) };
    let mut machine = FifoQueue::new(hasher.clone());
    woken(&mut machine, Replace(vec![keyed("a", 1), keyed("b", 1), keyed("c", 1)].into()));
    woken(&mut machine, Pop::new());
    woken(&mut machine, Processed { requeue: None });
    let mut replace = Replace(vec![keyed("c", 2), keyed("d", 1), keyed("d", 2)].into());
    let system = System::new();
    assert_eq!(replace.step(&mut machine, &mut Cx::new(&system)), Step::Done(()));
    machine.check();
    let left: Vec<_> = replace.0.iter().map(|keyed| keyed.object).collect();
    assert_eq!(left, [("b", 1), ("c", 1), ("d", 1)]);
    assert!(replace.0.iter().all(|keyed| *keyed.key.key() == keyed.object.0));
    assert_eq!(machine.iter().map(|(_, object)| *object).collect::<Vec<_>>(), [("c", 2), ("d", 2)]);
}

#[test]
fn keys_and_objects_that_leave_are_dropped_without_the_lock() {
    let probe = Arc::<Probe>::default();
    let queue = Arc::new(Fifo::new(&System::new(), |object: &Probing| Ok(object.clone())));
    let new = |number| Probing(number, Arc::clone(&probe));
    queue.replace(vec![new(1), new(2), new(3)]).unwrap();
    let asked = Arc::clone(&queue);
    probe.calls(move || _ = asked.len());
    queue.add(new(1)).unwrap();
    queue.add_if_absent(new(1)).unwrap();
    queue.replace(vec![new(1), new(4), new(4)]).unwrap();
    drop(queue.pop(|_| ()).unwrap());
    queue.delete(new(4)).unwrap();
    probe.all_got_through();
}

#[test]
fn a_hook_that_panics_takes_neither_the_object_nor_the_answer_from_the_caller() {
    let clock = Manual::seeded(1);
    let hook = Arc::new(|_| panic!("a bug of the hook"));
    let intake = Intake::new(&clock, |object: &u32| Ok(*object));
    let queue = Fifo::with_options(&clock, intake, Options { on_slow: Some(hook) });
    queue.replace((0..20).collect()).unwrap();
    let slow = |_: &Popped<u32, u32>| clock.advance(Duration::from_secs(1));
    let (popped, ()) = queue.pop(slow).unwrap();
    assert_eq!(popped.object, 0);
    let taken = queue.pop_or_requeue(|popped| {
        slow(popped);
        (AfterPop::Requeue, "the answer")
    });
    assert_eq!(taken.unwrap().1, "the answer");
    let (popped, ()) = System::new().block_on(queue.pop_async(slow)).unwrap();
    assert_eq!((popped.object, queue.len()), (2, 18), "1 was put back");
}
