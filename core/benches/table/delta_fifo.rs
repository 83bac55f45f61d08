//! The DeltaFIFO.

use std::hint::black_box;
use std::sync::Arc;

use seatrial_core::delta_fifo::DeltaFifo;
use seatrial_core::runtime::System;

use crate::Measure;
use crate::measure::{Key, bytes_of, emptying_duel, filling_duel, longest, per_item};
use crate::objects::{Object, objects};
use crate::plain::delta_fifo::Plain;
use crate::plain::{Hashing, Same, SipHash};
use crate::row::Row;

pub(crate) const ROWS: &[Measure] = &[
    Measure::new("delta_fifo", "add, 1,000,000 objects", add::<Same>).siphash(add::<SipHash>),
    Measure::new("delta_fifo", "pop, 1,000,000 objects", pop::<Same>).siphash(pop::<SipHash>),
    Measure::new("delta_fifo", "replace of 100,000", replace::<Same>).siphash(replace::<SipHash>),
];

const OBJECTS: usize = 1_000_000;

type Ours = DeltaFifo<Key, Arc<Object>>;

fn ours() -> Ours {
    DeltaFifo::new(&System::new(), |object: &Arc<Object>| Ok(Arc::clone(&object.key)))
}

fn fill_ours(objects: Vec<Arc<Object>>) -> Ours {
    let queue = ours();
    for object in objects {
        assert!(queue.add(object).is_ok());
    }
    queue
}

fn fill_plain<S: Hashing>(objects: Vec<Arc<Object>>) -> Plain<S> {
    let plain = Plain::default();
    objects.into_iter().for_each(|object| plain.add(object));
    plain
}

fn add<S: Hashing>(part: &'static str, row: &'static str) -> Row {
    let all = objects(OBJECTS);
    let times = filling_duel(OBJECTS, || all.clone(), fill_ours, fill_plain::<S>);
    // A slot holds the key and one object.
    let held = (size_of::<Key>() + size_of::<Arc<Object>>()) as f64;
    let bytes = bytes_of(objects, fill_ours) - held;
    let pause = longest(
        3,
        || (ours(), all.clone()),
        |(queue, all), laps| {
            all.into_iter().for_each(|object| assert!(laps.lap(|| queue.add(object)).is_ok()));
        },
    );
    Row::new(part, row, times)
        .goal(per_item(3.3))
        .gate(2.0)
        .bytes(bytes)
        .most_bytes(75.0)
        .pause(pause)
}

fn pop<S: Hashing>(part: &'static str, row: &'static str) -> Row {
    let all = objects(OBJECTS);
    let ours = |queue: &Ours| {
        for _ in 0..OBJECTS {
            let popped = queue.pop(|entry| {
                let newest = entry.deltas.newest().and_then(|delta| delta.object());
                newest.map(|object| object.payload[0])
            });
            assert!(popped.is_ok_and(|(_, byte)| black_box(byte).is_some()));
        }
    };
    let plain = |queue: &Plain<S>| {
        for _ in 0..OBJECTS {
            black_box(queue.pop(|deltas| deltas.last().map(|it| it.object.payload[0])));
        }
    };
    let fills = (|| fill_ours(all.clone()), || fill_plain::<S>(all.clone()));
    let times = emptying_duel(OBJECTS, (fills.0, ours), (fills.1, plain));
    let pause = longest(
        3,
        || fill_ours(all.clone()),
        |queue, laps| {
            for _ in 0..OBJECTS {
                assert!(laps.lap(|| queue.pop(|_| ()).is_ok()));
            }
        },
    );
    Row::new(part, row, times).goal(per_item(2.4)).gate(2.0).pause(pause)
}

fn replace<S: Hashing>(part: &'static str, row: &'static str) -> Row {
    let all = objects(100_000);
    let listed = |list: Vec<Arc<Object>>| {
        let queue = ours();
        assert!(queue.replace(list).is_ok());
        queue
    };
    let plain = |list: Vec<Arc<Object>>| {
        let plain = Plain::<S>::default();
        plain.replace(list);
        plain
    };
    let times = filling_duel(all.len(), || all.clone(), listed, plain);
    Row::new(part, row, times).goal(150.0).gate(2.0)
}
