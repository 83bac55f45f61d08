//! Small concurrent programs on the heap, each named by the case that it must reach.

mod together;

use std::sync::Arc;

use seatrial_core::machine::Step;
use seatrial_core::runtime::Runtime;
use seatrial_core::store::heap::{Op, Ret};
use seatrial_core::store::{Intake, KeyHasher, KeyedHeap};

use super::{Event, Heap};
use crate::engine::AnyRuntime;
use crate::events::fixtures::{Bed, Object, key_of};
use crate::queues::fixtures::caller;
use crate::stores::fixtures::Followed;
use crate::trial::{Join, Ledger as _, Scenario, What, World};

pub(super) fn all() -> Vec<Scenario<Heap>> {
    vec![
        two_consumers(),
        replaced_while_waiting(),
        deleted_while_waiting(),
        gap_among_many(),
        added_if_absent(),
        together::many_for_two(),
        together::added_together(),
        together::many_with_a_bad_one(),
        readers_between(),
        close_while_two_wait(),
        close_with_objects_left(),
        task_and_thread(),
        dropped_popper(),
    ]
}

type Led = Followed<Heap>;
type Tried = Arc<KeyedHeap<u8, Object, AnyRuntime>>;

fn heap(world: &World<Heap>) -> Tried {
    let intake = Intake::with_hasher(KeyHasher::fixed(7), key_of);
    Arc::new(KeyedHeap::with_host(world.runtime(), intake, world.machine()))
}

/// A thread that pops until the heap is closed and empty.
fn consumer(world: &World<Heap>, name: &str, heap: &Tried) -> Join<()> {
    caller(world, name, heap, |heap| while heap.pop().is_ok() {})
}

/// A thread that pops once.
fn popper(world: &World<Heap>, name: &str, heap: &Tried) -> Join<()> {
    caller(world, name, heap, |heap| drop(heap.pop()))
}

fn add(heap: &Tried, object: Object) {
    heap.add(object).expect("the object has a key, and the heap is open");
}

/// Waits until no thread can move, closes the heap and joins the threads.
fn end(world: &World<Heap>, heap: &Tried, threads: impl IntoIterator<Item = Join<()>>) {
    world.quiesce();
    heap.close();
    threads.into_iter().for_each(|thread| world.join(thread));
}

/// Returns how many consumers sleep.
fn sleepers(before: &Led) -> usize {
    before.asleep.count(Bed::Pop)
}

fn steps(event: &Event, call: impl Fn(&Op<u8, Object>) -> bool) -> bool {
    matches!(&event.what, What::Step { op, .. } if call(op))
}

/// One of many objects is deleted. The last node, which fills the gap, must rise from there.
fn gap_among_many() -> Scenario<Heap> {
    Scenario::new(
        "gap_among_many",
        "one of seven objects is deleted while a caller reads, and all others are taken",
        |world| {
            let heap = heap(world);
            for object in [(1, 1), (2, 10), (3, 2), (4, 11), (5, 12), (6, 3), (7, 4)] {
                add(&heap, object);
            }
            let reader = caller(world, "reader", &heap, |heap| drop(heap.list()));
            heap.delete(&(4, 11)).expect("the object is there");
            add(&heap, (8, 20));
            let consumer = consumer(world, "consumer", &heap);
            end(world, &heap, [reader, consumer]);
        },
        |history| {
            Led::some(history, |before, event| {
                steps(event, |op| matches!(op, Op::Delete(_))) && before.plain.items.len() == 7
            })
        },
    )
}

/// Two consumers wait for two objects.
fn two_consumers() -> Scenario<Heap> {
    Scenario::new(
        "two_consumers",
        "two consumers take three objects, the least one first",
        |world| {
            let heap = heap(world);
            let consumers = ["first", "second"].map(|name| popper(world, name, &heap));
            add(&heap, (1, 5));
            add(&heap, (2, 3));
            add(&heap, (3, 4));
            end(world, &heap, consumers);
        },
        // A pop finds two objects, and an object comes while both consumers sleep.
        |history| {
            Led::some(history, |before, event| {
                steps(event, |op| matches!(op, Op::Pop(_))) && before.plain.items.len() == 2
            }) && Led::some(history, |before, event| {
                steps(event, |op| matches!(op, Op::Put(_))) && sleepers(before) == 2
            })
        },
    )
}

/// An object gets another rank while it waits.
fn replaced_while_waiting() -> Scenario<Heap> {
    Scenario::new(
        "replaced_while_waiting",
        "objects change their rank, up and down, while a consumer pops",
        |world| {
            let heap = heap(world);
            let consumer = consumer(world, "consumer", &heap);
            add(&heap, (1, 5));
            add(&heap, (2, 3));
            add(&heap, (1, 1));
            add(&heap, (2, 7));
            end(world, &heap, [consumer]);
        },
        // Both objects are there when the first is replaced.
        |history| {
            Led::some(history, |before, event| {
                let again =
                    |op: &Op<_, _>| matches!(op, Op::Put(put) if put.object == Some((1, 1)));
                steps(event, again) && before.plain.items.len() == 2
            })
        },
    )
}

/// An object is deleted while it waits, or after it was taken.
fn deleted_while_waiting() -> Scenario<Heap> {
    Scenario::new(
        "deleted_while_waiting",
        "an object is deleted while it waits, or after it was taken",
        |world| {
            let heap = heap(world);
            add(&heap, (1, 1));
            add(&heap, (2, 2));
            let consumer = consumer(world, "consumer", &heap);
            drop(heap.delete(&(1, 0)));
            end(world, &heap, [consumer]);
        },
        // The deletion finds the object still waiting.
        |history| {
            Led::some(history, |before, event| {
                steps(event, |op| matches!(op, Op::Delete(_))) && before.plain.items.len() == 2
            })
        },
    )
}

