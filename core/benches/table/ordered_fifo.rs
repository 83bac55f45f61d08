//! The queue of events.

use std::hint::black_box;
use std::sync::Arc;

use seatrial_core::ordered_fifo::OrderedFifo;
use seatrial_core::runtime::System;

use crate::Measure;
use crate::measure::{Key, bytes_of, emptying_duel, filling_duel, per_item};
use crate::objects::{Object, objects};
use crate::plain::ordered_fifo::Plain;
use crate::plain::{Hashing, Same, SipHash};
use crate::row::Row;

pub(crate) const ROWS: &[Measure] = &[
    Measure::new("ordered_fifo", "add, 1,000,000 objects", add),
    Measure::new("ordered_fifo", "add, batches are taken", add_for_batches),
    Measure::new("ordered_fifo", "pop, 1,000,000 objects", pop),
    Measure::new("ordered_fifo", "pop in batches of 1,000", pop_batch::<Same>)
        .siphash(pop_batch::<SipHash>),
];

const OBJECTS: usize = 1_000_000;

type Ours = OrderedFifo<Key, Arc<Object>>;

fn empty() -> Ours {
    OrderedFifo::new(&System::new(), |object: &Arc<Object>| Ok(Arc::clone(&object.key)))
}

/// Makes a queue whose consumer has begun to take batches: changes are marked on the way in.
fn empty_for_batches(objects: &[Arc<Object>]) -> Ours {
    let queue = empty();
    fill(&queue, &objects[..1]);
    assert!(queue.pop_batch(|batch| batch.events.len()).is_ok_and(|(_, taken)| taken == 1));
    queue
}

fn fill(queue: &Ours, objects: &[Arc<Object>]) {
    for object in objects {
        assert!(queue.add(Arc::clone(object)).is_ok());
    }
}

fn filled(queue: Ours, objects: &[Arc<Object>]) -> Ours {
    fill(&queue, objects);
    queue
}

fn fill_ours(objects: &[Arc<Object>]) -> Ours {
    filled(empty(), objects)
}

fn fill_for_batches(objects: &[Arc<Object>]) -> Ours {
    filled(empty_for_batches(objects), objects)
}

fn fill_plain(objects: &[Arc<Object>]) -> Plain {
    let plain = Plain::default();
    objects.iter().for_each(|object| plain.add(Arc::clone(object)));
    plain
}

fn add(part: &'static str, row: &'static str) -> Row {
    let all = objects(OBJECTS);
    let times = filling_duel(OBJECTS, || fill_ours(&all), || fill_plain(&all));
    let bytes = bytes_of(objects, fill_ours) - size_of::<Arc<Object>>() as f64;
    Row::new(part, row, times).goal(per_item(20.0)).gate(1.0).bytes(bytes).most_bytes(20.0)
}

/// With marks, which make a pop in batches many times as fast: the row without gate that belongs to
/// the one above.
fn add_for_batches(part: &'static str, row: &'static str) -> Row {
    let all = objects(OBJECTS);
    let times = filling_duel(OBJECTS, || fill_for_batches(&all), || fill_plain(&all));
    Row::new(part, row, times)
}

/// Measures the way out of both queues; the goal is so many million events a second.
fn drained(
    (part, row, millions): (&'static str, &'static str, f64),
    fill: impl Fn(&[Arc<Object>]) -> Ours,
    ours: impl Fn(&Ours),
    plain: impl Fn(&Plain),
) -> Row {
    let all = objects(OBJECTS);
    let times = emptying_duel(OBJECTS, (|| fill(&all), ours), (|| fill_plain(&all), plain));
    Row::new(part, row, times).goal(per_item(millions)).gate(2.0)
}

fn pop(part: &'static str, row: &'static str) -> Row {
    let ours = |queue: &Ours| {
        for _ in 0..OBJECTS {
            let popped = queue.pop(|popped| {
                let object = popped.event.delta().and_then(|delta| delta.object());
                object.map(|object| object.payload[0])
            });
            assert!(popped.is_ok_and(|(_, byte)| black_box(byte).is_some()));
        }
    };
    let plain = |queue: &Plain| {
        for _ in 0..OBJECTS {
            drop(black_box(queue.pop(|deltas| deltas.last().map(|it| it.object.payload[0]))));
        }
    };
    drained((part, row, 5.5), fill_ours, ours, plain)
}

fn pop_batch<S: Hashing>(part: &'static str, row: &'static str) -> Row {
    let ours = |queue: &Ours| {
        let mut left = OBJECTS;
        while left > 0 {
            let popped = queue.pop_batch(|batch| batch.events.len());
            left -= popped.map_or(left, |(_, count)| count);
        }
    };
    let plain = |queue: &Plain| {
        let mut left = OBJECTS;
        while left > 0 {
            left -= queue.pop_batch::<_, S>(|batch| batch.len());
        }
    };
    drained((part, row, 16.0), fill_for_batches, ours, plain)
}
