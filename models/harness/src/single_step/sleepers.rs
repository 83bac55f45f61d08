//! Consumers of a queue as data: each is asleep, awake or busy. They show whether a machine wakes
//! the consumers that it must, in whatever order they run and whichever is picked.

use std::time::Duration;

use seatrial_core::machine::{Channel, Cx, Machine, Step, Wakes};
use seatrial_core::runtime::{Ambient, Instant};

use super::HandClock;

/// The state of a consumer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Consumer<T> {
    /// It will look for an item.
    Awake,
    Asleep(Channel, Option<Instant>),
    /// It processes what it was given.
    Busy(T),
    /// It was told that there are no more items.
    Gone,
}

/// The calls that consumers make, and the meaning of the answers.
pub trait Calls {
    /// The calls of the machine.
    type Op;
    /// The results of the calls.
    type Ret;
    /// The token that a consumer holds while it is busy.
    type Token: Copy;

    /// Takes an item, or waits for one.
    fn get() -> Self::Op;
    /// The token that a get returned; `None` if there are no more items.
    fn taken(ret: Self::Ret) -> Option<Self::Token>;
    /// Ends the delivery of an item.
    fn done(token: Self::Token) -> Self::Op;
}

/// A machine, its consumers, and a source of choices.
pub struct Sleepers<C: Calls> {
    machine: Box<dyn Machine<Op = C::Op, Ret = C::Ret>>,
    /// Changes whom a step wakes.
    edit: fn(&mut Wakes),
    clock: HandClock,
    consumers: Vec<Consumer<C::Token>>,
    state: u64,
}

impl<C: Calls<Op: Send + 'static, Ret: Send + 'static>> Sleepers<C> {
    /// Puts three consumers before a machine.
    pub fn new(
        machine: impl Machine<Op = C::Op, Ret = C::Ret>,
        edit: fn(&mut Wakes),
        seed: u64,
    ) -> Self {
        let machine = Box::new(machine);
        let consumers = vec![Consumer::Awake; 3];
        Self { machine, edit, clock: HandClock::default(), consumers, state: seed | 1 }
    }

    /// Returns a number below `options`.
    pub fn choose(&mut self, options: usize) -> usize {
        self.state ^= self.state << 13;
        self.state ^= self.state >> 7;
        self.state ^= self.state << 17;
        (self.state >> 33) as usize % options
    }

    /// Lets a producer make a call. Consumers that are awake may run before it or after it.
    pub fn produce(&mut self, op: C::Op) {
        while self.choose(2) == 0 && self.run_one() {}
        self.step(op);
    }

    /// Lets time pass, after every consumer that can move has moved and none sleeps while there is
    /// an item.
    pub fn pass(&mut self, by: Duration) {
        self.settle();
        self.clock.advance(by);
        self.settle();
    }

    fn settle(&mut self) {
        while self.run_one() {}
        if !self.nobody_sleeps() {
            // One more consumer looks for an item: if it finds one, a sleeper should have it.
            let finds = self.step(C::get());
            assert!(matches!(finds, Step::Wait { .. }), "somebody sleeps while there is an item");
        }
    }

    /// Tells whether every consumer is awake, busy or gone.
    pub fn nobody_sleeps(&self) -> bool {
        !self.consumers.iter().any(|who| matches!(who, Consumer::Asleep(..)))
    }

    /// Lets one consumer move that is awake or whose deadline has come. False if there is none.
    fn run_one(&mut self) -> bool {
        let now = self.clock.now();
        let can_move = |who: &Consumer<C::Token>| match who {
            Consumer::Awake => true,
            Consumer::Asleep(_, until) => until.is_some_and(|until| until <= now),
            Consumer::Busy(_) | Consumer::Gone => false,
        };
        let movable: Vec<_> =
            (0..self.consumers.len()).filter(|at| can_move(&self.consumers[*at])).collect();
        if movable.is_empty() {
            return false;
        }
        let at = movable[self.choose(movable.len())];
        self.consumers[at] = match self.step(C::get()) {
            Step::Wait { on, until } => Consumer::Asleep(on, until),
            Step::Done(ret) => C::taken(ret).map_or(Consumer::Gone, Consumer::Busy),
            Step::Held(_) => panic!("get holds no lock"),
        };
        true
    }

    /// Ends the delivery of one busy consumer, if there is one.
    pub fn end_one(&mut self) {
        let at = self.choose(self.consumers.len());
        if let Consumer::Busy(token) = self.consumers[at] {
            self.consumers[at] = Consumer::Awake;
            self.step(C::done(token));
        }
    }

    fn step(&mut self, mut op: C::Op) -> Step<C::Ret> {
        let mut cx = Cx::new(&self.clock);
        let step = self.machine.step(&mut op, &mut cx);
        self.machine.assert_valid();
        let mut wakes = cx.wakes;
        (self.edit)(&mut wakes);
        for on in 0..seatrial_core::machine::CHANNELS {
            self.wake(on as Channel, wakes.get(on as Channel));
        }
        step
    }

    /// Wakes a number of sleepers of a channel, whichever.
    fn wake(&mut self, on: Channel, count: u16) {
        for _ in 0..count {
            let sleeps =
                |at: &usize| matches!(self.consumers[*at], Consumer::Asleep(c, _) if c == on);
            let asleep: Vec<_> = (0..self.consumers.len()).filter(sleeps).collect();
            if asleep.is_empty() {
                return;
            }
            let at = asleep[self.choose(asleep.len())];
            self.consumers[at] = Consumer::Awake;
        }
    }
}

impl<C: Calls> std::fmt::Debug for Sleepers<C> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Sleepers").field("clock", &self.clock).finish_non_exhaustive()
    }
}

/// Tells whether a program with a mistake in its wakes fails for one of many seeds.
pub fn fails(program: impl Fn(u64)) -> bool {
    use std::panic::{AssertUnwindSafe, catch_unwind};
    (1..2000).any(|seed: u64| {
        let seed = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15);
        crate::engine::quietly(|| catch_unwind(AssertUnwindSafe(|| program(seed))).is_err())
    })
}
