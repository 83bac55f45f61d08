//! The machines of an election as one kind. So one history holds both the decisions of the electors
//! and the writes that the store applied, each recorded inside its own critical section.

use seatrial_core::elector::{Config, ConfigError, Election, LeaseSpec, Object, Op, Ret};
use seatrial_core::machine::{Boxed, Cx, Host, Machine, Operation, Step};
use seatrial_core::runtime::Ambient;

use super::store::{Served, Store};
use crate::election::plain::{self, Rules};

/// Makes the rules of an elector with this set-up, or refuses the set-up.
pub(super) type Make = fn(Config) -> Result<Rules, ConfigError>;

/// A machine of an election; its first call decides which one it is.
pub enum Part {
    /// Not decided yet.
    Blank(Make),
    /// An elector.
    Elector(Rules),
    /// The store of the lease.
    Store(Store),
}

/// Becomes an elector with this set-up, unless the set-up is refused.
#[derive(Clone, Debug)]
pub struct SetUp {
    /// The set-up.
    pub config: Config,
    /// The elector's number, by which the store knows it.
    pub number: u8,
}

/// Steps an elector.
#[derive(Clone, Debug)]
pub struct Ask(pub Op);

/// Serves a request. A blank part that is asked to serve becomes the store.
#[derive(Clone, Debug)]
pub struct Serve {
    /// The elector that asks; `None` for a caller from outside.
    pub by: Option<u8>,
    /// The number of the call among those of the elector, from zero.
    pub call: u32,
    /// The request.
    pub request: Request,
}

/// A request to the store.
#[derive(Clone, Debug)]
pub enum Request {
    /// Read the lease.
    Get,
    /// Create it.
    Create(Box<Object<LeaseSpec>>),
    /// Replace the lease, if it still has the version.
    Update(Box<Object<LeaseSpec>>),
    /// Delete it, whatever its state.
    Delete,
    /// Change it, whatever its state.
    Edit(Edit),
}

/// A change of the lease from outside.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Edit {
    /// Clears the holder.
    ClearHolder,
    /// Clears the duration (`election:CX-11`).
    ClearDuration,
    /// Adds a label, which says nothing about the lease.
    Touch,
    /// Chooses another holder, whose lease begins now (`election:LC-8`).
    Nominate(char),
    /// Asks the holder to make room for another (`election:LC-9`).
    Prefer(char),
}

seatrial_core::operations! {
    [] Part: Call, Answer {
        SetUp(SetUp) -> Result<(), ConfigError>,
        Ask(Ask) -> Ret,
        Serve(Serve) -> Served,
    } valid = Part::check
}

impl Part {
    /// Makes a part whose electors follow the rules that `make` makes.
    pub(super) fn of(make: Make) -> Box<dyn Machine<Op = Call, Ret = Answer>> {
        Box::new(Self::Blank(make))
    }

    /// Makes a part whose electors follow the rules that ship.
    pub(super) fn shipped() -> Box<dyn Machine<Op = Call, Ret = Answer>> {
        Self::of(|config| plain::validate(&config).map(|()| plain::rules(config)))
    }

    fn check(&self) {
        if let Self::Elector(rules) = self {
            rules.assert_valid();
        }
    }
}

impl std::fmt::Debug for Part {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Blank(_) => "Blank",
            Self::Elector(_) => "Elector",
            Self::Store(_) => "Store",
        })
    }
}

impl Operation<Part> for SetUp {
    fn step(&mut self, part: &mut Part, _: &mut Cx<'_>) -> Step<Result<(), ConfigError>> {
        let Part::Blank(make) = part else { unreachable!("a part is set up once") };
        Step::Done(make(self.config.clone()).map(|rules| *part = Part::Elector(rules)))
    }
}

impl Operation<Part> for Ask {
    fn step(&mut self, part: &mut Part, cx: &mut Cx<'_>) -> Step<Ret> {
        let Part::Elector(rules) = part else { unreachable!("only an elector is asked") };
        rules.step(&mut self.0, cx)
    }
}

impl Operation<Part> for Serve {
    fn step(&mut self, part: &mut Part, _: &mut Cx<'_>) -> Step<Served> {
        if let Part::Blank(_) = part {
            *part = Part::Store(Store::default());
        }
        let Part::Store(store) = part else { unreachable!("only the store serves") };
        Step::Done(store.serve(&self.request))
    }
}

/// Puts a part in place of an elector's rules, unless it refuses the set-up.
pub(super) fn seat(
    mut part: Boxed<Part>,
    mut set_up: SetUp,
    ambient: &dyn Ambient,
) -> Result<Boxed<Election>, ConfigError> {
    match part.run(&mut set_up, &mut Cx::new(ambient)) {
        Step::Done(taken) => taken.map(|()| Boxed(Box::new(Seat(part)) as _)),
        other => unreachable!("setting up ends with {other:?}"),
    }
}

/// A part in place of an elector's rules.
struct Seat(Boxed<Part>);

impl Machine for Seat {
    type Op = Op;
    type Ret = Ret;

    fn step(&mut self, op: &mut Op, cx: &mut Cx<'_>) -> Step<Ret> {
        let mut ask = Ask(op.clone());
        let step = self.0.run(&mut ask, cx);
        *op = ask.0;
        step
    }

    fn cancel(&mut self, op: &mut Op, cx: &mut Cx<'_>) {
        self.0.give_up(&mut Ask(op.clone()), cx);
    }
}
