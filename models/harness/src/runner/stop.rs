//! When no new case is started.

use std::sync::atomic::{AtomicBool, Ordering};

use crate::interrupt;

/// Watches for a reason to stop.
pub(super) struct Stop {
    fail_fast: bool,
    failed: AtomicBool,
}

impl Stop {
    pub(super) fn new(fail_fast: bool) -> Self {
        Self { fail_fast, failed: AtomicBool::new(false) }
    }

    /// Hears of a result that is not as expected.
    pub(super) fn not_as_expected(&self) {
        self.failed.store(true, Ordering::Relaxed);
    }

    /// Tells whether the next case may start.
    pub(super) fn goes_on(&self) -> bool {
        let failed = self.fail_fast && self.failed.load(Ordering::Relaxed);
        !interrupt::asked() && !failed
    }
}
