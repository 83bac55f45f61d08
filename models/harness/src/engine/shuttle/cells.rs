//! Objects that threads share without a lock: published values and atomic numbers.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use seatrial_core::runtime::Atomic;

use super::kernel::{ObjectId, Operation};
use super::runtime::{index, is_inside, is_running};
use super::session;
use super::threads::perform;

/// Makes a cell in the execution that runs, if one does.
fn new_cell() -> Option<ObjectId> {
    is_inside().then(|| session::with(|session| session.kernel.new_cell()))
}

/// Performs an operation on a cell, where one runs.
fn access(id: Option<ObjectId>, operation: fn(usize) -> Operation) {
    if is_running() {
        perform(operation(index(id)));
    }
}

/// A value of one execution that is replaced as a whole.
pub struct ShuttlePublished<T> {
    id: Option<ObjectId>,
    value: Mutex<Arc<T>>,
}

impl<T> ShuttlePublished<T> {
    pub(super) fn new(value: Arc<T>) -> Self {
        Self { id: new_cell(), value: Mutex::new(value) }
    }

    pub(super) fn publish(&self, value: Arc<T>) {
        access(self.id, Operation::Publish);
        let mut published = self.value.lock().unwrap_or_else(PoisonError::into_inner);
        let former = std::mem::replace(&mut *published, value);
        drop(published);
        drop(former); // outside the lock: dropping a value runs foreign code
    }

    pub(super) fn load(&self) -> Arc<T> {
        access(self.id, Operation::Load);
        Arc::clone(&self.value.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl<T> fmt::Debug for ShuttlePublished<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ShuttlePublished")
    }
}

/// An atomic number of one execution. Executions are sequentially consistent, so orderings make no
/// difference; an ordering that the access cannot have is refused.
pub struct ShuttleAtomic {
    id: Option<ObjectId>,
    value: AtomicU64,
}

impl ShuttleAtomic {
    pub(super) fn new(value: u64) -> Self {
        Self { id: new_cell(), value: AtomicU64::new(value) }
    }
}

impl fmt::Debug for ShuttleAtomic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ShuttleAtomic")
    }
}

impl Atomic for ShuttleAtomic {
    fn load(&self, order: Ordering) -> u64 {
        access(self.id, Operation::Load);
        self.value.load(order)
    }

    fn store(&self, value: u64, order: Ordering) {
        access(self.id, Operation::Publish);
        self.value.store(value, order);
    }

    fn swap(&self, value: u64, order: Ordering) -> u64 {
        access(self.id, Operation::Publish);
        self.value.swap(value, order)
    }

    fn fetch_add(&self, more: u64, order: Ordering) -> u64 {
        access(self.id, Operation::Publish);
        self.value.fetch_add(more, order)
    }

    fn compare_exchange(
        &self,
        current: u64,
        new: u64,
        success: Ordering,
        failure: Ordering,
    ) -> Result<u64, u64> {
        access(self.id, Operation::Publish);
        self.value.compare_exchange(current, new, success, failure)
    }
}
