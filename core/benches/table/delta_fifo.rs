//! The DeltaFIFO.

use std::hint::black_box;
use std::sync::Arc;

use seatrial_core::delta_fifo::DeltaFifo;
use seatrial_core::runtime::System;

use crate::measure::{Key, bytes_of, prepared_duel, timed};
use crate::objects::{Object, objects};
use crate::plain::delta_fifo::Plain;
use crate::{Measure, Row};

pub(crate) const ROWS: &[Measure] = &[
    ("delta_fifo", "add, 1,000,000 objects", add),
    ("delta_fifo", "pop, 1,000,000 objects", pop),
    ("delta_fifo", "replace of 100,000", replace),
];

const OBJECTS: usize = 1_000_000;

type Ours = DeltaFifo<Key, Arc<Object>>;

fn ours() -> Ours {
    DeltaFifo::new(&System::new(), |object: &Arc<Object>| Ok(Arc::clone(&object.key)))
}

fn fill_ours(objects: &[Arc<Object>]) -> Ours {
    let queue = ours();
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
    let (mut kept, mut other) = (None, None);
    let times = prepared_duel(
        OBJECTS,
        || {
            kept = None;
            timed(|| kept = Some(fill_ours(&all)))
        },
        || {
            other = None;
            timed(|| other = Some(fill_plain(&all)))
        },
    );
    drop((kept, other));
    // A slot holds the key and one object.
    let held = (size_of::<Key>() + size_of::<Arc<Object>>()) as f64;
    let bytes = bytes_of(objects, fill_ours) - held;
    Row::new(part, row, times).gate(2.0).bytes(bytes).most_bytes(75.0)
}

fn pop(part: &'static str, row: &'static str) -> Row {
    let all = objects(OBJECTS);
    let times = prepared_duel(
        OBJECTS,
        || {
            let queue = fill_ours(&all);
            timed(|| {
                for _ in &all {
                    let popped = queue.pop(|entry| {
                        entry
                            .deltas
                            .newest()
                            .and_then(|delta| delta.object())
                            .map(|it| it.payload[0])
                    });
                    assert!(black_box(popped).is_ok());
                }
            })
        },
        || {
            let plain = fill_plain(&all);
            timed(|| {
                for _ in &all {
                    black_box(plain.pop(|deltas| deltas.last().map(|it| it.object.payload[0])));
                }
            })
        },
    );
    Row::new(part, row, times).gate(2.0)
}

fn replace(part: &'static str, row: &'static str) -> Row {
    let all = objects(100_000);
    let (mut kept, mut other) = (None, None);
    let times = prepared_duel(
        all.len(),
        || {
            let (queue, list) = (ours(), all.clone());
            let took = timed(|| assert!(queue.replace(list).is_ok()));
            kept = Some(queue);
            took
        },
        || {
            let plain = Plain::default();
            let took = timed(|| plain.replace(&all));
            other = Some(plain);
            took
        },
    );
    drop((kept, other));
    Row::new(part, row, times).gate(2.0)
}
