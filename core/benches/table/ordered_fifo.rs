//! The queue of events.
//!
//! The reference makes the key of every object that comes, to see whether it has one, and so does
//! plain. Our objects carry their keys, so the queue only asks. The rows where it makes them as well
//! stand beside, without gates.

use std::hint::black_box;
use std::sync::Arc;

use seatrial_core::fifo::Intake;
use seatrial_core::ordered_fifo::{Options, OrderedFifo};
use seatrial_core::runtime::System;

use crate::Measure;
use crate::measure::{Key, bytes_of, emptying_duel, filling_duel, per_item};
use crate::objects::{Object, objects};
use crate::plain::ordered_fifo::Plain;
use crate::plain::{Hashing, Same, SipHash};
use crate::row::Row;

pub(crate) const ROWS: &[Measure] = &[
    Measure::new("ordered_fifo", "add, 1,000,000 objects", add),
    Measure::new("ordered_fifo", "pop, 1,000,000 objects", pop),
    Measure::new("ordered_fifo", "pop in batches of 1,000", pop_batch::<Same>)
        .siphash(pop_batch::<SipHash>),
    Measure::new("ordered_fifo", "add, keys are made", add_made),
    Measure::new("ordered_fifo", "add, keys are made, batches", add_made_for_batches),
    Measure::new("ordered_fifo", "pop in batches, keys are made", pop_made_batch),
];

const OBJECTS: usize = 1_000_000;

type Ours = OrderedFifo<Key, Arc<Object>>;

/// Makes a queue of objects that carry their keys.
fn lending() -> Ours {
    let system = System::new();
    let intake = Intake::lending(&system, |object: &Arc<Object>| Ok(&object.key));
    OrderedFifo::with_options(&system, intake, Options::default())
}

/// Makes a queue that has keys made.
fn making() -> Ours {
    OrderedFifo::new(&System::new(), |object: &Arc<Object>| Ok(Arc::clone(&object.key)))
}

/// Makes a queue that has keys made and whose consumer has begun to take batches: changes are marked
/// on the way in.
fn making_for_batches(first: Arc<Object>) -> Ours {
    let queue = making();
    assert!(queue.add(first).is_ok());
    assert!(queue.pop_batch(|batch| batch.events.len()).is_ok_and(|(_, taken)| taken == 1));
    queue
}

fn filled(queue: Ours, objects: Vec<Arc<Object>>) -> Ours {
    for object in objects {
        assert!(queue.add(object).is_ok());
    }
    queue
}

fn fill_ours(objects: Vec<Arc<Object>>) -> Ours {
    filled(lending(), objects)
}

fn fill_made_for_batches(objects: Vec<Arc<Object>>) -> Ours {
    filled(making_for_batches(Arc::clone(&objects[0])), objects)
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
    Row::new(part, row, times).goal(per_item(20.0)).gate(1.0).bytes(bytes).most_bytes(20.0)
}

fn add_made(part: &'static str, row: &'static str) -> Row {
    let all = objects(OBJECTS);
    let ours = |objects| filled(making(), objects);
    Row::new(part, row, filling_duel(OBJECTS, || all.clone(), ours, fill_plain))
}

/// With marks: the key is at hand only now.
fn add_made_for_batches(part: &'static str, row: &'static str) -> Row {
    let all = objects(OBJECTS);
    let times = filling_duel(OBJECTS, || all.clone(), fill_made_for_batches, fill_plain);
    Row::new(part, row, times)
}

/// Measures the way out of both queues.
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
    drained((part, row), fill_ours, ours, plain).goal(per_item(5.5)).gate(2.0)
}

fn pop_batch<S: Hashing>(part: &'static str, row: &'static str) -> Row {
    drained((part, row), fill_ours, pop_batches, pop_plain_batches::<S>)
        .goal(per_item(16.0))
        .gate(2.0)
}

fn pop_made_batch(part: &'static str, row: &'static str) -> Row {
    drained((part, row), fill_made_for_batches, pop_batches, pop_plain_batches::<Same>)
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
