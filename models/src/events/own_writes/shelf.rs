//! The machine: how far a store is, as it ships, and a store to read, each behind a lock of its own.

use std::collections::BTreeMap;
use std::sync::Arc;

use seatrial_core::delta_fifo::Delta;
use seatrial_core::informer::fresh::{self, Fresh, NotVisible};
use seatrial_core::machine::{Cx, Host, Machine, Operation, Passed, Step};
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

/// What goes into the store.
pub(super) type News = Event<String, Object>;

/// What a client wants to read.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Wish {
    /// An object, of a store that has that version.
    OneAtLeast(String, u64),
    /// All of such a store.
    AllAtLeast(u64),
    /// An object, once what was written of it is there.
    OneWritten(String),
    /// All, once all is there that was written.
    AllWritten,
}

/// Something to write down.
#[derive(Clone, Debug)]
pub enum Note {
    /// The server had these objects from that version on.
    Server(u64, Vec<Object>),
    /// The client wrote an object.
    Wrote(Object),
    /// The client deleted an object.
    Deleted(Object),
    /// The client asks, and waits so long.
    Asks(Wish, Instant),
    /// It is told.
    Told(Wish, Result<Vec<Object>, NotVisible>),
    /// It asks no more.
    GivesUp,
}

/// A call on the one lock or the other.
#[derive(Clone, Debug)]
pub enum Op {
    /// On how far the store is.
    Fresh(fresh::Op),
    /// Changes the store.
    Apply(News),
    /// Reads an object.
    One(String),
    /// Reads all.
    All,
    /// Whether an object with this key has this uid.
    Has(String, String),
    /// Writes something down.
    Note(Note),
}

/// What it comes to.
#[derive(Clone, Debug)]
pub enum Ret {
    /// What the rules say.
    Fresh(fresh::Ret),
    /// The store has changed; what is told of it.
    Applied(Option<News>),
    /// Objects of the store.
    Read(Vec<Object>),
    /// Whether it is so.
    Has(bool),
    /// It is written down.
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

/// The machine under trial where the rules are that ship.
pub(super) struct Hosted(pub(super) MachineOf<OwnWrites>);

impl Host<Fresh> for Hosted {
    fn run<O: Operation<Fresh>>(&mut self, op: &mut O, cx: &mut Cx<'_>) -> Step<O::Ret> {
        let mut data = Op::Fresh(op.clone().embed());
        let step = self.0.step(&mut data, cx);
        let Op::Fresh(data) = data else { unreachable!("a machine keeps the kind of a call") };
        *op = O::project(data);
        step.map(|ret| match ret {
            Ret::Fresh(ret) => O::result(ret),
            _ => unreachable!("a machine answers what it is asked"),
        })
    }

    fn give_up<O: Operation<Fresh>>(&mut self, op: &mut O, cx: &mut Cx<'_>) {
        self.0.cancel(&mut Op::Fresh(op.clone().embed()), cx);
    }

    fn passes_on(&mut self, what: Passed) -> bool {
        self.0.passes_on(what)
    }
}
