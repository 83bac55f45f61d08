//! The queue of events.
//!
//! The key of every object is computed to check that it has one, as the reference does.

use std::hint::black_box;
use std::sync::Arc;

use seatrial_core::ordered_fifo::OrderedFifo;
use seatrial_core::runtime::System;

use crate::Measure;
use crate::measure::{Key, bytes_of, emptying_duel, filling_duel, longest, per_item};
use crate::objects::{Object, objects};
use crate::plain::ordered_fifo::Plain;
use crate::plain::{Hashing, Same, SipHash};
use crate::row::Row;

pub(crate) const ROWS: &[Measure] = &[
    Measure::new("ordered_fifo", "add, 1,000,000 objects", add),
    Measure::new("ordered_fifo", "pop, 1,000,000 objects", pop),
    Measure::new("ordered_fifo", "pop in batches of 1,000", pop_batch::<Same>)
        .siphash(pop_batch::<SipHash>),
];

const OBJECTS: usize = 1_000_000;

type Ours = OrderedFifo<Key, Arc<Object>>;

fn ours() -> Ours {
    OrderedFifo::new(&System::new(), |object: &Arc<Object>| Ok(Arc::clone(&object.key)))
}

fn fill_ours(objects: Vec<Arc<Object>>) -> Ours {
    let queue = ours();
    for object in objects {
        assert!(queue.add(object).is_ok());
    }
    queue
}

fn fill_plain(objects: Vec<Arc<Object>>) -> Plain {
    let plain = Plain::default();
    objects.into_iter().for_each(|object| plain.add(object));
    plain
}

fn add(part: &'static str, row: &'static str) -> Row {
    let all = objects(OBJECTS);
    let times = filling_duel(OBJECTS, || all.clone(), fill_ours, fill_plain);
    let bytes = bytes_of(objects, fill_ours) - size_of::<Arc<Object>>() as f64;
    let pause = longest(
        3,
        || (ours(), all.clone()),
        |(queue, all), laps| {
            all.into_iter().for_each(|object| assert!(laps.lap(|| queue.add(object)).is_ok()));
        },
    );
    let row = Row::new(part, row, times).goal(per_item(20.0)).gate(0.9);
    row.bytes(bytes).most_bytes(20.0).pause(pause)
}

/// Measures taking everything out of both queues.
fn drained(
    (part, row): (&'static str, &'static str),
    fill: impl Fn(Vec<Arc<Object>>) -> Ours,
    ours: impl Fn(&Ours),
    plain: impl Fn(&Plain),
) -> Row {
    let all = objects(OBJECTS);
    let fills = (|| fill(all.clone()), || fill_plain(all.clone()));
    Row::new(part, row, emptying_duel(OBJECTS, (fills.0, ours), (fills.1, plain)))
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
    let all = objects(OBJECTS);
    let pause = longest(
        3,
        || fill_ours(all.clone()),
        |queue, laps| {
            for _ in 0..OBJECTS {
                assert!(laps.lap(|| queue.pop(|_| ()).is_ok()));
            }
        },
    );
    drained((part, row), fill_ours, ours, plain).goal(per_item(5.5)).gate(0.9).pause(pause)
}

fn pop_batch<S: Hashing>(part: &'static str, row: &'static str) -> Row {
    drained((part, row), fill_ours, pop_batches, pop_plain_batches::<S>)
        .goal(per_item(16.0))
        .gate(0.9)
}

fn pop_batches(queue: &Ours) {
    let mut left = OBJECTS;
    while left > 0 {
        let popped = queue.pop_batch(|batch| batch.events.len());
        left -= popped.map_or(left, |(_, count)| count);
    }
}

fn pop_plain_batches<S: Hashing>(queue: &Plain) {
    let mut left = OBJECTS;
    while left > 0 {
        left -= queue.pop_batch::<_, S>(|batch| batch.len());
    }
}
