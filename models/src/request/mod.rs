//! The REST request: recorded URLs of the reference, replayed on the builder, and the page of calls.
//!
//! The rules of a call are a machine without IO. A scenario gives a client a server that follows a
//! script, and notes everything that the server sees, so a bug of the client shows as well as a bug
//! of the rules. The rules are compared with their plain form, which also makes the mistakes, on
//! made-up calls (`op.rs`), and with a second statement of them in every state that a few calls,
//! their limiter and their servers can reach (`states`).
//!
//! `cargo seatrial list request` prints what is checked, and the mutants that break it.

mod calls;
mod conformance;
mod invariants;
mod mistaken;
mod mutants;
mod op;
mod rule;
mod scenarios;
pub(crate) mod states;
pub(crate) mod tests;
pub mod text;

use seatrial_core::machine::{Boxed, Step};
use seatrial_core::request::steps::{Op as Call, Ret};
use seatrial_core::request::{Execution, Mode};

use crate::trial::{
    Component, EventOf, HistoryOf, Invariant, MachineOf, Mutant, OpOf, Property, RetOf, Scenario,
    Simulation,
};

pub use conformance::conformance;
pub use op::{Op, check, check_on, decode};
pub use rule::{After, FAILURES, Failed, Outcome, Verdict, Way, verdict};

/// Calls of a client, as a component under trial.
#[derive(Clone, Copy, Debug)]
pub struct Request;

type Event = EventOf<Request>;
type History = HistoryOf<Request>;

/// The reason why an invariant convicts no mutant of its own.
const OF_THE_CLIENT: &str = "it is a promise of the client, whose bugs are on the page `client`: \
                             the rules know no attempt, no answer and no token";

impl Component for Request {
    type Machine = Execution;

    const NAME: &'static str = "request";
    const SAYS: &'static str =
        "calls to a server: throttled, retried where that may help, and cancelled";

    fn machine() -> MachineOf<Self> {
        Box::new(Execution::new(Mode::Whole, true, 0))
    }

    fn scenarios() -> Vec<Scenario<Self>> {
        scenarios::all()
    }

    fn simulations() -> Vec<Box<dyn Simulation<Self>>> {
        states::all()
    }

    fn invariants() -> Vec<Invariant<Self>> {
        invariants::all()
    }

    fn mutants() -> Vec<Mutant<Self>> {
        mutants::all()
    }

    fn never_alone() -> &'static [(&'static str, &'static str)] {
        &[
            ("attempts_are_equal", OF_THE_CLIENT),
            ("the_limiter_keeps_its_rate", OF_THE_CLIENT),
            ("nothing_after_the_end", OF_THE_CLIENT),
        ]
    }

    fn describe(op: &OpOf<Self>, outcome: &Step<RetOf<Self>>) -> String {
        let ret = match outcome {
            Step::Done(ret) | Step::Held(ret) => ret,
            Step::Wait { .. } => return format!("{op:?} waits"),
        };
        let want = match (op::want(ret), ret) {
            (None, Ret::Failures(told)) => format!("{told:?}"),
            (want, _) => want.map_or_else(String::new, |want| format!("{want:?}")),
        };
        match op {
            Call::Begin(begin) => format!("{:?} begins -> {want}", begin.mode),
            Call::Answered(answered) => format!("status {} -> {want}", answered.status),
            Call::Failed(failed) => format!("{:?} -> {want}", failed.0.kind()),
            op => format!("{op:?} -> {want}"),
        }
    }

    fn fuzz() -> Option<fn(&[u8])> {
        Some(|bytes| {
            check(&decode(bytes));
            text::check_made_up(bytes);
        })
    }

    fn fuzz_mutant(mutant: &Mutant<Self>) -> Option<Property> {
        let make = mutant.make;
        Some(Box::new(move |bytes| check_on(&decode(bytes), Boxed(make()))))
    }
}
