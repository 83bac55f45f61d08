//! Calls and the outcomes of their attempts, and the property that the rules of the client agree
//! with their plain form.

use seatrial_core::machine::{Boxed, Cx, Machine};
use seatrial_core::request::steps::{
    Answered, Begin, Failed as Fails, Failures, Op as Call, Paused, Ret, Throttled,
};
use seatrial_core::request::{Execution, Mode, TransportError, Want};

use super::mistaken::Mistaken;
use super::rule::{After, FAILURES, Outcome, Way};
use crate::shared::at_once;
use crate::single_step::{HandClock, each_call};

/// A call and the outcomes of its attempts; further attempts are answered.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Op {
    /// How it is made.
    pub way: Way,
    /// The outcomes of its attempts.
    pub outcomes: Vec<Outcome>,
}

/// Makes calls by the rules that ship.
///
/// # Panics
/// If they decide otherwise than their plain form.
pub fn check(ops: &[Op]) {
    check_on(ops, Boxed(Box::new(Execution::new(Mode::Whole, true, 0))));
}

/// As [`check`], with rules in place of those that ship.
///
/// # Panics
/// As [`check`].
pub fn check_on(ops: &[Op], mut rules: Boxed<Execution>) {
    let mut plain = Mistaken::new("");
    for op in each_call(ops) {
        let Way { mode, reads, max } = op.way;
        let rest = std::iter::repeat(Outcome::Status(200, After::Silent));
        let mut outcomes = op.outcomes.iter().copied().chain(rest);
        let mut next = Some(Call::Begin(Begin { mode, reads, max_retries: max }));
        while let Some(call) = next {
            let (said, right) = (ask(&mut *rules.0, &call), ask(&mut plain, &call));
            assert_eq!(format!("{said:?}"), format!("{right:?}"), "after {call:?}");
            next = want(&right).and_then(|want| follows(want, || outcomes.next()));
        }
    }
}

fn ask<M: Machine<Op = Call, Ret = Ret> + ?Sized>(rules: &mut M, call: &Call) -> Ret {
    at_once(rules.step(&mut call.clone(), &mut Cx::new(&HandClock::default())))
}

/// Returns what the rules want next, unless they were asked how a call failed.
pub(super) fn want(said: &Ret) -> Option<&Want> {
    match said {
        Ret::Begin(want)
        | Ret::Throttled(want)
        | Ret::Paused(want)
        | Ret::Answered(want)
        | Ret::Failed(want) => Some(want),
        Ret::Failures(_) => None,
    }
}

/// Returns what a client tells the rules once it has done what they want; `None` if the call is over.
fn follows(want: &Want, outcome: impl FnOnce() -> Option<Outcome>) -> Option<Call> {
    match want {
        Want::Throttle(_) => Some(Call::Throttled(Throttled)),
        Want::Pause(_) => Some(Call::Paused(Paused)),
        Want::Send => outcome().map(told),
        Want::Failure => Some(Call::Failures(Failures)),
        _ => None,
    }
}

/// Returns what the rules are told when an attempt ends.
pub(super) fn told(outcome: Outcome) -> Call {
    match outcome {
        Outcome::Status(status, after) => {
            Call::Answered(Answered { status, retry_after: after.text() })
        }
        Outcome::Fails(kind) => Call::Failed(Fails(TransportError::new(kind, format!("{kind:?}")))),
    }
}

/// Reads calls from the bytes of a fuzzer; every input is valid.
pub fn decode(bytes: &[u8]) -> Vec<Op> {
    let mut bytes = bytes.iter().copied();
    std::iter::from_fn(|| decode_op(&mut bytes)).collect()
}

fn decode_op(bytes: &mut impl Iterator<Item = u8>) -> Option<Op> {
    let code = bytes.next()?;
    let mode = [Mode::Whole, Mode::Whole, Mode::Stream, Mode::Watch][usize::from(code % 4)];
    let way = Way { mode, reads: code & 4 == 0, max: (code >> 4 & 3).into() };
    let count = 1 + (code >> 6) * 2;
    let outcomes = (0..count).map_while(|_| Some(outcome(bytes.next()?, bytes.next()?)));
    Some(Op { way, outcomes: outcomes.collect() })
}

fn outcome(what: u8, detail: u8) -> Outcome {
    if what.is_multiple_of(2) {
        return Outcome::Fails(FAILURES[usize::from(detail) % FAILURES.len()].0);
    }
    let after = match detail % 4 {
        0 => After::Silent,
        1 => After::Date,
        _ => After::Seconds((detail / 4).cast_signed() / 4 - 2),
    };
    let statuses = [200, 404, 429, 499, 500, 503];
    Outcome::Status(statuses[usize::from(what / 2) % statuses.len()], after)
}
