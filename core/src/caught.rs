//! Runs several pieces of foreign code: if one panics, the others still run.

use std::any::Any;
use std::fmt;
use std::mem::{forget, needs_drop};
use std::ops::{Deref, DerefMut};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::task::Waker;
use std::thread::panicking;

/// The payload of a panic.
pub type Panic = Box<dyn Any + Send>;

/// Wakes all wakers, then passes on the first panic. Call it without a lock.
///
/// They run one after the other on this thread, so a slow one delays those after it.
pub(crate) fn wake_all(wakers: impl IntoIterator<Item = Waker>) {
    pass_on(each(wakers, Waker::wake));
}

/// Runs something on every value, and returns the first panic.
pub(crate) fn each<T>(values: impl IntoIterator<Item = T>, run: impl Fn(T)) -> Option<Panic> {
    first_of(values.into_iter().map(|value| catch_unwind(AssertUnwindSafe(|| run(value))).err()))
}

/// Returns the first of several panics, and drops the others.
pub(crate) fn first_of(panics: impl IntoIterator<Item = Option<Panic>>) -> Option<Panic> {
    let mut panics = panics.into_iter().flatten();
    let first = panics.next();
    panics.for_each(discard);
    first
}

/// Runs foreign code and stops its panic here. The payload is a foreign value as well, so it goes
/// to `left`, to be dropped outside any lock.
pub(crate) fn kept(left: &mut Vec<Panic>, run: impl FnOnce()) {
    if let Err(panic) = catch_unwind(AssertUnwindSafe(run)) {
        left.push(panic);
    }
}

/// Calls a listener. A panic of the listener is dropped, and the caller goes on. Call it without a
/// lock.
pub(crate) fn tell(run: impl FnOnce()) {
    if let Err(panic) = catch_unwind(AssertUnwindSafe(run)) {
        discard(panic);
    }
}

/// Values that a call no longer needs. They go with it, outside the lock, one by one: a list in
/// which two destructors panic would abort the process.
#[derive(Clone)]
pub struct Remains<T>(Vec<T>);

impl<T> Remains<T> {
    pub(crate) const fn new() -> Self {
        Self(Vec::new())
    }
}

impl<T> Default for Remains<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T> From<Vec<T>> for Remains<T> {
    fn from(values: Vec<T>) -> Self {
        Self(values)
    }
}

impl<T> FromIterator<T> for Remains<T> {
    fn from_iter<I: IntoIterator<Item = T>>(values: I) -> Self {
        Self(values.into_iter().collect())
    }
}

impl<T> Deref for Remains<T> {
    type Target = Vec<T>;

    fn deref(&self) -> &Vec<T> {
        &self.0
    }
}

impl<T> DerefMut for Remains<T> {
    fn deref_mut(&mut self) -> &mut Vec<T> {
        &mut self.0
    }
}

impl<T: fmt::Debug> fmt::Debug for Remains<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl<T> Drop for Remains<T> {
    fn drop(&mut self) {
        drop_each(self.0.drain(..));
    }
}

/// Drops a foreign value, outside the lock. If the destructor panics, the panic hook of
/// the process has reported it, and the caller still gets the result of the call.
#[inline(always)]
pub(crate) fn drop_caught<T>(value: T) {
    if needs_drop::<T>()
        && let Err(panic) = catch_unwind(AssertUnwindSafe(|| drop(value)))
    {
        discard(panic);
    }
}

/// As [`drop_caught`], for several values.
pub(crate) fn drop_each<T>(values: impl IntoIterator<Item = T>) {
    values.into_iter().for_each(drop_caught);
}

/// Continues a panic, unless this thread is already panicking: a second panic would abort the
/// process.
pub(crate) fn pass_on(panic: Option<Panic>) {
    match panic {
        Some(panic) if panicking() => discard(panic),
        Some(panic) => resume_unwind(panic),
        None => {}
    }
}

/// Drops the payload of a panic. The panic hook of the process has already reported the panic.
pub(crate) fn discard(panic: Panic) {
    // The payload is a foreign value, and its destructor may panic.
    if let Err(again) = catch_unwind(AssertUnwindSafe(|| drop(panic))) {
        forget(again);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;
    use crate::runtime::bell::{Bell, Breaks};
    use crate::runtime::bursting::{Bursting, Fuse};

    #[test]
    fn all_values_are_dropped_although_their_destructors_panic() {
        let fuse = Arc::<Fuse>::default();
        let three = || (0..3).map(|number| Bursting(number, Arc::clone(&fuse)));
        let (values, remains) = (three().collect::<Vec<_>>(), three().collect::<Vec<_>>());
        fuse.light();
        assert_eq!(caught(|| drop_each(values)), None);
        assert_eq!(fuse.bursts(), 3);
        fuse.light();
        assert_eq!(caught(|| drop(Remains::from(remains))), None);
        assert_eq!(fuse.bursts(), 3);
        assert_eq!(Arc::strong_count(&fuse), 1, "they are gone");
    }

    #[test]
    fn the_panic_of_a_destructor_goes_no_further() {
        let fuse = Arc::<Fuse>::default();
        let value = Bursting(1, Arc::clone(&fuse));
        fuse.light();
        assert_eq!(caught(|| drop_caught(value)), None);
        assert_eq!(fuse.bursts(), 1);
    }

    fn caught(run: impl FnOnce()) -> Option<&'static str> {
        let panic = catch_unwind(AssertUnwindSafe(run)).err()?;
        panic.downcast_ref::<&str>().copied()
    }

    #[test]
    fn all_are_woken_and_the_first_panic_goes_on() {
        let bell = Arc::<Bell>::default();
        let ring = || Waker::from(Arc::clone(&bell));
        let wakers = [ring(), Breaks::waker("first"), ring(), Breaks::waker("second"), ring()];
        assert_eq!(caught(|| wake_all(wakers)), Some("first"));
        assert_eq!(bell.rings(), 3);
        assert_eq!(caught(|| wake_all([ring()])), None);
    }

    #[test]
    fn a_panic_on_the_way_of_another_does_not_end_the_process() {
        struct WakesOnDrop(Option<Waker>);
        impl Drop for WakesOnDrop {
            fn drop(&mut self) {
                wake_all(self.0.take());
            }
        }
        let wakes = WakesOnDrop(Some(Breaks::waker("inner")));
        let way = caught(|| {
            let _wakes = wakes;
            std::panic::panic_any("outer")
        });
        assert_eq!(way, Some("outer"));
    }

    #[test]
    fn a_panic_may_leave_a_value_that_panics_when_it_is_dropped() {
        struct Bomb(Arc<AtomicUsize>);
        impl Drop for Bomb {
            fn drop(&mut self) {
                if self.0.fetch_add(1, Ordering::Relaxed) < 2 {
                    std::panic::panic_any(Self(Arc::clone(&self.0)));
                }
            }
        }
        let drops = Arc::<AtomicUsize>::default();
        discard(Box::new(Bomb(Arc::clone(&drops))));
        assert_eq!(drops.load(Ordering::Relaxed), 1);
    }
}
