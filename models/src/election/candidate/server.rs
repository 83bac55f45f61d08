//! The server that keeps the candidate's object, as one machine: candidates write it, other callers
//! ping, a watch waits for changes. The server also says which candidate is tried.

use seatrial_core::elector::candidate::CandidateSpec;
use seatrial_core::elector::{Meta, Object, ObjectName, StoreError, Timestamp, Version};
use seatrial_core::machine::{Channel, Cx, Machine, Operation, Step};

use crate::shared::Mistake;

/// The channel on which the watch sleeps.
const WATCHERS: Channel = 0;

/// The name of the candidate's object.
pub(super) const NAME: (&str, &str) = ("default", "candidate");

/// The candidate that is tried.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Tried {
    /// The one that ships.
    Ships,
    /// The same candidate, implemented a second time, perhaps with a mistake.
    Plain(Mistake),
}

/// The server.
#[derive(Debug)]
pub struct Server {
    tried: Tried,
    object: Option<CandidateSpec>,
    changes: u64,
    refuses: u8,
    watched: bool,
}

/// The object after a change, if there is one, and the number of the change.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Shown {
    /// The object.
    pub spec: Option<CandidateSpec>,
    /// How many changes there have been.
    pub changes: u64,
}

/// Asks which candidate is tried.
#[derive(Clone, Debug)]
pub struct Who;

/// A call of the candidate.
#[derive(Clone, Debug)]
pub enum Serve {
    /// Creates the object.
    Create(CandidateSpec),
    /// Replaces the object, if it has not changed since the change with this number.
    Update(CandidateSpec, u64),
}

impl Serve {
    pub(super) fn verb(&self) -> &'static str {
        match self {
            Self::Create(_) => "create",
            Self::Update(..) => "renew",
        }
    }
}

/// Another program stores the object.
#[derive(Clone, Debug)]
pub struct Place(pub CandidateSpec);

/// Another program deletes the object.
#[derive(Clone, Debug)]
pub struct Delete;

/// The server asks whether the candidate is there.
#[derive(Clone, Debug)]
pub struct Ping;

/// Refuses the next calls of the candidate, this many of them.
#[derive(Clone, Debug)]
pub struct Refuse(pub u8);

/// Waits for a change after `after`; returns `None` once the watch is stopped.
#[derive(Clone, Debug)]
pub struct Watch {
    /// The number of the change seen last; `None` for a first look.
    pub after: Option<u64>,
}

/// Stops the watch.
#[derive(Clone, Debug)]
pub struct StopWatch;

seatrial_core::operations! {
    [] Server: Call, Answer {
        Who(Who) -> Tried,
        Serve(Serve) -> Result<Shown, StoreError>,
        Place(Place) -> (),
        Delete(Delete) -> (),
        Ping(Ping) -> (),
        Refuse(Refuse) -> (),
        Watch(Watch) -> Option<Shown>,
        StopWatch(StopWatch) -> (),
    } valid = Server::check
}

impl Shown {
    /// The same as an object of a store.
    pub(super) fn object(&self) -> Option<Object<CandidateSpec>> {
        let name = ObjectName::new(NAME.0, NAME.1);
        let mut meta = Meta::new(name);
        meta.version = Version::Number(self.changes);
        Some(Object::new(meta, self.spec.clone()?))
    }
}

impl Server {
    /// Makes a server without an object, for that candidate.
    pub(super) fn of(tried: Tried) -> Box<dyn Machine<Op = Call, Ret = Answer>> {
        Box::new(Self { tried, object: None, changes: 0, refuses: 0, watched: true })
    }

    fn check(&self) {
        assert!(self.object.is_none() || self.changes > 0, "an object has been stored");
    }

    fn shown(&self) -> Shown {
        Shown { spec: self.object.clone(), changes: self.changes }
    }

    fn keep(&mut self, spec: CandidateSpec, cx: &mut Cx<'_>) -> Shown {
        self.object = Some(spec);
        self.changes += 1;
        cx.wakes.all(WATCHERS);
        self.shown()
    }

    fn serve(&mut self, call: &Serve, cx: &mut Cx<'_>) -> Result<Shown, StoreError> {
        if self.refuses > 0 {
            self.refuses -= 1;
            return Err(StoreError::Timeout);
        }
        match (call, &self.object) {
            (Serve::Create(_), Some(_)) => Err(StoreError::AlreadyExists),
            (Serve::Update(..), None) => Err(StoreError::NotFound),
            (Serve::Update(_, seen), Some(_)) if *seen != self.changes => Err(StoreError::Conflict),
            (Serve::Create(spec) | Serve::Update(spec, _), _) => Ok(self.keep(spec.clone(), cx)),
        }
    }
}

impl Operation<Server> for Who {
    fn step(&mut self, server: &mut Server, _: &mut Cx<'_>) -> Step<Tried> {
        Step::Done(server.tried)
    }
}

impl Operation<Server> for Serve {
    fn step(&mut self, server: &mut Server, cx: &mut Cx<'_>) -> Step<Result<Shown, StoreError>> {
        Step::Done(server.serve(self, cx))
    }
}

impl Operation<Server> for Place {
    fn step(&mut self, server: &mut Server, cx: &mut Cx<'_>) -> Step<()> {
        server.keep(self.0.clone(), cx);
        Step::Done(())
    }
}

impl Operation<Server> for Delete {
    fn step(&mut self, server: &mut Server, cx: &mut Cx<'_>) -> Step<()> {
        server.object = None;
        server.changes += 1;
        cx.wakes.all(WATCHERS);
        Step::Done(())
    }
}

impl Operation<Server> for Ping {
    fn step(&mut self, server: &mut Server, cx: &mut Cx<'_>) -> Step<()> {
        if let Some(spec) = server.object.clone() {
            let ping_time = Some(Timestamp::from(cx.wall()));
            server.keep(spec.ping_time(ping_time), cx);
        }
        Step::Done(())
    }
}

impl Operation<Server> for Refuse {
    fn step(&mut self, server: &mut Server, _: &mut Cx<'_>) -> Step<()> {
        server.refuses = self.0;
        Step::Done(())
    }
}

impl Operation<Server> for Watch {
    fn step(&mut self, server: &mut Server, _: &mut Cx<'_>) -> Step<Option<Shown>> {
        if !server.watched {
            Step::Done(None)
        } else if self.after == Some(server.changes) {
            Step::Wait { on: WATCHERS, until: None }
        } else {
            Step::Done(Some(server.shown()))
        }
    }
}

impl Operation<Server> for StopWatch {
    fn step(&mut self, server: &mut Server, cx: &mut Cx<'_>) -> Step<()> {
        server.watched = false;
        cx.wakes.all(WATCHERS);
        Step::Done(())
    }
}
