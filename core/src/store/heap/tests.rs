//! The rules of the keyed heap, one behaviour a test.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::task::Poll;

use super::*;
use crate::machine::{Cx, Operation, Step, Wakes};
use crate::runtime::bell::{Bell, poll};
use crate::runtime::probe::{Probe, Probing};
use crate::store::tests::{Object, key_of};
use crate::store::{KeyHasher, NoMetadata};

/// Compares by rank; panics for rank 99.
fn less(one: &Object, other: &Object) -> bool {
    assert!(one.1 != 99 && other.1 != 99, "the order has a bug");
    one.1 < other.1
}

fn heap() -> KeyedHeap<&'static str, Object> {
    KeyedHeap::new(&System::new(), key_of, less)
}

fn pop(heap: &KeyedHeap<&'static str, Object>) -> Object {
    assert!(!heap.is_empty(), "a pop would sleep");
    heap.pop().unwrap()
}

#[test]
fn the_least_comes_first_and_an_update_finds_its_new_place() {
    let heap = heap();
    for object in [("a", 5), ("b", 3), ("c", 8), ("d", 1), ("e", 9)] {
        heap.add(object).unwrap();
    }
    heap.update(("d", 7)).unwrap();
    heap.add(("e", 2)).unwrap();
    assert_eq!(heap.len(), 5);
    let order: Vec<_> = (0..5).map(|_| pop(&heap)).collect();
    assert_eq!(order, [("e", 2), ("b", 3), ("a", 5), ("d", 7), ("c", 8)]);
}

#[test]
fn adding_if_absent_keeps_what_is_there() {
    let heap = heap();
    heap.add_if_absent(("a", 5)).unwrap();
    heap.add_if_absent(("a", 1)).unwrap();
    assert_eq!(heap.get(&"a"), Some(("a", 5)));
}

#[test]
fn deleting_takes_out_by_key_and_a_missing_one_is_an_error() {
    let heap = heap();
    for rank in 0..20 {
        heap.add((["a", "b", "c", "d", "e"][rank as usize % 5], rank)).unwrap();
    }
    assert_eq!(heap.delete(&("b", 0)).unwrap(), ("b", 16));
    assert!(matches!(heap.delete(&("b", 0)), Err(HeapError::NotFound)));
    assert!(matches!(heap.delete(&("", 0)), Err(HeapError::Key(_))));
    assert_eq!(heap.get(&"b"), None);
    let mut left = heap.list();
    left.sort_unstable();
    assert_eq!(left.len(), 4);
    assert_eq!(left[0], ("a", ("a", 15)));
}

#[test]
fn whatever_comes_and_goes_the_least_comes_first() {
    let hasher = KeyHasher::fixed(0);
    let mut machine = HeapQueue::<u32, (u32, u32)>::new(Arc::new(|one, other| one.1 < other.1));
    let (mut plain, mut random) = (std::collections::BTreeMap::new(), 1_u32);
    for _ in 0..2_000 {
        random = random.wrapping_mul(747_796_405).wrapping_add(2_891_336_453);
        let (key, rank, wakes) = (random >> 8 & 31, random >> 16, &mut Wakes::default());
        match random >> 29 {
            0..4 => {
                let before = machine.put(&mut Some(hasher.hashed(key)), (key, rank), wakes);
                assert_eq!(before.map(|object| object.1), plain.insert(key, rank));
            }
            4 | 5 => {
                let taken = machine.delete(&hasher.hashed(key)).map(|(_, object)| object.1);
                assert_eq!(taken, plain.remove(&key));
            }
            _ => {
                let least = plain.values().min().copied();
                let taken = machine.pop().map(|(_, object)| object);
                assert_eq!(taken.map(|object| object.1), least);
                taken.map(|object| plain.remove(&object.0));
            }
        }
        machine.check();
        assert_eq!(machine.len(), plain.len());
    }
}

#[test]
fn a_key_function_may_ask_its_own_heap() {
    let asked: Arc<std::sync::OnceLock<KeyedHeap<u32, u32>>> = Arc::default();
    let itself = Arc::clone(&asked);
    let key_of = move |object: &u32| {
        Ok(*object + itself.get().map_or(0, |heap| u32::try_from(heap.len()).unwrap_or(0)))
    };
    let heap = KeyedHeap::new(&System::new(), key_of, |one, other| one < other);
    let heap = asked.get_or_init(|| heap);
    heap.add(7).unwrap();
    heap.add(7).unwrap();
    assert_eq!(heap.len(), 2, "no lock is held while a key is asked for");
}

