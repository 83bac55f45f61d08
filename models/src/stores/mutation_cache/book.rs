//! What threads call and are answered, written down when a call begins and when it has ended.
//!
//! The cache reads a store that has locks of its own, so nothing can be recorded inside one critical
//! section; instead, every call has to take effect at one moment between its beginning and its end.

use seatrial_core::machine::{Cx, Machine, Step};
use seatrial_core::store::{Described, Metadata};

use super::reference::Mistake;

/// An object: its name, which is the key, who it is among those of that name, and its version.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Named {
    /// The key.
    pub key: u8,
    /// Tells objects of one name apart.
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
    /// Reads an object.
    Get(u8),
    /// Has an object watched for changes.
    Watch,
    /// Compares what is watched, which takes its time.
    Compare,
}

/// What a call was answered.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Answer {
    /// It was done.
    Done,
    /// What was read.
    Read(Option<Named>),
}

/// Something to write down.
#[derive(Clone, Debug)]
pub enum Entry {
    /// Nothing: it is asked what is tried.
    Which,
    /// A call begins.
    Begins(Call),
    /// A call has ended.
    Ended(Call, Answer),
}

/// What the book says.
#[derive(Clone, Debug)]
pub enum Said {
    /// The mistakes of what is tried; `None` stands for what ships.
    Which(Option<&'static [Mistake]>),
    /// It is written down.
    Noted,
}

/// A book that knows what is tried.
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
