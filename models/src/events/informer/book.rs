//! Records events around an informer as they happen.
//!
//! An informer is no machine under one lock: a store and a line for each handler have locks of
//! their own. So the book records the events that a user sees: the calls of
//! handlers, the informer's answers, and its requests to the server.

use std::time::Duration;

use crate::events::fixtures;

/// The number of a handler.
pub type Number = u8;

/// The change that a handler is told.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Told {
    /// An object is new, in this version.
    Added {
        /// The version.
        version: u64,
        /// Whether it was in the first list.
        initial: bool,
    },
    /// The object has changed from one version to another.
    Updated {
        /// The version before.
        old: u64,
        /// The version now.
        new: u64,
    },
    /// The object is gone.
    Deleted,
}

/// An entry of the book.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Entry {
    /// The server begins with this many objects. The version of each is its number plus one.
    Begins(u16),
    /// The server now has an object in this version; zero if it was deleted.
    Has(u16, u64),
    /// The server is asked for a list or a stream, and may refuse.
    Asked {
        /// Whether it refuses.
        refused: bool,
    },
    /// The store has an object in this version.
    Stored(u16, u64),
    /// An index function panics.
    IndexPanics,
    /// An index function refuses an object in this version.
    IndexRefuses(u16, u64),
    /// A handler is about to be added; it wants unchanged objects shown again after this period.
    Adds(Number, Option<Duration>),
    /// The handler was added (true) or refused (false).
    Added(Number, bool),
    /// A call of a handler begins.
    Calls {
        /// The handler.
        number: Number,
        /// The object.
        key: u16,
        /// The change that is told.
        told: Told,
        /// The version in the store; zero for none.
        stored: u64,
        /// How often the object was transformed.
        transformed: u8,
    },
    /// The call of a handler has returned (true) or panicked (false).
    Returns(Number, bool),
    /// A report says that a handler panicked or is slow.
    Reported(Number, Complaint),
    /// A handler is gone; true if its informer had stopped before.
    Gone(Number, bool),
    /// A caller waits until a handler has synced.
    AwaitsSync(Number),
    /// The handler has synced (true), or never will (false).
    Synced(Number, bool),
    /// A handler is about to be removed.
    Removes(Number),
    /// The handler was removed; true if the caller waited for its last call.
    Removed(Number, bool),
    /// A run begins.
    Runs,
    /// The run has ended; false if it was refused.
    Ran(bool),
    /// The run has panicked.
    RunPanicked,
    /// The informer is about to be stopped.
    Stops,
    /// The informer was told to stop.
    Stopped,
    /// This many streams and calls are open at the server.
    Open(u32),
}

/// The content of a report about a handler.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Complaint {
    /// It panicked.
    Panicked,
    /// It is slow.
    Slow,
}

/// The book of an informer.
pub type Book = fixtures::Book<Entry>;
