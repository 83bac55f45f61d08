//! One sleep of one thread.

use parking_lot::{Condvar, Mutex};

use crate::runtime::Instant;

/// Why a sleep ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::runtime) enum Roused {
    /// A notification.
    ByNotice,
    /// The clock.
    ByClock,
}

/// One sleep of one thread. The first wake-up decides how it ended.
#[derive(Debug)]
pub(in crate::runtime) struct Sleeper {
    pub(in crate::runtime) until: Instant,
    roused: Mutex<Option<Roused>>,
    signal: Condvar,
}

impl Sleeper {
    pub(in crate::runtime) fn new(until: Instant) -> Self {
        Self { until, roused: Mutex::new(None), signal: Condvar::new() }
    }

    /// Ends the sleep; false if it was ended before.
    pub(in crate::runtime) fn rouse(&self, how: Roused) -> bool {
        let mut roused = self.roused.lock();
        if roused.is_some() {
            return false;
        }
        *roused = Some(how);
        self.signal.notify_one();
        true
    }

    /// Sleeps until roused; returns at once if that has already happened.
    pub(in crate::runtime) fn sleep(&self) -> Roused {
        let mut roused = self.roused.lock();
        loop {
            match *roused {
                Some(how) => return how,
                None => self.signal.wait(&mut roused),
            }
        }
    }
}
