//! What the elector wants done next: its steps return orders, the driver carries them out.

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

/// What to do next.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Next {
    /// Call the lock, until `deadline` at most, and hand in the answer
    /// ([`Reply`](super::operations::Reply)).
    Call {
        /// The call.
        io: Io,
        /// When to give it up.
        deadline: Option<Instant>,
        /// Whether it belongs to a release, which the token of the run does not end.
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
    /// Nothing was done: another run or attempt is under way, or there is none to go on with.
    Refused,
}

/// What happened on the way, to be told in this order before the next thing is done.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Notes {
    /// An attempt had to read first although this is the leader (`election:LE-60`).
    pub slow_path: bool,
    /// Another leader than the last reported one was observed (`election:LE-52`).
    pub new_leader: Option<Name>,
    /// Leadership was gained: the event, and the metric goes on.
    pub became_leader: bool,
    /// Leadership was lost: the metric goes off.
    pub metric_off: bool,
    /// The renew loop is over: the event.
    pub stopped_leading: bool,
}

/// The answer to every operation that moves a run forward.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Turn {
    /// What happened.
    pub notes: Notes,
    /// What to do next.
    pub next: Next,
}
