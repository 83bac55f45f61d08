//! Pure decisions: a part that waits or wakes, without lock, clock or thread.
//!
//! A [`Machine`] is a state and the steps that change it. A step returns what happened and, in
//! [`Cx::wakes`], whom to wake, as plain data: the [`Monitor`](crate::monitor::Monitor) applies it
//! to threads and tasks, a state explorer to its own model of them, a recorder writes it down.
//!
//! Each kind of call is a type of its own ([`Operation`]), so the shipped path carries no enum;
//! [`operations!`](crate::operations) writes the enum beside them, which is the *data form* that
//! harness, fuzzer, replay and mutants drive through `dyn Machine`.

#[cfg(test)]
pub(crate) mod by_hand;
mod many;
mod operations;
mod wakes;

use crate::runtime::{Ambient, Instant, WallTime};

pub use many::{Many, UpTo};
pub use wakes::{CHANNELS, Channel, Wakes};

/// What a step may ask of its surroundings, and where it says whom to wake.
pub struct Cx<'a> {
    /// Whom the step wakes.
    pub wakes: Wakes,
    ambient: &'a dyn Ambient,
    now: Option<Instant>,
}

impl<'a> Cx<'a> {
    /// Makes the surroundings of one step.
    #[inline]
    pub fn new(ambient: &'a dyn Ambient) -> Self {
        Self { wakes: Wakes::default(), ambient, now: None }
    }

    /// Returns the time of this step: the clock is read at most once a step, and only if asked.
    #[inline]
    pub fn now(&mut self) -> Instant {
        *self.now.get_or_insert_with(|| self.ambient.now())
    }

    /// Lends a copy to a function that is not inlined, and takes back what became of it. Only the
    /// copy has an address, so the original stays in registers on the way of those who lend nothing.
    #[inline(always)]
    pub(crate) fn lend<T>(&mut self, to: impl FnOnce(&mut Self) -> T) -> T {
        let mut copy = Self { ..*self };
        let result = to(&mut copy);
        *self = copy;
        result
    }

    /// Returns the wall-clock time, for timestamps.
    pub fn wall(&self) -> WallTime {
        self.ambient.wall()
    }

    /// Returns a random number.
    pub fn entropy(&self) -> u64 {
        self.ambient.entropy()
    }

    /// Returns the time that this step read, `None` if it did not ask.
    pub fn time_read(&self) -> Option<Instant> {
        self.now
    }
}

impl std::fmt::Debug for Cx<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Cx").field("wakes", &self.wakes).field("now", &self.now).finish()
    }
}

/// What one step decided.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Step<R> {
    /// The call is over.
    Done(R),
    /// The call is over, but the lock stays held until the follow-up operation has been stepped
    /// ([`Monitor::around`](crate::monitor::Monitor::around)).
    Held(R),
    /// Nothing was decided: sleep, then step the same operation again.
    Wait {
        /// Where to sleep.
        on: Channel,
        /// How long at most; `None` without limit.
        until: Option<Instant>,
    },
}

impl<R> Step<R> {
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

/// The state of a part and the data form of its operations; object-safe.
pub trait Machine: Send + 'static {
    /// A call, as data.
    type Op: Send + 'static;
    /// Its result, as data.
    type Ret: Send + 'static;

    /// Runs one critical section of a call.
    fn step(&mut self, op: &mut Self::Op, cx: &mut Cx<'_>) -> Step<Self::Ret>;

    /// Gives up a call that waits: what its steps have registered is undone.
    fn cancel(&mut self, op: &mut Self::Op, cx: &mut Cx<'_>) {
        let _ = (op, cx);
    }

    /// Checks the state against its own rules.
    ///
    /// # Panics
    /// If a rule is broken, naming it. Harnesses call this after every step.
    fn assert_valid(&self) {}
}

/// One kind of call on the machine `M`: its arguments, and what must survive between its steps.
pub trait Operation<M: Machine>: Embed<M> {
    /// Runs one critical section. A step that returns [`Step::Wait`] may be repeated at any time
    /// and loses nothing.
    fn step(&mut self, machine: &mut M, cx: &mut Cx<'_>) -> Step<Self::Ret>;

    /// Gives the call up after a wait, when its future is dropped.
    fn cancel(&mut self, machine: &mut M, cx: &mut Cx<'_>) {
        let _ = (machine, cx);
    }

    /// Drops what is left of the call when it has ended and the lock is released.
    ///
    /// By default that is the whole operation, which is written to memory to be dropped. An
    /// operation that is called in long rows drops here what needs dropping alone, its key say.
    #[inline(always)]
    fn leave(self) {}
}

/// An operation as a value of the machine's enum; written by [`operations!`](crate::operations).
pub trait Embed<M: Machine>: Clone + Send + 'static {
    /// What the call returns.
    type Ret: Send + 'static;
    /// Wraps the operation.
    fn embed(self) -> M::Op;
    /// Unwraps what [`embed`](Self::embed) made.
    fn project(op: M::Op) -> Self;
    /// Unwraps the result of this kind of call.
    fn result(ret: M::Ret) -> Self::Ret;
}

/// What a monitor holds: the machine itself, as shipped, or a boxed one, as harnesses need it.
pub trait Host<M: Machine>: Send + 'static {
    /// Steps an operation.
    fn run<O: Operation<M>>(&mut self, op: &mut O, cx: &mut Cx<'_>) -> Step<O::Ret>;
    /// Cancels an operation.
    fn give_up<O: Operation<M>>(&mut self, op: &mut O, cx: &mut Cx<'_>);
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
}

/// A machine behind a pointer: recorded, mutated, replaced at will.
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
}

impl<M: Machine> std::fmt::Debug for Boxed<M> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Boxed")
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::by_hand::HandClock;
    use super::*;
    use crate::queue::Queue;

    #[test]
    fn surroundings_show_whom_they_wake_and_the_time_that_was_read() {
        let clock = HandClock::default();
        clock.advance(Duration::from_nanos(7));
        let mut cx = Cx::new(&clock);
        cx.wakes.one(2);
        assert_eq!(cx.time_read(), None);
        assert_eq!(format!("{cx:?}"), "Cx { wakes: [0, 0, 1, 0], now: None }");
        let now = cx.now();
        clock.advance(Duration::from_nanos(1));
        assert_eq!((cx.now(), cx.time_read()), (now, Some(now)), "the clock is read once a step");
        let shown = format!("Cx {{ wakes: [0, 0, 1, 0], now: Some({now:?}) }}");
        assert_eq!(format!("{cx:?}"), shown);
    }

    #[test]
    fn what_was_done_with_lent_surroundings_is_kept() {
        let clock = HandClock::default();
        let mut cx = Cx::new(&clock);
        cx.wakes.one(1);
        let read = cx.lend(|cx| {
            cx.wakes.one(1);
            cx.now()
        });
        clock.advance(Duration::from_nanos(1));
        assert_eq!((cx.wakes.get(1), cx.time_read(), cx.now()), (2, Some(read), read));
    }

    #[test]
    fn a_boxed_machine_is_shown_as_one() {
        assert_eq!(format!("{:?}", Boxed::<Queue<u8>>(Box::new(Queue::<u8>::default()))), "Boxed");
    }
}