#[test]
fn a_closed_heap_is_drained_and_takes_nothing() {
    let heap = heap();
    heap.add(("a", 1)).unwrap();
    heap.close();
    assert!(heap.is_closed());
    assert!(matches!(heap.add(("b", 1)), Err(HeapError::Closed)));
    assert!(matches!(heap.update(("a", 2)), Err(HeapError::Closed)));
    assert!(matches!(heap.add_if_absent(("b", 1)), Err(HeapError::Closed)));
    assert!(matches!(heap.add(("", 1)), Err(HeapError::Key(_))), "the key is looked at first");
    assert!(matches!(heap.bulk_add(vec![("", 1)]), Err(HeapError::Closed)), "here the lock");
    assert_eq!(pop(&heap), ("a", 1));
    assert!(matches!(heap.pop(), Err(HeapError::Closed)));
}

#[test]
fn close_wakes_every_sleeper() {
    let runtime = System::new();
    let heap = Arc::new(heap());
    let sleepers: Vec<_> = (0..3)
        .map(|_| {
            let heap = Arc::clone(&heap);
            runtime.spawn("popper", move || heap.pop().is_err())
        })
        .collect();
    heap.close();
    for sleeper in sleepers {
        assert!(runtime.join(sleeper).unwrap());
    }
}

#[test]
fn adding_many_stops_at_the_first_without_a_key_and_keeps_those_before() {
    let heap = heap();
    let error = heap.bulk_add(vec![("a", 2), ("b", 1), ("", 0), ("c", 0)]).unwrap_err();
    assert!(matches!(error, HeapError::Key(_)), "{error}");
    assert_eq!(heap.len(), 2);
    assert_eq!(pop(&heap), ("b", 1));
}

#[test]
fn a_panicking_order_leaves_the_heap_as_it_was() {
    let heap = heap();
    for object in [("a", 5), ("b", 3), ("c", 8), ("d", 1)] {
        heap.add(object).unwrap();
    }
    for object in [("x", 99), ("a", 99)] {
        assert!(catch_unwind(AssertUnwindSafe(|| heap.add(object))).is_err());
    }
    let order: Vec<_> = (0..4).map(|_| pop(&heap)).collect();
    assert_eq!(order, [("d", 1), ("b", 3), ("a", 5), ("c", 8)]);
}

#[test]
fn what_left_the_heap_is_not_kept_alive() {
    let by_value = |one: &Arc<u32>, other: &Arc<u32>| one < other;
    let heap = KeyedHeap::new(&System::new(), |object: &Arc<u32>| Ok(**object), by_value);
    let objects = [Arc::new(1), Arc::new(2), Arc::new(2)];
    for object in &objects {
        heap.add(Arc::clone(object)).unwrap();
    }
    drop(heap.pop().unwrap());
    drop(heap.delete(&objects[2]).unwrap());
    assert_eq!(objects.map(|object| Arc::strong_count(&object)), [1, 1, 1]);
}

/// Steps a call that ends in one step; returns how many sleepers it wakes.
fn woken<O: Operation<HeapQueue<&'static str, Object>>>(
    machine: &mut HeapQueue<&'static str, Object>,
    mut op: O,
) -> u16 {
    let system = System::new();
    let mut cx = Cx::new(&system);
    drop(op.step(machine, &mut cx));
    machine.check();
    cx.wakes.get(POPPERS)
}

#[test]
fn every_new_object_wakes_one_popper_also_in_front_of_a_refusal() {
    let hasher = KeyHasher::fixed(0);
    let put = |name| Put { key: Some(hasher.hashed(name)), object: Some((name, 1)) };
    let keyed = |name| Keyed { key: hasher.hashed(name), object: (name, 1) };
    let mut machine = HeapQueue::new(Arc::new(less));
    assert_eq!(woken(&mut machine, put("a")), 1);
    assert_eq!(woken(&mut machine, put("a")), 0);
    let absent = AddIfAbsent { key: Some(hasher.hashed("b")), object: Some(("b", 1)) };
    assert_eq!(woken(&mut machine, absent.clone()), 1);
    assert_eq!(woken(&mut machine, absent), 0);
    let refused = Some(KeyError::new(&"nothing", Arc::new(NoMetadata)));
    let bulk = BulkAdd { objects: vec![keyed("c"), keyed("a"), keyed("d")].into(), refused };
    assert_eq!(woken(&mut machine, bulk), 2, "HP-3");
    assert_eq!(woken(&mut machine, Close), Wakes::ALL);
}

