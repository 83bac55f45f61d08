//! The machine: the shipped rules about the store's version, and a store, each behind its own lock.

use std::collections::BTreeMap;
use std::sync::Arc;

use seatrial_core::delta_fifo::Delta;
use seatrial_core::informer::fresh::{self, Fresh, NotVisibleError};
use seatrial_core::machine::{Boxed, Cx, Machine, Passed, Step};
use seatrial_core::ordered_fifo::Event;
use seatrial_core::runtime::Instant;
use seatrial_core::store::{Described, Metadata};

use crate::trial::MachineOf;

use super::OwnWrites;

/// An object.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Thing {
    name: String,
    pub(super) uid: String,
    text: String,
    pub(super) version: u64,
}

pub(super) type Object = Arc<Thing>;

impl Thing {
    pub(super) fn object(name: &str, uid: &str, version: u64) -> Object {
        let (name, uid, text) = (name.to_owned(), uid.to_owned(), version.to_string());
        Arc::new(Self { name, uid, text, version })
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }
}

impl Described for Thing {
    fn metadata(&self) -> Option<Metadata<'_>> {
        let (name, uid, resource_version) = (&*self.name, &*self.uid, &*self.text);
        Some(Metadata { namespace: "", name, uid, resource_version })
    }
}

/// The events that change the store.
pub(super) type News = Event<String, Object>;

/// The objects that a client wants to read.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Wish {
    /// An object, from a store that has this version.
    OneAtLeast(String, u64),
    /// All objects, from a store that has this version.
    AllAtLeast(u64),
    /// An object, once the store has the client's own writes of it.
    OneWritten(String),
    /// All objects, once the store has all of the client's own writes.
    AllWritten,
}

/// A note in the history.
#[derive(Clone, Debug)]
pub enum Note {
    /// The server had these objects from this version on.
    Server(u64, Vec<Object>),
    /// The client wrote an object.
    Wrote(Object),
    /// The client deleted an object.
    Deleted(Object),
    /// The client asks, and waits until this time.
    Asks(Wish, Instant),
    /// The client gets a result.
    Told(Wish, Result<Vec<Object>, NotVisibleError>),
    /// The client gives up.
    GivesUp,
}

/// A call on one of the two locks.
#[derive(Clone, Debug)]
pub enum Op {
    /// A call on the rules about the store's version.
    Fresh(fresh::Op),
    /// Changes the store.
    Apply(News),
    /// Reads an object.
    One(String),
    /// Reads all objects.
    All,
    /// Whether an object with this key has this uid.
    Has(String, String),
    /// Records a note.
    Note(Note),
}

/// The result of a call.
#[derive(Clone, Debug)]
pub enum Ret {
    /// The answer of the rules.
    Fresh(fresh::Ret),
    /// The store has changed; the event to tell.
    Applied(Option<News>),
    /// Objects of the store.
    Read(Vec<Object>),
    /// Whether the object has this uid.
    Has(bool),
    /// The note is recorded.
    Noted,
}

/// The rules that ship, and a store.
#[derive(Clone, Debug, Default)]
pub struct Shelf {
    pub(super) fresh: Fresh,
    pub(super) objects: BTreeMap<String, Object>,
}

impl Shelf {
    pub(super) fn apply(&mut self, news: &News) {
        match news {
            Event::Delta(Delta::Deleted(last)) => {
                let gone = last.object().expect("a stream tells the last state");
                self.objects.remove(&gone.name);
            }
            Event::Delta(
                Delta::Added(object)
                | Delta::Updated(object)
                | Delta::Replaced(object)
                | Delta::Sync(object),
            ) => drop(self.objects.insert(object.name.clone(), Arc::clone(object))),
            Event::ReplacedAll(list) => {
                let named = |object: &Object| (object.name.clone(), Arc::clone(object));
                self.objects = list.objects.iter().map(named).collect();
            }
            Event::SyncAll | Event::Bookmark(_) => {}
        }
    }
}

impl Machine for Shelf {
    type Op = Op;
    type Ret = Ret;

    fn step(&mut self, op: &mut Op, cx: &mut Cx<'_>) -> Step<Ret> {
        Step::Done(match op {
            Op::Fresh(call) => return self.fresh.step(call, cx).map(Ret::Fresh),
            Op::Apply(news) => {
                self.apply(news);
                Ret::Applied(Some(news.clone()))
            }
            Op::One(key) => Ret::Read(self.objects.get(key).cloned().into_iter().collect()),
            Op::All => Ret::Read(self.objects.values().cloned().collect()),
            Op::Has(key, uid) => Ret::Has(self.objects.get(key).is_some_and(|it| it.uid == *uid)),
            Op::Note(_) => Ret::Noted,
        })
    }

    fn cancel(&mut self, op: &mut Op, cx: &mut Cx<'_>) {
        if let Op::Fresh(call) = op {
            self.fresh.cancel(call, cx);
        }
    }
}

/// Puts the machine under trial in the place of the shipped rules.
pub(super) fn hosted(machine: MachineOf<OwnWrites>) -> Boxed<Fresh> {
    Boxed(Box::new(Hosted(machine)))
}

struct Hosted(MachineOf<OwnWrites>);

impl Machine for Hosted {
    type Op = fresh::Op;
    type Ret = fresh::Ret;

    fn step(&mut self, op: &mut fresh::Op, cx: &mut Cx<'_>) -> Step<fresh::Ret> {
        let mut data = Op::Fresh(op.clone());
        let step = self.0.step(&mut data, cx);
        let Op::Fresh(data) = data else { unreachable!("a machine keeps the kind of a call") };
        *op = data;
        step.map(|ret| match ret {
            Ret::Fresh(ret) => ret,
            _ => unreachable!("a machine answers what it is asked"),
        })
    }

    fn cancel(&mut self, op: &mut fresh::Op, cx: &mut Cx<'_>) {
        self.0.cancel(&mut Op::Fresh(op.clone()), cx);
    }

    fn passes_on(&mut self, what: Passed) -> bool {
        self.0.passes_on(what)
    }
}
