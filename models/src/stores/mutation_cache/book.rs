//! Records the calls of threads and their answers, when a call begins and when it has ended.
//!
//! The cache reads a store that has its own locks, so nothing can be recorded inside one critical
//! section. Instead, every call must take effect at one moment between its beginning and its end.

use seatrial_core::store::{Described, Metadata};

use crate::stores::fixtures;

/// An object: its key, which is its name, its uid, and its version.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Named {
    /// The key.
    pub key: u8,
    /// Distinguishes objects with the same name.
    pub uid: u8,
    /// The version.
    pub version: u8,
}

/// Small numbers as texts, so that they can be borrowed.
const TEXTS: [&str; 10] = ["0", "1", "2", "3", "4", "5", "6", "7", "8", "9"];

impl Described for Named {
    fn metadata(&self) -> Option<Metadata<'_>> {
        let text = |number: u8| TEXTS[usize::from(number) % TEXTS.len()];
        let (uid, resource_version) = (text(self.uid), text(self.version));
        Some(Metadata { uid, resource_version, ..Metadata::default() })
    }
}

/// A call on the cache, its store, or the detector.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Call {
    /// The store gets an object.
    Store(Named),
    /// The store loses the object with a key.
    Unstore(u8),
    /// This client wrote an object.
    Wrote(Named),
    /// A handler has seen a state of an object.
    Seen(Named),
    /// A handler has seen an object deleted.
    Gone(Named),
    /// A handler has seen that an object is gone, of which only the key is known.
    Lost(u8),
    /// Reads an object.
    Get(u8),
    /// Reads the objects with a uid.
    List(u8),
    /// Adds an object to watch for changes.
    Watch,
    /// Compares the watched objects, which takes time.
    Compare,
}

/// The answer to a call.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Answer {
    /// The call was carried out.
    Done,
    /// The object that was read.
    Read(Option<Named>),
    /// The objects that were read.
    Listed(Vec<Named>),
}

/// The entries of the book.
pub type Entry = fixtures::Entry<Call, Answer>;
/// The book.
pub type Book = crate::events::fixtures::Book<Entry>;
/// A call that has ended.
pub(super) type Ended = fixtures::Ended<Call, Answer>;
