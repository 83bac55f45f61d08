//! Records the calls of threads and their answers, when a call begins and when it has ended.
//!
//! The store is no machine under one lock: writers have their own lock, and readers see the results
//! of writes. So nothing can be recorded inside one critical section. Instead, every call must take
//! effect at one moment between its beginning and its end.

use super::op::Labelled;
use crate::stores::fixtures;

/// A call on the store.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Call {
    /// Stores an object.
    Put(Labelled),
    /// Removes the object with a key.
    Delete(u8),
    /// Replaces the content by a list.
    Replace(Vec<Labelled>),
    /// Stores several objects in one step; removes those with the flag set.
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
    /// Reads all objects.
    List,
    /// Takes a snapshot, writes an object, and reads the snapshot. Only for programs without
    /// another writer: the call is not a single step.
    SnapshotAcross(Labelled),
    /// Reads the resource version of the content.
    Version,
}

/// The answer to a call.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Answer {
    /// The call was carried out.
    Done,
    /// The call was refused.
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

/// The entries of the book.
pub type Entry = fixtures::Entry<Call, Answer>;
/// The book.
pub type Book = crate::events::fixtures::Book<Entry>;
