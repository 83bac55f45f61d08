//! Generated calls of one thread on a feed, judged by every promise.

use std::collections::VecDeque;

use seatrial_core::informer::feed::{
    Complete, End, Finish, HasSynced, Next, Op as Call, Push, Ret, Told, WaitForSync,
};
use seatrial_core::machine::{Cx, Machine, Step};
use seatrial_core::runtime::Ambient as _;

use super::{Event, Feed, History, rules};
use crate::engine::End as Ended;
use crate::single_step::{HandClock, each_call, judge_all};
use crate::trial::What;

/// A call.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Op {
    /// Pushes this number of changes; they belong to the first list until it is complete.
    Push(u8),
    /// Says that the first list is complete.
    Complete,
    /// Takes a change, if there is one; with `true` it looks at it at once.
    Next(bool),
    /// Looks at a change that was taken.
    Finish,
    /// Asks whether the whole first list was looked at.
    HasSynced,
    /// Waits until the whole first list was looked at, unless the call would sleep.
    WaitForSync,
    /// Ends the feed.
    End,
}

/// Reads calls: one per byte.
pub fn decode(bytes: &[u8]) -> Vec<Op> {
    let decode = |byte: &u8| match byte & 15 {
        0..=4 => Op::Push(byte >> 6),
        5 => Op::Complete,
        6..=10 => Op::Next(byte >> 6 != 0),
        11 => Op::Finish,
        12 | 13 => Op::HasSynced,
        14 => Op::WaitForSync,
        _ if byte >> 5 == 0 => Op::End,
        _ => Op::Finish,
    };
    bytes.iter().map(decode).collect()
}

/// Runs calls on the rules that ship, and judges them.
///
/// # Panics
/// If a promise is broken.
pub fn check(ops: &[Op]) {
    check_on(ops, Box::new(rules()));
}

/// As [`check`], on the given machine.
///
/// # Panics
/// As [`check`].
pub fn check_on(ops: &[Op], machine: Box<dyn Machine<Op = Call<u8>, Ret = Ret<u8>>>) {
    let mut caller = Caller { machine, events: Vec::new(), number: 0, owed: 0, complete: false };
    for op in each_call(ops) {
        caller.run(*op);
    }
    let history = History { events: caller.events, end: Ended::Finished };
    judge_all::<Feed>(&history, &ops);
}

/// The only thread.
struct Caller {
    machine: Box<dyn Machine<Op = Call<u8>, Ret = Ret<u8>>>,
    events: Vec<Event>,
    number: u8,
    /// Changes of the first list that were taken and not looked at.
    owed: u32,
    complete: bool,
}

impl Caller {
    fn run(&mut self, op: Op) {
        match op {
            Op::Push(count) => {
                let initial = !self.complete;
                let told: VecDeque<_> = (0..count).map(|_| self.told(initial)).collect();
                drop(self.call(Call::Push(Push(told))));
            }
            Op::Complete => {
                self.complete = true;
                drop(self.call(Call::Complete(Complete)));
            }
            Op::Next(looks) => {
                let taken = self.call(Call::Next(Next));
                if let Some(Ret::Next(Ok(Told { initial: true, .. }))) = taken {
                    self.owed += 1;
                }
                if looks {
                    self.finish();
                }
            }
            Op::Finish => self.finish(),
            Op::HasSynced => drop(self.call(Call::HasSynced(HasSynced))),
            Op::WaitForSync => drop(self.call(Call::WaitForSync(WaitForSync))),
            Op::End => drop(self.call(Call::End(End))),
        }
    }

    fn told(&mut self, initial: bool) -> Told<u8> {
        self.number = self.number.wrapping_add(1);
        Told { change: self.number, initial }
    }

    fn finish(&mut self) {
        if self.owed > 0 {
            self.owed -= 1;
            drop(self.call(Call::Finish(Finish)));
        }
    }

    /// Makes a call. A call that would sleep is given up.
    fn call(&mut self, mut op: Call<u8>) -> Option<Ret<u8>> {
        let (called, clock) = (op.clone(), HandClock::default());
        let mut cx = Cx::new(&clock);
        let outcome = self.machine.step(&mut op, &mut cx);
        let what = What::Step { op: called, outcome: outcome.clone(), wakes: cx.wakes };
        self.push(what);
        match outcome {
            Step::Done(ret) | Step::Held(ret) => Some(ret),
            Step::Wait { .. } => {
                self.push(What::Quiet);
                self.machine.cancel(&mut op, &mut Cx::new(&clock));
                self.push(What::Cancel { op });
                None
            }
        }
    }

    fn push(&mut self, what: What<Call<u8>, Ret<u8>>) {
        let at = HandClock::default().now();
        self.events.push(Event { thread: 0, at, object: 0, what, told: None });
    }
}
