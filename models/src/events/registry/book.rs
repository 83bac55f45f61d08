//! Records events around a registry as they happen.
//!
//! A registry is no machine under one lock: each of its members has its own locks and its own
//! thread. So the book records the events that a user sees, and the members' actions.

use seatrial_core::runtime::Instant;

use crate::events::fixtures;

/// The number of a member, in the order in which they are made.
pub type Number = u8;
/// The name of a member.
pub type Name = &'static str;

/// An entry of the book.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Entry {
    /// A caller asks for the member with this name.
    Gets(Name),
    /// The caller gets the member, or none because the registry is over.
    Got(Name, Option<Number>),
    /// All members are about to be started.
    Starts,
    /// All members were started.
    Started,
    /// A caller waits, until this time at most, for the first lists of all members.
    AwaitsSync(Instant),
    /// All members have their first lists, or these do not.
    Synced(Result<(), Vec<String>>),
    /// The member with this name is about to be removed.
    Removes(Name),
    /// The member was removed (true), or there was none.
    Removed(Name, bool),
    /// All members are about to be stopped.
    ShutsDown,
    /// The stop is over.
    ShutDown {
        /// Whether it panicked.
        panicked: bool,
    },
    /// The registry is dropped.
    Dropped,
    /// A member begins to run.
    Runs(Number),
    /// A member has its first list.
    Lists(Number),
    /// A member panics.
    Panics(Number),
    /// The run of a member ends.
    Ends(Number),
    /// A member was dropped by its last owner.
    Gone(Number),
}

/// The book of a registry.
pub type Book = fixtures::Book<Entry>;
