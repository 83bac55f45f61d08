//! The state of one thread.

use seatrial_core::runtime::Instant;

use super::Wanted;

/// The event that a thread sleeps for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::engine::loom) enum Asleep {
    /// A notification, at most until the deadline; then the lock.
    Notified { condvar: usize, lock: usize, until: Instant },
    /// A point in time.
    Until(Instant),
    /// The end of a thread.
    Ended(usize),
}

impl Asleep {
    pub(super) fn until(self) -> Instant {
        match self {
            Self::Notified { until, .. } | Self::Until(until) => until,
            Self::Ended(_) => Instant::NEVER,
        }
    }
}

/// Whether a panic unwinds the stack of a thread.
///
/// loom runs all threads on one thread of the operating system. As soon as one of them unwinds, the
/// standard library reports that of all of them. It is sure for the first and a guess for the
/// others.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(in crate::engine::loom) enum Unwinding {
    #[default]
    No,
    Perhaps,
    Surely,
}

/// One thread.
#[derive(Debug, Default)]
pub(in crate::engine::loom) struct Thread {
    pub(in crate::engine::loom) name: String,
    pub(in crate::engine::loom) number: u8,
    /// Its handle in loom, once it has one.
    pub(in crate::engine::loom) handle: Option<::loom::thread::Thread>,
    /// The lock that it is about to try.
    pub(in crate::engine::loom) aim: Option<Wanted>,
    /// Whether its last sleep was ended by the deadline.
    pub(in crate::engine::loom) timed_out: bool,
    /// Whether it sleeps until no other thread can move.
    pub(super) is_patient: bool,
    pub(in crate::engine::loom) ended: bool,
    /// The message of its panic, if it panicked.
    pub(in crate::engine::loom) panicked: Option<String>,
    pub(in crate::engine::loom) joined: bool,
    pub(in crate::engine::loom) unwinding: Unwinding,
    /// How often it was made to unwind.
    pub(in crate::engine::loom) thrown: u32,
    /// Questions asked, random numbers drawn, locks made: all counted per thread, so that they do
    /// not depend on the schedule.
    pub(in crate::engine::loom) questions: u32,
    pub(in crate::engine::loom) draws: u32,
    pub(super) locks: u32,
    /// The lock that it found held.
    pub(super) wants: Option<Wanted>,
    /// The lock that it has to take again after its sleep.
    pub(super) relock: Option<Wanted>,
    pub(super) asleep: Option<Asleep>,
    /// Whether it is to run the wakers that are due.
    pub(super) called: bool,
    /// The lock that it wanted when it was called to run wakers. A waker can block, so calls can
    /// nest.
    pub(super) serving: Vec<Option<Wanted>>,
    pub(super) parked: bool,
    /// The way to it from main: at each step, which child of its parent.
    pub(super) way: Vec<u8>,
    pub(super) children: u8,
}

impl Thread {
    pub(super) fn unpark(&mut self) {
        self.parked = false;
        if let Some(handle) = &self.handle {
            handle.unpark();
        }
    }
}