/// Two callers add an object unless it is there.
fn added_if_absent() -> Scenario<Heap> {
    Scenario::new(
        "added_if_absent",
        "two callers add an object unless it is there, and a consumer pops",
        |world| {
            let heap = heap(world);
            let other = caller(world, "other", &heap, |heap| {
                let _told = heap.add_if_absent((1, 1)); // closed already, on a slow machine
            });
            let consumer = consumer(world, "consumer", &heap);
            heap.add_if_absent((1, 2)).expect("the heap is open");
            end(world, &heap, [other, consumer]);
        },
        // One addition finds the object of the other, and the consumer sleeps when the first comes.
        |history| {
            let adds = |op: &Op<_, _>| matches!(op, Op::AddIfAbsent(_));
            Led::some(history, |before, event| steps(event, adds) && !before.plain.items.is_empty())
                && Led::some(history, |before, event| steps(event, adds) && sleepers(before) == 1)
        },
    )
}

/// Readers look while objects come and go.
fn readers_between() -> Scenario<Heap> {
    Scenario::new(
        "readers_between",
        "a reader looks at the heap while objects are added, changed and taken",
        |world| {
            let heap = heap(world);
            let consumer = popper(world, "consumer", &heap);
            let reader = caller(world, "reader", &heap, |heap| {
                let _object = heap.get(&1);
                let _all = heap.list();
                let _length = heap.len();
            });
            add(&heap, (1, 2));
            add(&heap, (1, 3));
            add(&heap, (2, 1));
            end(world, &heap, [consumer, reader]);
            let _closed = heap.is_closed();
            let _object = heap.get(&1);
        },
        // The reader counts two objects.
        |history| {
            Led::some(history, |before, event| {
                steps(event, |op| matches!(op, Op::Len(_))) && before.plain.items.len() == 2
            })
        },
    )
}

/// Two consumers wait when the heap is closed.
fn close_while_two_wait() -> Scenario<Heap> {
    Scenario::new(
        "close_while_two_wait",
        "two consumers wait while an object is added and the heap is closed",
        |world| {
            let heap = heap(world);
            let consumers = ["first", "second"].map(|name| consumer(world, name, &heap));
            let writer = caller(world, "writer", &heap, |heap| {
                let _told = heap.add((1, 1));
            });
            heap.close();
            world.quiesce();
            consumers.into_iter().for_each(|consumer| world.join(consumer));
            world.join(writer);
        },
        |history| {
            Led::some(history, |before, event| {
                steps(event, |op| matches!(op, Op::Close(_))) && sleepers(before) == 2
            })
        },
    )
}

/// A closed heap refuses new objects, and still hands out, deletes and shows the old ones.
fn close_with_objects_left() -> Scenario<Heap> {
    Scenario::new(
        "close_with_objects_left",
        "objects are added, deleted and taken while the heap is closed",
        |world| {
            let heap = heap(world);
            add(&heap, (1, 1));
            add(&heap, (2, 2));
            let writer = caller(world, "writer", &heap, |heap| {
                let _told = heap.add((3, 3));
                let _told = heap.add_if_absent((4, 4));
                let _told = heap.bulk_add(vec![(5, 5), (0, 1)]);
                drop(heap.delete(&(2, 0)));
            });
            heap.close();
            let consumer = consumer(world, "consumer", &heap);
            world.join(writer);
            world.join(consumer);
        },
        // One object is deleted and another handed out after the end.
        |history| {
            let after = |wanted: fn(&Ret<u8, Object>) -> bool| {
                Led::some(history, |before, event| {
                    before.plain.closed && event.returned().is_some_and(|(_, ret)| wanted(ret))
                })
            };
            after(|ret| matches!(ret, Ret::Delete(Some(_))))
                && after(|ret| matches!(ret, Ret::Pop(Some(_))))
        },
    )
}

/// A consumer that is a task, and one that is a thread, wait for two objects.
fn task_and_thread() -> Scenario<Heap> {
    Scenario::new(
        "task_and_thread",
        "a task and a thread wait while two objects are added",
        |world| {
            let heap = heap(world);
            let thread = consumer(world, "thread", &heap);
            let runtime = world.runtime().clone();
            let task = caller(world, "task", &heap, move |heap| {
                runtime.block_on(async { while heap.pop_async().await.is_ok() {} });
            });
            add(&heap, (1, 5));
            add(&heap, (2, 3));
            end(world, &heap, [thread, task]);
        },
        // Both sleep when an object comes.
        |history| {
            Led::some(history, |before, event| {
                steps(event, |op| matches!(op, Op::Put(_))) && sleepers(before) == 2
            })
        },
    )
}

/// A task gives up while an object comes: its wake-up goes to the thread that also sleeps.
fn dropped_popper() -> Scenario<Heap> {
    Scenario::new(
        "dropped_popper",
        "a task gives up its pop while an object is added and a thread waits",
        |world| {
            let heap = heap(world);
            let giving_up = world.clone();
            let task = caller(world, "task", &heap, move |heap| {
                let _given_up = giving_up.at_once(heap.pop_async());
            });
            let thread = consumer(world, "thread", &heap);
            let producer = caller(world, "producer", &heap, |heap| add(heap, (1, 5)));
            world.join(producer);
            world.join(task);
            end(world, &heap, [thread]);
        },
        // The task gives up its pop after an object came, while the object still waits.
        |history| {
            Led::some(history, |before, event| {
                matches!(event.what, What::Cancel { .. }) && !before.plain.items.is_empty()
            })
        },
    )
}