#[test]
fn what_a_bulk_add_replaces_is_handed_to_the_call_which_drops_it_without_the_lock() {
    let hasher = KeyHasher::fixed(0);
    let keyed = |name, rank| Keyed { key: hasher.hashed(name), object: (name, rank) };
    let mut machine = HeapQueue::new(Arc::new(less));
    woken(
        &mut machine,
        BulkAdd { objects: vec![keyed("a", 1), keyed("b", 1)].into(), refused: None },
    );
    let objects = vec![keyed("c", 1), keyed("a", 2), keyed("c", 2)];
    let mut bulk = BulkAdd { objects: objects.into(), refused: None };
    let system = System::new();
    assert!(matches!(bulk.step(&mut machine, &mut Cx::new(&system)), Step::Done(Ok(()))));
    machine.check();
    let left: Vec<_> = bulk.objects.iter().map(|keyed| keyed.object).collect();
    assert_eq!(left, [("a", 1), ("c", 1)]);
}

#[test]
fn pop_of_an_empty_open_heap_sleeps() {
    let mut machine = HeapQueue::<&'static str, Object>::new(Arc::new(less));
    let system = System::new();
    let step = Pop.step(&mut machine, &mut Cx::new(&system));
    assert_eq!(step, Step::Wait { on: POPPERS, until: None });
}

#[test]
fn a_heap_tells_whether_it_is_empty_and_closed() {
    let heap = heap();
    assert!(heap.is_empty() && !heap.is_closed());
    heap.add(("a", 1)).unwrap();
    assert!(!heap.is_empty());
    heap.close();
    assert!(heap.is_closed() && !heap.is_empty());
}

#[test]
fn a_refusal_names_its_cause() {
    use std::error::Error;

    let error = heap().add(("", 1)).unwrap_err();
    assert_eq!(error.source().expect("it has no key").to_string(), "object has no meta");
    assert!(HeapError::Closed.source().is_none() && HeapError::NotFound.source().is_none());
}

#[test]
fn an_order_that_changes_its_mind_is_noticed() {
    let turned = Arc::new(std::sync::atomic::AtomicBool::new(false));
    let order = Arc::clone(&turned);
    let mut machine = HeapQueue::new(Arc::new(move |one: &Object, other: &Object| {
        (one.1 < other.1) ^ order.load(std::sync::atomic::Ordering::Relaxed)
    }));
    assert!(machine.is_empty());
    let hasher = KeyHasher::fixed(0);
    for (name, rank) in [("a", 1), ("b", 2), ("c", 3)] {
        let put = Put { key: Some(hasher.hashed(name)), object: Some((name, rank)) };
        woken(&mut machine, put);
    }
    assert!(!machine.is_empty());
    assert!(format!("{machine:?}").contains("len: 3"), "{machine:?}");
    assert_eq!(format!("{:?}", heap()), "KeyedHeap");
    turned.store(true, std::sync::atomic::Ordering::Relaxed);
    assert!(catch_unwind(AssertUnwindSafe(|| machine.check())).is_err());
}

#[test]
fn keys_and_objects_that_leave_are_dropped_without_the_lock() {
    let probe = Arc::<Probe>::default();
    let heap =
        KeyedHeap::new(&System::new(), |it: &Probing| Ok(it.clone()), |one, other| one < other);
    let heap = Arc::new(heap);
    let new = |number| Probing(number, Arc::clone(&probe));
    heap.bulk_add(vec![new(1), new(2), new(3)]).unwrap();
    let asked = Arc::clone(&heap);
    probe.calls(move || _ = asked.len());
    heap.add(new(1)).unwrap();
    heap.add_if_absent(new(1)).unwrap();
    heap.bulk_add(vec![new(2), new(4), new(4)]).unwrap();
    drop(heap.delete(&new(3)).unwrap());
    drop(heap.pop().unwrap());
    heap.close();
    assert!(heap.add(new(5)).is_err());
    probe.all_got_through();
}

#[test]
fn the_least_object_is_awaited() {
    let (heap, bell) = (heap(), Arc::<Bell>::default());
    let (mut gone, mut popped) = (Box::pin(heap.pop_async()), pin!(heap.pop_async()));
    assert!(poll(gone.as_mut(), &Arc::default()).is_pending());
    assert!(poll(popped.as_mut(), &bell).is_pending());
    heap.add(("a", 1)).unwrap();
    drop(gone);
    assert_eq!(bell.rings(), 1, "who gives up passes its wake-up on");
    assert!(matches!(poll(popped.as_mut(), &bell), Poll::Ready(Ok(("a", 1)))));
    let mut last = pin!(heap.pop_async());
    assert!(poll(last.as_mut(), &bell).is_pending());
    heap.close();
    assert!(matches!(poll(last.as_mut(), &bell), Poll::Ready(Err(HeapError::Closed))), "HP-2");
}
