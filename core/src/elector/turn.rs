//! The orders of the elector: its steps return them, and the driver carries them out.

use crate::runtime::Instant;

use super::fence::Fence;
use super::lock::Version;
use super::record::{Name, Record};

/// A call on the lock.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Io {
    /// Read it.
    Get,
    /// Create it.
    Create(Record),
    /// Replace the record in the object that has this version.
    Update(Record, Version),
}

/// The next thing to do.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Next {
    /// Call the lock, at most until `deadline`, and pass on the answer
    /// ([`Reply`](super::operations::Reply)).
    Call {
        /// The call.
        io: Io,
        /// When to give up the call.
        deadline: Option<Instant>,
        /// Whether it belongs to a release; the token of the run does not end those.
        releases: bool,
    },
    /// Sleep until something is due ([`Rest`](super::operations::Rest)).
    Rest,
    /// Start the protected work, then go on with [`Rest`](super::operations::Rest).
    Lead {
        /// The number of the term.
        term: u64,
        /// Its fencing token.
        fence: Fence,
    },
    /// The single attempt or release is over; true if it succeeded.
    Done(bool),
    /// The run is over and its leadership revoked: call the stop callback.
    Ended {
        /// Whether the run had led.
        led: bool,
    },
    /// Nothing was done: another run or attempt is under way, or there is none to continue.
    Refused,
}

/// Events to report, in this order, before the next order is carried out.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Notes {
    /// An attempt had to read first although this is the leader (`election:LE-60`).
    pub slow_path: bool,
    /// A leader was observed that differs from the last reported one (`election:LE-52`).
    pub new_leader: Option<Name>,
    /// Leadership was gained: report the event and turn the metric on.
    pub became_leader: bool,
    /// Leadership was lost: turn the metric off.
    pub metric_off: bool,
    /// The renew loop is over: report the event.
    pub stopped_leading: bool,
}

/// The answer to every operation that moves a run forward.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Turn {
    /// The events to report.
    pub notes: Notes,
    /// The next thing to do.
    pub next: Next,
}
