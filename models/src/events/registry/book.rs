//! What goes on around a registry, written down as it happens.
//!
//! A registry is no machine under one lock: each of its members has locks and a thread of its own. So
//! what is written down is what a user sees, and what the members do.

use seatrial_core::machine::{Cx, Machine, Step};
use seatrial_core::runtime::Instant;

use super::mutants::Mistake;

/// The number of a member, in the order in which they are made.
pub type Number = u8;
/// The name of a member.
pub type Name = &'static str;

/// Something to write down.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Entry {
    /// Nothing: it is asked which registry is tried.
    Which,
    /// Somebody wants the member of a name.
    Gets(Name),
    /// It is there, or all is over.
    Got(Name, Option<Number>),
    /// All that are there are to be started.
    Starts,
    /// They are.
    Started,
    /// Somebody waits until all have their first lists, or until then.
    AwaitsSync(Instant),
    /// They have, or these have not.
    Synced(Result<(), Vec<String>>),
    /// The member of a name is to be removed.
    Removes(Name),
    /// It was, or there was none.
    Removed(Name, bool),
    /// All are to be stopped.
    ShutsDown,
    /// That is over, perhaps with a panic.
    ShutDown {
        /// Whether it panicked.
        panicked: bool,
    },
    /// The registry is dropped.
    Dropped,
    /// A member begins to run.
    Runs(Number),
    /// It has its first list.
    Lists(Number),
    /// It panics.
    Panics(Number),
    /// Its run ends.
    Ends(Number),
    /// Nobody has it any more.
    Gone(Number),
}

/// What the book says.
#[derive(Clone, Debug)]
pub enum Said {
    /// The registry that is tried.
    Which(Which),
    /// It is written down.
    Noted,
}

/// Which registry is tried.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Which {
    /// The one that ships.
    Ships,
    /// The one of `reference`, with a mistake or without.
    Reference(Option<Mistake>),
}

/// A book that knows which registry is tried.
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
