//! What goes on around an informer, written down as it happens.
//!
//! An informer is no machine under one lock: a reflector, a queue, a store and a line for each
//! handler have locks of their own. So what is written down is what a user sees: calls of the
//! handlers, what the informer says, what it asks the server.

use std::time::Duration;

use seatrial_core::machine::{Cx, Machine, Step};

use super::mutants::Mistake;

/// The number of a handler.
pub type Number = u8;

/// What a handler is told.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Told {
    /// An object is new, in that version.
    Added {
        /// The version.
        version: u64,
        /// Whether it was in the first list.
        initial: bool,
    },
    /// It has changed from one version to another.
    Updated {
        /// The version before.
        old: u64,
        /// The version now.
        new: u64,
    },
    /// It is gone.
    Deleted,
}

/// Something to write down.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Entry {
    /// Nothing: it is asked which informer is tried.
    Which,
    /// The server begins with that many objects, each in the version that is its number and one.
    Begins(u16),
    /// The server has an object in that version; zero if it has it no more.
    Has(u16, u64),
    /// The server is asked for a list or a stream, and may refuse.
    Asked {
        /// Whether it refuses.
        refused: bool,
    },
    /// The store has an object in that version.
    Stored(u16, u64),
    /// An index function panics.
    IndexPanics,
    /// A handler is to be added, which is to be shown again, so often, what has not changed.
    Adds(Number, Option<Duration>),
    /// It is there, or refused.
    Added(Number, bool),
    /// A call of a handler begins.
    Calls {
        /// Whose.
        number: Number,
        /// Of which object.
        key: u16,
        /// What is told of it.
        told: Told,
        /// Which version the store has; zero for none.
        stored: u64,
        /// How often the object was transformed.
        transformed: u8,
    },
    /// It has returned, or panicked.
    Returns(Number, bool),
    /// A handler is reported to have panicked, or to be slow.
    Reported(Number, Complaint),
    /// A handler is gone, while its informer had stopped or not.
    Gone(Number, bool),
    /// Somebody waits until a handler has synced.
    AwaitsSync(Number),
    /// It has synced, or will not.
    Synced(Number, bool),
    /// A handler is to be removed.
    Removes(Number),
    /// It was, and that was waited for or not.
    Removed(Number, bool),
    /// A run begins.
    Runs,
    /// It has ended; false if it was refused.
    Ran(bool),
    /// It has panicked.
    RunPanicked,
    /// The end is asked for.
    Stops,
    /// It was.
    Stopped,
    /// That many streams and calls are open at the server.
    Open(u32),
}

/// What is reported of a handler.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Complaint {
    /// It panicked.
    Panicked,
    /// It is slow.
    Slow,
}

/// What the book says.
#[derive(Clone, Debug)]
pub enum Said {
    /// The mistake of the informer that is tried: of the one that ships there is none.
    Which(Which),
    /// It is written down.
    Noted,
}

/// Which informer is tried.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Which {
    /// The one that ships.
    Ships,
    /// The plain one, with a mistake or without.
    Plain(Option<Mistake>),
}

/// A book that knows which informer is tried.
#[derive(Clone, Copy, Debug)]
pub struct Book(pub Which);

impl Machine for Book {
    type Op = Entry;
    type Ret = Said;

    fn step(&mut self, entry: &mut Entry, _: &mut Cx<'_>) -> Step<Said> {
        Step::Done(match entry {
            Entry::Which => Said::Which(self.0),
            _ => Said::Noted,
        })
    }
}
