//! Read-write locks and atomic numbers with a fault.

use std::ops::Deref;
use std::sync::atomic::Ordering;

use seatrial_core::runtime::{Atomic, Runtime};

use super::{Fault, copy};

/// A lock for reading, or two that pass for one.
pub(in super::super) struct FaultyRwLock<R: Runtime, T: Send + Sync> {
    cells: Vec<R::RwLock<T>>,
    /// Held by a reader, where only one may read.
    alone: Option<R::Mutex<()>>,
}

pub(in super::super) struct FaultyRead<'a, R: Runtime, T: Send + Sync + 'static> {
    guard: R::ReadGuard<'a, T>,
    _alone: Option<R::Guard<'a, ()>>,
}

impl<R: Runtime, T: Send + Sync + 'static> Deref for FaultyRead<'_, R, T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.guard
    }
}

impl<R: Runtime, T: Send + Sync + 'static> FaultyRwLock<R, T> {
    pub(super) fn new(runtime: &R, fault: Fault, value: T) -> Self {
        let twin = if fault == Fault::ReadsWhileWritten { copy(&value) } else { None };
        let values = std::iter::once(value).chain(twin);
        Self {
            cells: values.map(|value| runtime.rw_lock(value)).collect(),
            alone: (fault == Fault::ReadsAlone).then(|| runtime.mutex(())),
        }
    }

    pub(super) fn read(&self, runtime: &R) -> FaultyRead<'_, R, T> {
        let alone = self.alone.as_ref().map(|alone| runtime.lock(alone));
        let cell = self.cells.last().expect("there is one, or its twin");
        FaultyRead { guard: runtime.read(cell), _alone: alone }
    }

    pub(super) fn write(&self, runtime: &R) -> R::WriteGuard<'_, T> {
        runtime.write(&self.cells[0])
    }
}

/// A number whose accesses go wrong.
pub(in super::super) struct FaultyAtomic<R: Runtime> {
    inner: R::Atomic,
    fault: Fault,
}

impl<R: Runtime> FaultyAtomic<R> {
    pub(super) fn new(runtime: &R, fault: Fault, value: u64) -> Self {
        Self { inner: runtime.atomic(value), fault }
    }

    fn allowed(&self, order: Ordering) -> Ordering {
        if self.fault == Fault::ForgetsOrderings { Ordering::Relaxed } else { order }
    }
}

impl<R: Runtime> Atomic for FaultyAtomic<R> {
    fn load(&self, order: Ordering) -> u64 {
        self.inner.load(self.allowed(order))
    }

    fn store(&self, value: u64, order: Ordering) {
        self.inner.store(value, self.allowed(order));
    }

    fn swap(&self, value: u64, order: Ordering) -> u64 {
        self.inner.swap(value, self.allowed(order))
    }

    fn fetch_add(&self, more: u64, order: Ordering) -> u64 {
        if self.fault != Fault::AddsInTwoSteps {
            return self.inner.fetch_add(more, self.allowed(order));
        }
        let was = self.inner.load(Ordering::Acquire);
        self.inner.store(was.wrapping_add(more), Ordering::Release);
        was
    }

    fn compare_exchange(
        &self,
        current: u64,
        new: u64,
        success: Ordering,
        failure: Ordering,
    ) -> Result<u64, u64> {
        if self.fault == Fault::ExchangesBlindly {
            return Ok(self.inner.swap(new, success));
        }
        self.inner.compare_exchange(current, new, self.allowed(success), self.allowed(failure))
    }
}
