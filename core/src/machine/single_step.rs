//! Steps a machine without a lock, at times that a test sets.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use super::{Cx, Machine, Operation, Step, Wakes};
use crate::runtime::{Ambient, Instant, WallTime};

/// A clock that moves only by hand, and constant random numbers.
#[derive(Debug, Default)]
pub(crate) struct HandClock(AtomicU64);

impl Ambient for HandClock {
    fn now(&self) -> Instant {
        Instant::from_nanos(self.0.load(Ordering::Relaxed))
    }

    fn wall(&self) -> WallTime {
        WallTime::default()
    }

    fn entropy(&self) -> u64 {
        0
    }
}

impl HandClock {
    pub(crate) fn advance(&self, by: Duration) {
        self.0.store((self.now() + by).as_nanos(), Ordering::Relaxed);
    }
}

/// A machine and its clock.
pub(crate) struct Stepped<M> {
    pub(crate) machine: M,
    pub(crate) clock: HandClock,
    /// The sleepers that the last step woke.
    pub(crate) woken: Wakes,
}

impl<M: Machine> Stepped<M> {
    pub(crate) fn new(machine: M) -> Self {
        Self { machine, clock: HandClock::default(), woken: Wakes::default() }
    }

    /// Runs one step of a call and checks the state.
    pub(crate) fn step<O: Operation<M>>(&mut self, mut op: O) -> Step<O::Ret> {
        self.step_once(&mut op)
    }

    fn step_once<O: Operation<M>>(&mut self, op: &mut O) -> Step<O::Ret> {
        let mut cx = Cx::new(&self.clock);
        let step = op.step(&mut self.machine, &mut cx);
        self.woken = cx.wakes;
        self.machine.assert_valid();
        step
    }

    /// Runs a call that does not wait. If it does its work in several steps, it is stepped again at
    /// once, as the monitor does.
    pub(crate) fn call<O: Operation<M>>(&mut self, mut op: O) -> O::Ret {
        let mut woken = Wakes::default();
        loop {
            let step = self.step_once(&mut op);
            woken = woken.and(self.woken);
            match step {
                Step::Done(ret) => {
                    self.woken = woken;
                    return ret;
                }
                Step::Wait { until, .. } if until == Some(Instant::ZERO) => {}
                Step::Held(_) | Step::Wait { .. } => panic!("the call does not return at once"),
            }
        }
    }

    /// Runs a call that waits; returns the end of the wait.
    pub(crate) fn waits<O: Operation<M>>(&mut self, op: O) -> Option<Instant> {
        match self.step(op) {
            Step::Wait { until, .. } => until,
            Step::Held(_) | Step::Done(_) => panic!("the call returns at once"),
        }
    }

    pub(crate) fn advance(&self, by: Duration) {
        self.clock.advance(by);
    }
}

/// Breaks a state in one way after the other, and checks that `check` notices each.
pub(crate) fn each_is_noticed<S>(
    make: impl Fn() -> S,
    breaks: impl IntoIterator<Item = impl Fn(&mut S)>,
    check: impl Fn(&S),
) {
    for (number, broken) in breaks.into_iter().enumerate() {
        let mut state = make();
        check(&state);
        broken(&mut state);
        assert!(catch_unwind(AssertUnwindSafe(|| check(&state))).is_err(), "number {number}");
    }
}
