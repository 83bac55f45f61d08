//! The exploration that this operating-system thread is in the middle of.
//!
//! Every thread of the program under test is a coroutine on one operating-system thread, so what
//! they share with the scheduler can lie in a thread-local value.

use std::cell::RefCell;
use std::sync::Arc;

use super::alarms::Alarms;
use super::kernel::{Kernel, Phase};
use super::strategy::Chooser;
use crate::engine::{End, Schedule};

/// One exploration.
pub(super) struct Session {
    pub(super) kernel: Kernel,
    pub(super) chooser: Box<dyn Chooser>,
    /// The timers of this execution, once a thread has set one.
    pub(super) alarms: Option<Arc<Alarms>>,
    /// Whether this execution could have gone another way.
    pub(super) was_free: bool,
}

thread_local! {
    static SESSION: RefCell<Option<Session>> = const { RefCell::new(None) };
}

/// Makes a session the current one until the guard drops, which brings the former one back.
pub(super) fn enter(session: Session) -> Entered {
    Entered { former: SESSION.replace(Some(session)) }
}

/// Keeps the session of an exploration that another one was started inside.
pub(super) struct Entered {
    former: Option<Session>,
}

impl Drop for Entered {
    fn drop(&mut self) {
        let ended = SESSION.replace(self.former.take());
        drop(ended); // outside the borrow: what strategies and timers hold may be anything
    }
}

/// Looks at the current session; `None` outside an exploration.
pub(super) fn try_with<T>(look: impl FnOnce(&mut Session) -> T) -> Option<T> {
    SESSION.with_borrow_mut(|session| session.as_mut().map(look))
}

/// Looks at the current session.
///
/// # Panics
/// Outside an exploration.
pub(super) fn with<T>(look: impl FnOnce(&mut Session) -> T) -> T {
    try_with(look).expect("a ShuttleRuntime works inside `explore` alone")
}

impl Session {
    /// Begins the next execution; false if the strategy has no more.
    pub(super) fn begin(&mut self) -> bool {
        let more = self.chooser.begin();
        if more {
            self.was_free = false;
            self.kernel.begin();
        }
        more
    }

    /// Ends an execution and tells how it ended, by which schedule.
    pub(super) fn end(&mut self) -> (End, Schedule) {
        let end = self.kernel.end();
        self.chooser.finish(&self.kernel, &end);
        (end, std::mem::take(&mut self.kernel.schedule))
    }

    /// Answers a question of data, `None` if the execution is given up instead.
    pub(super) fn answer(&mut self, options: u32) -> Option<u32> {
        if self.kernel.phase() != Phase::Running {
            return None;
        }
        self.was_free |= options > 1;
        match self.chooser.data(&self.kernel, options) {
            Ok(answer) => {
                debug_assert!(answer < options);
                self.kernel.answer(answer);
                Some(answer)
            }
            Err(end) => {
                self.kernel.stop(Some(end));
                None
            }
        }
    }
}
