//! Calls and the outcomes of their attempts, and the property that the rules of the client agree
//! with the second statement of them.

use std::time::Duration;

use seatrial_core::machine::{Boxed, Cx, Step};
use seatrial_core::request::steps::{
    Answered, Begin, Failed as Fails, Failures, Op as Call, Paused, Ret, Throttled,
};
use seatrial_core::request::{Execution, Mode, TransportError, Want};

use super::rule::{After, FAILURES, Failed, Outcome, Verdict, Way, verdict};
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
/// If they differ from the second statement of the rules.
pub fn check(ops: &[Op]) {
    check_on(ops, Boxed(Box::new(Execution::new(Mode::Whole, true, 0))));
}

/// As [`check`], with rules in place of those that ship.
///
/// # Panics
/// As [`check`].
pub fn check_on(ops: &[Op], mut rules: Boxed<Execution>) {
    for op in each_call(ops) {
        let mut rules = Rules(&mut rules);
        rules.call(op);
    }
}

struct Rules<'a>(&'a mut Boxed<Execution>);

impl Rules<'_> {
    fn ask(&mut self, mut call: Call) -> Ret {
        let clock = HandClock::default();
        match self.0.0.step(&mut call, &mut Cx::new(&clock)) {
            Step::Done(told) | Step::Held(told) => told,
            Step::Wait { .. } => panic!("rules wait for nobody"),
        }
    }

    fn want(&mut self, call: Call) -> Want {
        match self.ask(call) {
            Ret::Begin(want)
            | Ret::Throttled(want)
            | Ret::Paused(want)
            | Ret::Answered(want)
            | Ret::Failed(want) => want,
            Ret::Failures(_) => panic!("nobody has asked that"),
        }
    }

    /// Takes a call through its first turn and pause.
    fn begin(&mut self, way: Way) {
        let Way { mode, reads, max } = way;
        let mut want = self.want(Call::Begin(Begin { mode, reads, max_retries: max }));
        if mode != Mode::Watch {
            assert_eq!(want, Want::Throttle(None));
            want = self.want(Call::Throttled(Throttled));
        }
        assert_eq!(want, Want::Pause(Duration::ZERO));
        assert_eq!(self.want(Call::Paused(Paused)), Want::Send);
    }

    fn call(&mut self, op: &Op) {
        self.begin(op.way);
        let mut failed = Failed::default();
        let rest = std::iter::repeat(Outcome::Status(200, After::Silent));
        for (attempts, outcome) in (1..).zip(op.outcomes.iter().copied().chain(rest)) {
            failed.take(outcome);
            let want = self.outcome(outcome);
            match verdict(op.way, attempts, outcome) {
                Verdict::Again(after) => self.again(&want, attempts, after, outcome),
                Verdict::Answer => return assert_eq!(want, Want::Answer),
                Verdict::EndedWatch => return assert_eq!(want, Want::EndedWatch),
                Verdict::Failure => {
                    assert_eq!(want, Want::Failure);
                    return self.failures(op.way.mode, failed);
                }
            }
        }
    }

    fn outcome(&mut self, outcome: Outcome) -> Want {
        self.want(match outcome {
            Outcome::Status(status, after) => {
                Call::Answered(Answered { status, retry_after: after.text() })
            }
            Outcome::Fails(kind) => {
                Call::Failed(Fails(TransportError::new(kind, format!("{kind:?}"))))
            }
        })
    }

    fn again(&mut self, want: &Want, attempts: u32, after: Duration, outcome: Outcome) {
        assert_eq!(*want, Want::Pause(after));
        let Want::Throttle(Some(retry)) = self.want(Call::Paused(Paused)) else {
            panic!("a repetition takes its turn")
        };
        let cause = match outcome {
            Outcome::Status(status, _) => format!("{status:?}"),
            Outcome::Fails(kind) => format!("{kind:?}"),
        };
        assert_eq!((retry.count, retry.after), (attempts, after));
        assert!(format!("{:?}", retry.cause).contains(&cause), "{retry:?}");
        assert_eq!(self.want(Call::Throttled(Throttled)), Want::Send);
    }

    fn failures(&mut self, mode: Mode, failed: Failed) {
        let Ret::Failures(Some((last, previous))) = self.ask(Call::Failures(Failures)) else {
            panic!("it has failed")
        };
        assert_eq!(Some(last.kind()), failed.last);
        assert_eq!(previous.map(|error| error.kind()), failed.previous(mode));
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
