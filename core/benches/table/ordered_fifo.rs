//! The queue of events.

use std::hint::black_box;
use std::num::NonZeroUsize;
use std::sync::Arc;

use seatrial_core::fifo::Intake;
use seatrial_core::ordered_fifo::{Options, OrderedFifo};
use seatrial_core::runtime::System;
use seatrial_core::store::NothingKnown;

use crate::measure::{Key, bytes_of, emptying_duel, filling_duel};
use crate::objects::{Object, objects};
use crate::plain::ordered_fifo::Plain;
use crate::{Measure, Row};

pub(crate) const ROWS: &[Measure] = &[
    ("ordered_fifo", "add, 1,000,000 objects", add),
    ("ordered_fifo", "add, for batches of one", add_for_one),
    ("ordered_fifo", "pop, 1,000,000 objects", pop),
    ("ordered_fifo", "pop in batches of 1,000", pop_batch),
];

const OBJECTS: usize = 1_000_000;

type Ours = OrderedFifo<Key, Arc<Object>>;

fn fill_ours(objects: &[Arc<Object>]) -> Ours {
    fill(objects, Options::default())
}

fn fill(objects: &[Arc<Object>], options: Options<NothingKnown>) -> Ours {
    let (system, key_of) = (System::new(), |object: &Arc<Object>| Ok(Arc::clone(&object.key)));
    let queue = OrderedFifo::with_options(&system, Intake::new(&system, key_of), options);
    for object in objects {
        assert!(queue.add(Arc::clone(object)).is_ok());
    }
    queue
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
    Row::new(part, row, times).gate(1.0).bytes(bytes).most_bytes(20.0)
}

/// Who takes events one by one: no mark for batches is computed.
fn add_for_one(part: &'static str, row: &'static str) -> Row {
    let all = objects(OBJECTS);
    let one_by_one = || Options { batch_size: NonZeroUsize::MIN, ..Options::default() };
    let times = filling_duel(OBJECTS, || fill(&all, one_by_one()), || fill_plain(&all));
    Row::new(part, row, times).gate(1.0)
}

/// Measures the way out of both queues.
fn drained(
    part: &'static str,
    row: &'static str,
    ours: impl Fn(&Ours),
    plain: impl Fn(&Plain),
) -> Row {
    let all = objects(OBJECTS);
    let times = emptying_duel(OBJECTS, (|| fill_ours(&all), ours), (|| fill_plain(&all), plain));
    Row::new(part, row, times).gate(2.0)
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
    drained(part, row, ours, plain)
}

fn pop_batch(part: &'static str, row: &'static str) -> Row {
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
            left -= queue.pop_batch(|batch| batch.len());
        }
    };
    drained(part, row, ours, plain)
}
