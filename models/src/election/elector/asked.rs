//! The calls that the threads of a history made on their electors.

use seatrial_core::elector::{Config, Io, Op, Ret, StoreError, Stored, Turn};
use seatrial_core::machine::Step;

use super::Event;
use super::part::{Answer as Answered, Call};
use crate::election::plain;
use crate::trial::What;

/// A step of an elector, if the event is one: its number, the call and the answer.
pub(super) fn asked<'a>(event: &'a Event, numbers: &Numbers) -> Option<Asked<'a>> {
    let What::Step { op: Call::Ask(ask), outcome, .. } = &event.what else { return None };
    let outcome = match outcome {
        Step::Done(Answered::Ask(ret)) | Step::Held(Answered::Ask(ret)) => Some(ret),
        _ => None,
    };
    let number = (*numbers.0.get(usize::from(event.object))?)?;
    Some(Asked { number, op: &ask.0, outcome })
}

/// A step of an elector.
#[derive(Clone, Copy, Debug)]
pub(super) struct Asked<'a> {
    pub(super) number: u8,
    pub(super) op: &'a Op,
    /// The value that it returned; `None` if it sleeps.
    pub(super) outcome: Option<&'a Ret>,
}

impl<'a> Asked<'a> {
    /// Returns the order with which a step of a run ended.
    pub(super) fn turn(&self) -> Option<&'a Turn> {
        turn(self.outcome?)
    }

    /// Returns the answer of the store that the elector learned in this step.
    pub(super) fn learned(&self) -> Option<&'a Result<Stored, StoreError>> {
        match self.op {
            Op::Reply(reply) => reply.0.as_ref(),
            _ => None,
        }
    }

    /// Returns the term, if the caller was told here that it is over.
    pub(super) fn over(&self) -> Option<u64> {
        match (self.op, self.outcome) {
            (Op::Holds(holds), Some(Ret::Holds(false))) => Some(holds.term),
            (Op::Watch(watch), Some(_)) => Some(watch.term),
            _ => None,
        }
    }

    /// Tells whether the caller was told here that this elector leads, and in which term, if the
    /// answer names one. By the reference's rules `is_leader` is no such claim, because it ignores
    /// the time.
    pub(super) fn claims(&self, strict: bool) -> Option<Option<u64>> {
        match (self.op, self.outcome) {
            (Op::Holds(holds), Some(Ret::Holds(true))) => Some(Some(holds.term)),
            (Op::Watch(watch), None) => Some(Some(watch.term)),
            (Op::IsLeader(_), Some(Ret::IsLeader(true))) if strict => Some(None),
            _ => None,
        }
    }
}

/// Returns the order that an answer gives, if it is the answer to a step of a run.
pub(super) fn turn(answer: &Ret) -> Option<&Turn> {
    match answer {
        Ret::Begin(turn)
        | Ret::Try(turn)
        | Ret::GiveUp(turn)
        | Ret::Reply(turn)
        | Ret::Rest(turn) => Some(turn),
        _ => None,
    }
}

/// The number of the elector for each object of the scenario.
#[derive(Clone, Debug, Default)]
pub(super) struct Numbers(Vec<Option<u8>>);

impl Numbers {
    /// Takes note of an elector that was set up; returns its set-up.
    pub(super) fn note<'a>(&mut self, event: &'a Event) -> Option<(u8, &'a Config)> {
        let What::Step { op: Call::SetUp(set_up), .. } = &event.what else { return None };
        let object = usize::from(event.object);
        self.0.resize(self.0.len().max(object + 1), None);
        self.0[object] = Some(set_up.number);
        Some((set_up.number, &set_up.config))
    }
}

pub(super) fn is_strict(config: &Config) -> bool {
    !plain::is_reference(config)
}

/// Tells whether a call writes in order to hold the lease.
pub(super) fn claims_the_lease(io: &Io) -> bool {
    match io {
        Io::Get => false,
        Io::Create(_) => true,
        Io::Update(record, _) => !record.holder.is_empty(),
    }
}
