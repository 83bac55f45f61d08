//! Shared numbers whose accesses are noted, so that executions can be put into classes: two are of one class
//! if each read reads the same write and the writes to each number are in the same order. A
//! compare-and-swap that fails is a read.

use std::collections::BTreeMap;
use std::sync::atomic::Ordering::SeqCst;
use std::sync::{Arc, Mutex, PoisonError};

use seatrial::engine::shuttle::ShuttleRuntime;
use seatrial_core::runtime::{Atomic, Runtime};

/// A thread, and how many accesses it made before.
type Access = (usize, usize);
/// For each number its writes in order, and for each read the write that it read.
pub(crate) type Class = (BTreeMap<usize, Vec<Access>>, BTreeMap<Access, Option<Access>>);

/// The accesses of one execution.
#[derive(Clone, Default)]
pub(crate) struct Notes(Arc<Mutex<Noted>>);

#[derive(Default)]
struct Noted {
    class: Class,
    accesses: BTreeMap<usize, usize>,
}

impl Notes {
    /// Takes the class of the execution that has ended, and begins another one.
    pub(crate) fn take(&self) -> Class {
        let mut noted = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::take(&mut *noted).class
    }

    /// No other thread moves between an access and its note: every access is one step of the engine.
    fn note(&self, number: usize, thread: usize, reads: bool, writes: bool) {
        let mut noted = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let Noted { class: (written, read), accesses } = &mut *noted;
        let count = accesses.entry(thread).or_default();
        let access = (thread, *count);
        *count += 1;
        let writes_before = written.entry(number).or_default();
        if reads {
            read.insert(access, writes_before.last().copied());
        }
        if writes {
            writes_before.push(access);
        }
    }
}

/// A number that threads share.
pub(crate) struct Shared {
    value: <ShuttleRuntime as Runtime>::Atomic,
    number: usize,
    notes: Notes,
}

/// Makes numbers with these values.
pub(crate) fn shared(runtime: &ShuttleRuntime, notes: &Notes, values: &[u64]) -> Arc<[Shared]> {
    let make = |(number, &value): (usize, &u64)| Shared {
        value: runtime.atomic(value),
        number,
        notes: notes.clone(),
    };
    values.iter().enumerate().map(make).collect()
}

impl Shared {
    pub(crate) fn load(&self, thread: usize) -> u64 {
        let value = self.value.load(SeqCst);
        self.notes.note(self.number, thread, true, false);
        value
    }

    pub(crate) fn store(&self, thread: usize, value: u64) {
        self.value.store(value, SeqCst);
        self.notes.note(self.number, thread, false, true);
    }

    pub(crate) fn add(&self, thread: usize, more: u64) {
        self.value.fetch_add(more, SeqCst);
        self.notes.note(self.number, thread, true, true);
    }

    /// Whether the number was `current` and is `new` now.
    pub(crate) fn swap(&self, thread: usize, current: u64, new: u64) -> bool {
        let swapped = self.value.compare_exchange(current, new, SeqCst, SeqCst).is_ok();
        self.notes.note(self.number, thread, true, swapped);
        swapped
    }
}
