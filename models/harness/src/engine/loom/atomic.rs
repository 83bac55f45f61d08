//! Atomic numbers: loom decides which values are read, as the orderings allow.
//!
//! loom knows nothing of our locks. So in an execution with atomic numbers, every lock that is
//! taken or released, and every end of a thread and its join, is a fence ([`Ordering::SeqCst`]) for
//! loom. That orders more than C11 would if two threads use different locks: weaker orders are only
//! explored between accesses that no lock lies between.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use ::loom::sync::atomic::{AtomicU64, fence};
use seatrial_core::runtime::Atomic;

use super::session::Session;

/// A number whose accesses loom puts into every order, and whose former values it lets be read
/// where the orderings allow that.
pub struct LoomAtomic {
    number: usize,
    atomic: AtomicU64,
    session: Arc<Session>,
}

impl LoomAtomic {
    pub(super) fn new(session: &Arc<Session>, value: u64) -> Self {
        let number = session.books().new_number(value);
        Self { number, atomic: AtomicU64::new(value), session: Arc::clone(session) }
    }

    /// Changes the number as `change` says, if it says so; returns what it was. `by_loom` does the
    /// same to loom's.
    fn update(
        &self,
        by_loom: impl FnOnce(&AtomicU64) -> u64,
        change: impl FnOnce(u64) -> Option<u64>,
    ) -> u64 {
        let read = self.session.read(self.number, || by_loom(&self.atomic));
        if let Some(value) = change(read) {
            self.session.books().write(self.number, value);
        }
        read
    }
}

impl fmt::Debug for LoomAtomic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("LoomAtomic").field(&self.number).finish()
    }
}

impl Atomic for LoomAtomic {
    fn load(&self, order: Ordering) -> u64 {
        self.update(|atomic| atomic.load(order), |_| None)
    }

    fn store(&self, value: u64, order: Ordering) {
        self.session.store(self.number, value, || self.atomic.store(value, order));
    }

    fn swap(&self, value: u64, order: Ordering) -> u64 {
        self.update(|atomic| atomic.swap(value, order), |_| Some(value))
    }

    fn fetch_add(&self, more: u64, order: Ordering) -> u64 {
        self.update(|atomic| atomic.fetch_add(more, order), |was| Some(was.wrapping_add(more)))
    }

    fn compare_exchange(
        &self,
        current: u64,
        new: u64,
        success: Ordering,
        failure: Ordering,
    ) -> Result<u64, u64> {
        let exchange = |atomic: &AtomicU64| {
            atomic.compare_exchange(current, new, success, failure).unwrap_or_else(|was| was)
        };
        let was = self.update(exchange, |was| (was == current).then_some(new));
        if was == current { Ok(was) } else { Err(was) }
    }
}

impl Session {
    /// Lets loom order what happened before and what comes after, if that can matter.
    pub(super) fn fence(&self) {
        self.fence_by(Ordering::SeqCst);
    }

    /// A fence of the program under test.
    pub(super) fn fence_by(&self, order: Ordering) {
        let books = self.books();
        let matters = books.has_numbers() && books.abort.is_none() && !books.record.is_replay();
        drop(books);
        if matters {
            fence(order);
        }
    }

    /// Reads an atomic number as loom does, or as a replay prescribes.
    fn read(&self, number: usize, by_loom: impl FnOnce() -> u64) -> u64 {
        let read = self.access(by_loom);
        let mut books = self.books();
        if books.abort.is_some() {
            return books.newest(number); // only destructors are left to run
        }
        let value = read.unwrap_or_else(|| books.prescribed_value(number));
        books.has_read(number, value);
        value
    }

    pub(super) fn give_turn(&self) {
        self.access(::loom::thread::yield_now);
    }

    fn store(&self, number: usize, value: u64, by_loom: impl FnOnce()) {
        self.access(by_loom);
        self.books().write(number, value);
    }

    /// Performs an access where other threads may run before; `None` if loom was not asked.
    fn access<T>(&self, by_loom: impl FnOnce() -> T) -> Option<T> {
        let me = self.enter();
        let books = self.books();
        let (over, replay) = (books.abort.is_some(), books.record.is_replay());
        drop(books);
        if over {
            return None;
        }
        if replay {
            self.await_turn(me);
            return None;
        }
        let accessed = by_loom();
        self.resumed(me);
        Some(accessed)
    }
}
