//! One sleep of one thread.

use parking_lot::{Condvar, Mutex};

use crate::runtime::Instant;

/// What ended a sleep.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Roused {
    /// A notification.
    ByNotice,
    /// The clock.
    ByClock,
}

/// One sleep of one thread: whoever rouses it first decides how it ended.
#[derive(Debug)]
pub(super) struct Sleeper {
    pub(super) until: Instant,
    roused: Mutex<Option<Roused>>,
    signal: Condvar,
}

impl Sleeper {
    pub(super) fn new(until: Instant) -> Self {
        Self { until, roused: Mutex::new(None), signal: Condvar::new() }
    }

    /// Ends the sleep; false if it was ended before.
    pub(super) fn rouse(&self, how: Roused) -> bool {
        let mut roused = self.roused.lock();
        if roused.is_some() {
            return false;
        }
        *roused = Some(how);
        self.signal.notify_one();
        true
    }

    /// Sleeps until roused, however long ago that was.
    pub(super) fn sleep(&self) -> Roused {
        let mut roused = self.roused.lock();
        loop {
            match *roused {
                Some(how) => return how,
                None => self.signal.wait(&mut roused),
            }
        }
    }
}
