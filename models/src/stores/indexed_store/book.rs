//! What threads call and are answered, written down when a call begins and when it has ended.
//!
//! The store is no machine under one lock: writers have a lock of their own, and readers see what
//! a write leaves. So nothing can be recorded inside one critical section; instead, every call has
//! to take effect at one moment between its beginning and its end.

use seatrial_core::machine::{Cx, Machine, Step};

use super::op::Labelled;
use super::reference::Mistake;

/// A call on the store.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Call {
    /// Stores an object.
    Put(Labelled),
    /// Removes the object with a key.
    Delete(u8),
    /// Makes a list the content.
    Replace(Vec<Labelled>),
    /// Stores several objects as one; removes where the flag is set.
    Transact(Vec<(bool, Labelled)>),
    /// Adds the index by bits.
    AddIndex,
    /// Reads the objects that have a bit.
    ByIndex(u8),
    /// Reads the keys of the objects that have a bit.
    Keys(u8),
    /// Reads the bits that some object has.
    Values,
    /// Reads the object with a key.
    Get(u8),
    /// Reads everything.
    List,
    /// Takes a snapshot, writes an object, and reads the snapshot. Only where nobody else writes:
    /// the two are no one step.
    SnapshotAcross(Labelled),
    /// Reads the resource version of the content.
    Version,
}

/// What a call was answered.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Answer {
    /// It was done.
    Done,
    /// It was refused.
    Refused,
    /// There is no such index.
    NoIndex,
    /// Objects, in the order of their keys.
    Objects(Vec<Labelled>),
    /// Keys, in the order of the answer.
    Keys(Vec<u8>),
    /// Bits, in their order.
    Values(Vec<u8>),
    /// A resource version.
    Version(String),
}

/// Something to write down.
#[derive(Clone, Debug)]
pub enum Entry {
    /// Nothing: it is asked which store is tried.
    Which,
    /// A call begins.
    Begins(Call),
    /// A call has ended.
    Ended(Call, Answer),
}

/// What the book says.
#[derive(Clone, Debug)]
pub enum Said {
    /// The mistakes of the store that is tried; `None` stands for the one that ships.
    Which(Option<&'static [Mistake]>),
    /// It is written down.
    Noted,
}

/// A book that knows which store is tried.
#[derive(Clone, Copy, Debug)]
pub struct Book(pub Option<&'static [Mistake]>);

impl Machine for Book {
    type Op = Entry;
    type Ret = Said;

    fn step(&mut self, entry: &mut Entry, _: &mut Cx<'_>) -> Step<Said> {
        Step::Done(match entry {
            Entry::Which => Said::Which(self.0),
            Entry::Begins(_) | Entry::Ended(..) => Said::Noted,
        })
    }
}
