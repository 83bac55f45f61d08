//! Machines stepped without a lock, at times chosen by hand, for property tests and recorded
//! traces.

mod changed;
pub mod doubt;
mod made_up;
pub mod row;
pub mod sleepers;

use std::fmt::Debug;
use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher, Hash};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use seatrial_core::machine::{Cx, Machine, Step};
use seatrial_core::runtime::{Ambient, Instant, WallTime};

use crate::author::{Component, HistoryOf, judge};

pub use changed::Changed;
pub(crate) use made_up::calls_of;
pub use made_up::each_call;

/// Hashes a key in the same way every time.
pub fn hash<K: Hash>(key: &K) -> u64 {
    BuildHasherDefault::<DefaultHasher>::default().hash_one(key)
}

/// Judges a history by every promise of a component. `tried` is the program that made the history.
///
/// # Panics
/// If a promise is broken: the promise, and the reason.
pub fn judge_all<C: Component>(history: &HistoryOf<C>, tried: &impl Debug) {
    if let Some((name, violation)) = judge(C::invariants().iter(), history).first() {
        panic!("{name}: {} in {tried:?}", violation.because);
    }
}

/// A clock that stands still until it is moved; it has no wall time and no randomness.
#[derive(Debug, Default)]
pub struct HandClock(AtomicU64);

impl HandClock {
    /// Moves the clock on.
    pub fn advance(&self, by: Duration) {
        self.0.store((self.now() + by).as_nanos(), Ordering::Relaxed);
    }
}

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

/// A machine behind a pointer where a machine is wanted.
pub struct Behind<Op, Ret>(pub Box<dyn Machine<Op = Op, Ret = Ret>>);

impl<Op, Ret> Debug for Behind<Op, Ret> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Behind").finish_non_exhaustive()
    }
}

impl<Op: Send + 'static, Ret: Send + 'static> Machine for Behind<Op, Ret> {
    type Op = Op;
    type Ret = Ret;

    fn step(&mut self, op: &mut Op, cx: &mut Cx<'_>) -> Step<Ret> {
        self.0.step(op, cx)
    }

    fn cancel(&mut self, op: &mut Op, cx: &mut Cx<'_>) {
        self.0.cancel(op, cx);
    }

    fn assert_valid(&self) {
        self.0.assert_valid();
    }
}

/// A machine whose calls return at once, but for some: a lone caller would sleep for ever in others.
#[derive(Debug)]
pub struct AtOnce<M: Machine> {
    machine: M,
    may_wait: fn(&M::Op) -> bool,
}

impl<M: Machine> AtOnce<M> {
    /// Takes a machine, and which of its calls may wait: their callers are ready for that.
    pub fn but(may_wait: fn(&M::Op) -> bool, machine: M) -> Self {
        Self { machine, may_wait }
    }
}

impl<M: Machine<Op: Debug>> Machine for AtOnce<M> {
    type Op = M::Op;
    type Ret = M::Ret;

    fn step(&mut self, op: &mut M::Op, cx: &mut Cx<'_>) -> Step<M::Ret> {
        let step = self.machine.step(op, cx);
        let waits = matches!(step, Step::Wait { .. });
        assert!(!waits || (self.may_wait)(op), "{op:?} waits, and must return at once");
        self.machine.assert_valid();
        step
    }

    fn cancel(&mut self, op: &mut M::Op, cx: &mut Cx<'_>) {
        self.machine.cancel(op, cx);
    }
}

/// A machine behind a pointer, and its clock.
pub struct Stepped<Op, Ret> {
    machine: Box<dyn Machine<Op = Op, Ret = Ret>>,
    clock: HandClock,
}

impl<Op: Debug + Send + 'static, Ret: Debug + Send + 'static> Stepped<Op, Ret> {
    /// Takes a machine: the shipped one, or a mutant.
    pub fn new(machine: impl Machine<Op = Op, Ret = Ret>) -> Self {
        Self { machine: Box::new(machine), clock: HandClock::default() }
    }

    /// Runs a call until it is over or has to sleep. A call whose work takes several steps makes
    /// all of them, but not without end.
    ///
    /// # Panics
    /// If the machine then breaks a rule of its own.
    pub fn step(&mut self, mut op: Op) -> Step<Ret> {
        const STEPS: u32 = 1_000;
        let mut left = STEPS;
        loop {
            let step = self.machine.step(&mut op, &mut Cx::new(&self.clock));
            self.machine.assert_valid();
            left -= 1;
            let goes_on = matches!(step, Step::Wait { until: Some(Instant::ZERO), .. });
            if !goes_on || left == 0 {
                return step;
            }
        }
    }

    /// Runs a call that returns at once.
    ///
    /// # Errors
    /// It would have to wait.
    pub fn call(&mut self, op: Op) -> Result<Ret, String> {
        let said = format!("{op:?}");
        match self.step(op) {
            Step::Done(ret) => Ok(ret),
            Step::Held(_) | Step::Wait { .. } => Err(format!("{said} does not return at once")),
        }
    }

    /// Moves the clock on.
    pub fn advance(&self, by: Duration) {
        self.clock.advance(by);
    }

    /// Reads the clock.
    pub fn now(&self) -> Instant {
        self.clock.now()
    }
}

impl<Op, Ret> Debug for Stepped<Op, Ret> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Stepped").field("clock", &self.clock).finish_non_exhaustive()
    }
}
