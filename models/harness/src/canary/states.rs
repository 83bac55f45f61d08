//! The broken counter as states: the search that runs no threads must convict it, too.

use seatrial_core::machine::Step;

use super::{Canary, Counter, Op, Read, Ret, Write};
use crate::engine::state::{Bytes, Explored, Jumps, Moment, Rules, WakeUps, Wrong};
use crate::trial::{Component, States};

/// Two callers increment at a time.
pub(super) const LOST_UPDATE: States<TwoIncrements> = States {
    name: "states_of_lost_update",
    says: "two callers increment at a time, in all states",
    judges: &["counts_every_increment"],
    subject: || TwoIncrements,
    rules: Rules {
        symmetric: true,
        jumps: Jumps::AtStandstill,
        wake_ups: WakeUps::Any,
        spurious: 0,
    },
};

#[derive(Clone, Copy, Debug)]
pub(super) struct TwoIncrements;

/// How far a caller has come.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Caller {
    Begins,
    HasRead(u64),
    HasWritten,
}

impl Explored for TwoIncrements {
    type Machine = Counter;
    type Caller = Caller;

    fn machine(&self) -> Counter {
        Counter::default()
    }

    fn callers(&self) -> Vec<Caller> {
        vec![Caller::Begins; 2]
    }

    fn next(&self, caller: &Caller) -> Option<Op> {
        match caller {
            Caller::Begins => Some(Op::Read(Read)),
            Caller::HasRead(value) => Some(Op::Write(Write(value + 1))),
            Caller::HasWritten => None,
        }
    }

    fn returned(&self, caller: &mut Caller, ret: Ret) {
        *caller = match ret {
            Ret::Read(value) => Caller::HasRead(value),
            Ret::Write(()) => Caller::HasWritten,
        };
    }

    fn view(&self, machine: &Counter, into: &mut Bytes) {
        into.number(machine.0);
    }

    fn view_caller(&self, _: &Counter, caller: &Caller, _: Option<&Op>, into: &mut Bytes) {
        into.maybe(match caller {
            Caller::Begins => None,
            Caller::HasRead(value) => Some(value + 1),
            Caller::HasWritten => Some(0),
        });
    }

    fn wrong<'a>(
        &self,
        at: Moment<'_, Counter>,
        _: impl Iterator<Item = &'a Caller> + Clone,
    ) -> Option<Wrong> {
        let counts = format!("2 increments count as {}", at.machine.0);
        (at.is_end && at.machine.0 != 2).then(|| Wrong::new("counts_every_increment", counts))
    }

    fn reaches<'a>(&self, _: &Counter, callers: impl Iterator<Item = &'a Caller> + Clone) -> bool {
        { callers }.all(|caller| *caller == Caller::HasWritten)
    }

    fn describe(&self, op: &Op, outcome: &Step<Ret>) -> String {
        Canary::describe(op, outcome)
    }
}
