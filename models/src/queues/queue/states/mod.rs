//! The queue and its callers as states, for the search that needs no threads.

mod catalogue;
pub(crate) mod tests;

use seatrial_core::machine::{Step, Wakes};
use seatrial_core::queue::{
    Add, Done, Drain, DrainUntil, Get, Op, Queue as Rules, Ret, ShutDown, Token,
};

use super::Queue;
use crate::engine::state::{Bytes, Explored, Moment, Place, Programs, Wrong};
use crate::single_step::hash;
use crate::trial::Component;

pub(super) use catalogue::all;
pub use catalogue::{large, sized};

/// One instruction of a caller.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Call {
    /// Adds an item.
    Add(u8),
    /// Takes an item; if no more come, the next instruction is skipped.
    Get,
    /// Ends the last delivery.
    Done,
    /// Takes and ends deliveries until no more come.
    Work,
    /// Shuts down.
    ShutDown,
    /// Waits until nothing is in processing, or until all work is done.
    Drain {
        /// Whether all work must be done.
        strict: bool,
    },
}

/// The position of a caller.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Caller {
    at: Place,
    /// Its delivery that has not ended.
    holds: Option<(Token, u8)>,
    /// The items that it was given, if callers remember.
    seen: Seen,
}

/// The last sixteen items that a caller was given, a byte each, the last one lowest.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Debug)]
pub struct Seen([u64; 2]);

impl Seen {
    fn push(&mut self, key: u8) {
        let [older, newer] = self.0;
        self.0 = [older << 8 | newer >> 56, newer << 8 | (u64::from(key) + 1)];
    }
}

impl Caller {
    /// Returns the items that it was given.
    #[must_use]
    pub fn seen(&self) -> Seen {
        self.seen
    }
}

/// Callers at one queue.
#[derive(Clone, Debug)]
pub struct AtQueue {
    /// The program of each caller.
    pub programs: Programs<Call>,
    /// Whether the items that a caller was given distinguish states.
    pub remembers: bool,
    /// Edits the wakes of a step.
    pub edit: fn(&mut Wakes),
    /// Tells whether the queue has reached the state that the programs aim at.
    pub reaches: fn(&Rules<u8>) -> bool,
}

impl AtQueue {
    /// Makes programs at the queue that ships.
    #[must_use]
    pub fn new(programs: &[&[Call]]) -> Self {
        let programs = Programs::new(programs);
        Self { programs, remembers: false, edit: |_| {}, reaches: |_| true }
    }
}

/// Appends the contents of a queue; the slots do not matter.
#[inline]
pub(crate) fn view_contents(queue: &Rules<u8>, into: &mut Bytes) {
    into.number(queue.len() as u64);
    queue.waiting().for_each(|key| into.number(*key));
    let processing = queue.processing();
    into.unordered_numbers(
        processing.map(|(key, is_dirty)| u64::from(*key) << 1 | u64::from(is_dirty)),
    );
    into.number(queue.is_shutting_down());
}

/// Names an item that two callers process at the same time, if there is one.
pub(crate) fn processed_twice(held: impl Iterator<Item = u8>) -> Option<Wrong> {
    let mut seen = [false; 256];
    let twice = { held }.find(|key| std::mem::replace(&mut seen[usize::from(*key)], true))?;
    Some(Wrong::new("never_concurrent", format!("item {twice} is processed by two callers")))
}

impl Explored for AtQueue {
    type Machine = Rules<u8>;
    type Caller = Caller;

    fn machine(&self) -> Rules<u8> {
        Rules::default()
    }

    fn callers(&self) -> Vec<Caller> {
        let start = |at| Caller { at, holds: None, seen: Seen::default() };
        self.programs.places().into_iter().map(start).collect()
    }

    #[inline]
    fn next(&self, caller: &Caller) -> Option<Op<u8>> {
        let done = || caller.holds.map(|(token, _)| Op::Done(Done(token)));
        match self.programs.call(caller.at)? {
            Call::Add(key) => Some(Op::Add(Add { key: Some(key), hash: hash(&key) })),
            Call::Get => Some(Op::Get(Get)),
            Call::Done => done(),
            Call::Work => Some(done().unwrap_or(Op::Get(Get))),
            Call::ShutDown => Some(Op::ShutDown(ShutDown)),
            Call::Drain { strict } => {
                let until =
                    if strict { DrainUntil::AllWorkDone } else { DrainUntil::NothingInFlight };
                Some(Op::Drain(Drain { until, began: None }))
            }
        }
    }

    #[inline]
    fn returned(&self, caller: &mut Caller, ret: Ret<u8>) {
        let call = self.programs.call(caller.at);
        match ret {
            Ret::Get(Some((token, key))) => {
                caller.holds = Some((token, key));
                if self.remembers {
                    caller.seen.push(key);
                }
            }
            Ret::Get(None) if call == Some(Call::Get) => {
                caller.at.advance(); // and skips the next instruction
            }
            Ret::Done(_) => caller.holds = None,
            _ => {}
        }
        let goes_on = call == Some(Call::Work) && !matches!(ret, Ret::Get(None));
        if !goes_on {
            caller.at.advance();
        }
    }

    #[inline]
    fn view(&self, machine: &Rules<u8>, into: &mut Bytes) {
        view_contents(machine, into);
    }

    /// The view of a caller: its remaining calls, the item that it took and whether it still holds
    /// it, the items that it was given, and for a drain, whether a shutdown has released it.
    #[inline]
    fn view_caller(
        &self,
        machine: &Rules<u8>,
        caller: &Caller,
        call: Option<&Op<u8>>,
        into: &mut Bytes,
    ) {
        self.programs.view(caller.at, into);
        let holds = caller.holds.map_or(0, |(token, key)| {
            1 + (u64::from(key) << 1 | u64::from(machine.is_in_processing(token)))
        });
        let released = match call {
            Some(Op::Drain(Drain { began: Some(began), .. })) => {
                1 + u64::from(*began != machine.shutdowns())
            }
            _ => 0,
        };
        into.number(holds * 3 + released);
        if self.remembers {
            caller.seen.0.iter().for_each(|&items| into.number(items));
        }
    }

    #[inline]
    fn wrong<'a>(
        &self,
        at: Moment<'_, Rules<u8>>,
        callers: impl Iterator<Item = &'a Caller> + Clone,
    ) -> Option<Wrong> {
        let lost = at.is_end && (!at.machine.is_empty() || at.machine.in_flight() > 0);
        let held = callers.filter_map(|caller| caller.holds.map(|(_, key)| key));
        processed_twice(held).or_else(|| {
            lost.then(|| Wrong::new("nothing_lost", "all calls have returned and an item is left"))
        })
    }

    fn reaches<'a>(
        &self,
        machine: &Rules<u8>,
        _: impl Iterator<Item = &'a Caller> + Clone,
    ) -> bool {
        (self.reaches)(machine)
    }

    fn describe(&self, op: &Op<u8>, outcome: &Step<Ret<u8>>) -> String {
        Queue::describe(op, outcome)
    }

    #[inline]
    fn touch(&self, machine: &Rules<u8>) -> usize {
        let first = machine.is_in_processing(Token::new(0, 0));
        usize::from(first) + machine.waiting().next().map_or(0, |key| usize::from(*key))
    }

    #[inline]
    fn edit(&self, wakes: &mut Wakes) {
        (self.edit)(wakes);
    }
}
