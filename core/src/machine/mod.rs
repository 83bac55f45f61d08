//! Pure decisions: a part that waits or wakes, without lock, clock or thread.
//!
//! A [`Machine`] is a state and the steps that change it. A step returns its result and, in
//! [`Cx::wakes`], the sleepers to wake, as plain data. The [`Monitor`](crate::monitor::Monitor)
//! applies it to threads and tasks, a state explorer to its own model of them, and a recorder
//! writes it down.
//!
//! Each kind of call is its own type ([`Operation`]), so the normal path needs no enum.
//! [`operations!`](crate::operations) also writes the enum of all calls. This is the *data form*,
//! through which harnesses, fuzzers, replays and mutants drive a machine as `dyn Machine`.

mod hosted;
mod many;
mod operations;
#[cfg(test)]
pub(crate) mod single_step;
mod wakes;

use crate::runtime::{Ambient, Instant, Panic, WallTime};

pub use crate::caught::Remains;
pub use hosted::Hosted;
pub use many::{Many, UpTo};
#[cfg(not(feature = "harness"))]
pub(crate) use operations::operations;
pub use wakes::{CHANNELS, Channel, Wakes};

/// How many due items one step makes ready at most, so that the wait for the lock does not depend
/// on their number. Several calls in one step make one more ready for each.
pub const AT_ONCE: usize = 64;

/// The environment of a step, and its place for the sleepers to wake.
pub struct Cx<'a> {
    /// The sleepers that the step wakes.
    pub wakes: Wakes,
    /// Payloads of panics in foreign code that the step survived; dropped outside the lock.
    pub(crate) left: Vec<Panic>,
    ambient: &'a dyn Ambient,
    now: Option<Instant>,
    /// The caller was woken, and has not taken anything for that yet.
    woken: bool,
    /// How many due items the step may still make ready.
    pub(crate) left_to_move: usize,
}

impl<'a> Cx<'a> {
    /// Makes the environment of one step.
    #[inline]
    pub fn new(ambient: &'a dyn Ambient) -> Self {
        Self {
            wakes: Wakes::default(),
            left: Vec::new(),
            ambient,
            now: None,
            woken: false,
            left_to_move: AT_ONCE,
        }
    }

    /// As [`new`](Self::new), for a caller that may have been woken.
    pub(crate) fn after_sleep(ambient: &'a dyn Ambient, woken: bool) -> Self {
        Self { woken, ..Self::new(ambient) }
    }

    /// The caller takes one of the items that this step added, so one sleeper less need be woken. A
    /// caller that was woken itself takes the item that it was woken for.
    #[inline]
    pub fn takes_one(&mut self, on: Channel) {
        if !std::mem::take(&mut self.woken) {
            self.wakes.one_less(on);
        }
    }

    /// Returns the time of this step: the clock is read at most once a step, and only if asked.
    #[inline]
    pub fn now(&mut self) -> Instant {
        *self.now.get_or_insert_with(|| self.ambient.now())
    }

    /// Returns the source of the step's times and random numbers.
    pub fn ambient(&self) -> &'a dyn Ambient {
        self.ambient
    }

    /// Returns the wall-clock time, for timestamps.
    pub fn wall(&self) -> WallTime {
        self.ambient.wall()
    }

    /// Returns a random number.
    pub fn entropy(&self) -> u64 {
        self.ambient.entropy()
    }

    /// Returns the time that this step read; `None` if it read none.
    pub fn time_read(&self) -> Option<Instant> {
        self.now
    }
}

impl std::fmt::Debug for Cx<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Cx").field("wakes", &self.wakes).field("now", &self.now).finish()
    }
}

/// The decision of one step.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Step<R> {
    /// The call is over.
    Done(R),
    /// The call is over, but the lock stays held until the follow-up operation has been stepped
    /// ([`Monitor::around`](crate::monitor::Monitor::around)).
    Held(R),
    /// Nothing was decided. Sleep, then step the same operation again.
    Wait {
        /// Where to sleep.
        on: Channel,
        /// The end of the sleep; `None` for no limit.
        until: Option<Instant>,
    },
}

impl<R> Step<R> {
    /// Nothing was decided yet, because the work takes more than one step. Others may have the lock
    /// in between.
    #[must_use]
    pub const fn again(on: Channel) -> Self {
        Self::Wait { on, until: Some(Instant::ZERO) }
    }

    /// Converts the result, if there is one.
    #[inline]
    pub fn map<T>(self, convert: impl FnOnce(R) -> T) -> Step<T> {
        match self {
            Self::Done(r) => Step::Done(convert(r)),
            Self::Held(r) => Step::Held(convert(r)),
            Self::Wait { on, until } => Step::Wait { on, until },
        }
    }
}

