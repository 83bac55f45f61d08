//! The queue of events: one list.

use std::collections::VecDeque;
use std::hint::black_box;
use std::sync::Arc;

use parking_lot::{Condvar, Mutex};
use seatrial_core::runtime::{Ambient as _, System};

use super::delta_fifo::{Delta, Kind};
use super::{HashSet, Hashing};
use crate::objects::Object;

const BATCH: usize = 1000;

#[derive(Default)]
struct Inside {
    items: VecDeque<Delta>,
    populated: bool,
    initial: usize,
}

#[derive(Default)]
pub(crate) struct Plain {
    inside: Mutex<Inside>,
    changed: Condvar,
    system: System,
}

impl Plain {
    pub(crate) fn add(&self, object: Arc<Object>) {
        let mut inside = self.inside.lock();
        inside.populated = true;
        drop(black_box(Arc::clone(&object.key))); // an object without a key is refused
        inside.items.push_back(Delta { kind: Kind::Added, object });
        self.changed.notify_all();
    }

    /// Hands out a list of one, and times it if the queue is long, as the reference does.
    pub(crate) fn pop<T>(&self, process: impl FnOnce(&[Delta]) -> T) -> (Vec<Delta>, T) {
        let mut inside = self.inside.lock();
        loop {
            if let Some(delta) = inside.items.pop_front() {
                inside.initial = inside.initial.saturating_sub(1);
                let key = Arc::clone(&delta.object.key);
                let trace = (inside.items.len() > 10).then(|| (key, self.system.now()));
                let deltas = vec![delta];
                let result = process(&deltas);
                drop(black_box(trace));
                return (deltas, result);
            }
            self.changed.wait(&mut inside);
        }
    }

    /// Takes changes of different objects, up to a maximum.
    pub(crate) fn pop_batch<T, S: Hashing>(&self, process: impl FnOnce(&[Delta]) -> T) -> T {
        let mut inside = self.inside.lock();
        while inside.items.is_empty() {
            self.changed.wait(&mut inside);
        }
        let (mut batch, mut keys) = (Vec::new(), HashSet::<_, S>::default());
        while batch.len() < BATCH {
            let Some(next) = inside.items.front() else { break };
            if !keys.insert(Arc::clone(&next.object.key)) {
                break;
            }
            batch.extend(inside.items.pop_front());
        }
        inside.initial = inside.initial.saturating_sub(batch.len());
        process(&batch)
    }
}