/// Something that a call leaves behind and others need; the shell passes it on to a sleeper.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Passed {
    /// The wake-up of a call that ends before it could use it.
    WakeUp,
    /// The timer that a call held for all callers of its kind that wait for the same time.
    Timer,
    /// The same timer of a call that is given up.
    TimerGivenUp,
}

/// The state of a part and the data form of its operations; object-safe.
pub trait Machine: Send + 'static {
    /// A call, as data.
    type Op: Send + 'static;
    /// Its result, as data.
    type Ret: Send + 'static;

    /// Runs one critical section of a call.
    fn step(&mut self, op: &mut Self::Op, cx: &mut Cx<'_>) -> Step<Self::Ret>;

    /// Gives up a call that waits, and undoes everything that its steps have registered.
    fn cancel(&mut self, op: &mut Self::Op, cx: &mut Cx<'_>) {
        let _ = (op, cx);
    }

    /// Tells whether the shell passes on what a call leaves behind. It always does; a machine that
    /// returns false simulates a shell that forgets to.
    fn passes_on(&mut self, what: Passed) -> bool {
        let _ = what;
        true
    }

    /// Checks the state against its own rules.
    ///
    /// # Panics
    /// If a rule is violated; the message names it. Harnesses call this after every step.
    fn assert_valid(&self) {}

    /// Tells its state in a few words, for a person who looks at an execution; `None` if it cannot.
    fn describe(&self) -> Option<String> {
        None
    }
}

/// One kind of call on the machine `M`: its arguments, and its state between steps.
pub trait Operation<M: Machine>: Embed<M> {
    /// Whether all calls that wait on its channel wait until the same time, which is the machine's.
    ///
    /// One thread and one task hold a timer then, and pass it on when their calls are over. So the
    /// machine says that this time has become earlier ([`Wakes::earlier`]), and need not wake all.
    const SHARES_TIME: bool = false;

    /// Runs one critical section. A step that returns [`Step::Wait`] may be repeated at any time
    /// and loses nothing.
    fn step(&mut self, machine: &mut M, cx: &mut Cx<'_>) -> Step<Self::Ret>;

    /// Gives up the call after a wait, when its future is dropped.
    fn cancel(&mut self, machine: &mut M, cx: &mut Cx<'_>) {
        let _ = (machine, cx);
    }
}

/// An operation as a value of the machine's enum; written by [`operations!`](crate::operations).
pub trait Embed<M: Machine>: Clone + Send + 'static {
    /// The result of the call.
    type Ret: Send + 'static;
    /// Wraps the operation.
    fn embed(self) -> M::Op;
    /// Unwraps a value from [`embed`](Self::embed).
    fn project(op: M::Op) -> Self;
    /// Unwraps the result of this kind of call.
    fn result(ret: M::Ret) -> Self::Ret;
}

/// Something that takes the calls of a machine: the machine itself, or a boxed one in harnesses.
pub trait Host<M: Machine>: Send + 'static {
    /// Steps an operation.
    fn run<O: Operation<M>>(&mut self, op: &mut O, cx: &mut Cx<'_>) -> Step<O::Ret>;
    /// Cancels an operation.
    fn give_up<O: Operation<M>>(&mut self, op: &mut O, cx: &mut Cx<'_>);
    /// Asks the machine whether the shell passes something on ([`Machine::passes_on`]).
    fn passes_on(&mut self, what: Passed) -> bool {
        let _ = what;
        true
    }
}

impl<M: Machine> Host<M> for M {
    #[inline(always)]
    fn run<O: Operation<M>>(&mut self, op: &mut O, cx: &mut Cx<'_>) -> Step<O::Ret> {
        op.step(self, cx)
    }

    #[inline(always)]
    fn give_up<O: Operation<M>>(&mut self, op: &mut O, cx: &mut Cx<'_>) {
        op.cancel(self, cx);
    }

    #[inline(always)]
    fn passes_on(&mut self, what: Passed) -> bool {
        Machine::passes_on(self, what)
    }
}

/// A machine behind a pointer, so that it can be recorded, mutated or replaced.
pub struct Boxed<M: Machine>(pub Box<dyn Machine<Op = M::Op, Ret = M::Ret>>);

impl<M: Machine> Host<M> for Boxed<M> {
    fn run<O: Operation<M>>(&mut self, op: &mut O, cx: &mut Cx<'_>) -> Step<O::Ret> {
        let mut data = op.clone().embed();
        let step = self.0.step(&mut data, cx);
        *op = O::project(data);
        step.map(O::result)
    }

    fn give_up<O: Operation<M>>(&mut self, op: &mut O, cx: &mut Cx<'_>) {
        self.0.cancel(&mut op.clone().embed(), cx);
    }

    fn passes_on(&mut self, what: Passed) -> bool {
        self.0.passes_on(what)
    }
}

impl<M: Machine> std::fmt::Debug for Boxed<M> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Boxed")
    }
}

#[cfg(test)]
mod tests;
