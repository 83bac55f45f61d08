//! Every trace once: optimal dynamic partial-order reduction.
//!
//! Executions that differ only in the order of steps that do not disturb each other are one
//! *trace*: no thread can tell them apart. The search runs one execution of each and no other. It
//! is depth-first. After an execution it looks for [races], pairs of steps whose order could have
//! been the other one. At the decision before the first of the two, it adds a sequence that leads
//! to the other order to the [tree] of sequences to be tried. Then it goes back to the deepest
//! decision that has something left. An act *sleeps* at a decision once all traces that begin with
//! it have been seen, until another step disturbs it.
//!
//! After "Optimal Dynamic Partial Order Reduction" (Abdulla, Aronis, Jonsson, Sagonas, POPL 2014):
//! source sets with wake-up trees. Our own choice is which events count as steps: the taking of a
//! lock, first or after a wait, or of a share of one, and the use of a published value or an atomic
//! number. Two shares of one lock do not disturb each other, nor do two reads. A release, a
//! notification, the start and the end of a thread are no steps: a thread that could see them needs
//! the lock or is ordered anyway. A jump of the clock at a standstill is ordered with everything;
//! one that may come at any time disturbs threads that read the time, arm a deadline or disarm one.
//! An answer to a choice of data disturbs no other step.

mod event;
mod races;
mod run;
mod search;
mod slots;
#[cfg(test)]
mod tests;
mod tree;
mod vector;
mod weak;

use std::ops::RangeInclusive;

use super::kernel::Kernel;
use super::strategy::{Chooser, Decision, Options, diverged};
use crate::engine::{Choice, End};

use event::{Act, Label, Step};
use races::JUMP;
use run::Run;
use search::{Insertion, Next, Search};
use vector::CLOCK;

pub(super) use tree::Lent;

/// The search, as a strategy.
pub(super) struct Trace {
    run: Run,
    search: Search,
    /// Executions that may still be run.
    left: u64,
    begun: bool,
    /// Whether no execution was cut short, so that having tried everything means something.
    complete: bool,
    exhausted: bool,
    /// The part that comes next and that somebody else explores.
    awaited: Option<Lent>,
    /// Whether the next execution is decided already.
    is_decided: bool,
    sequence: Vec<Step>,
}

/// What a part of a search leaves to the whole.
pub(super) struct Yield {
    owed: Vec<Insertion>,
    /// Whether nothing is left of it.
    pub(super) is_whole: bool,
    complete: bool,
}

impl Trace {
    pub(super) fn new(executions: u64) -> Self {
        Self {
            run: Run::new(),
            search: Search::default(),
            left: executions,
            begun: false,
            complete: true,
            exhausted: false,
            awaited: None,
            is_decided: false,
            sequence: Vec::new(),
        }
    }

    /// Returns the option that an act is.
    fn choice(&self, kernel: &Kernel, options: Options, act: Act) -> Option<Choice> {
        if act.slot == CLOCK {
            return (options.clock && act == JUMP).then_some(Choice::Clock);
        }
        let thread = self.run.slots.thread(act.slot)?;
        let same = options.threads.contains(thread) && self.run.next_act(kernel, thread) == act;
        same.then_some(Choice::Thread(thread as u8))
    }

    /// Lends a part to another thread of the operating system, if it has one that is expected to
    /// have such a number of executions.
    pub(super) fn lend(&mut self, executions: &RangeInclusive<u64>) -> Option<(Lent, Self)> {
        let (lent, search) = self.search.lend(executions)?;
        let run = self.run.of_part();
        Some((lent, Self { run, search, ..Self::new(self.left) }))
    }

    /// Returns the loan that comes next, because of which [`begin`](Chooser::begin) has said no.
    pub(super) fn awaited(&self) -> Option<&Lent> {
        self.awaited.as_ref()
    }

    /// Returns how many executions may still be run.
    pub(super) fn left(&self) -> u64 {
        self.left
    }

    /// Goes on behind that part, of which the results and the number of executions are given, or
    /// with it.
    pub(super) fn go_on(&mut self, part: Option<(Yield, u64)>) {
        self.awaited = None;
        self.is_decided = part.is_none();
        if let Some((part, executions)) = part {
            self.left -= executions;
            self.complete &= part.complete;
            self.search.absorb(part.owed, executions);
        }
    }

    /// Returns how many steps a part has to leave to the whole: they take most of its memory.
    pub(super) fn owes(&self) -> usize {
        self.search.owes()
    }

    /// Returns what a part leaves to the whole.
    pub(super) fn yields(&mut self) -> Yield {
        let (is_whole, complete) = (self.exhausted, self.complete);
        Yield { owed: self.search.owed(), is_whole, complete }
    }

    fn refusal(&mut self) -> Decision<()> {
        match self.run.refusal.take() {
            Some(why) => Err(End::Refused(why)),
            None => Ok(()),
        }
    }
}

impl Chooser for Trace {
    fn begin(&mut self) -> bool {
        if self.awaited.is_some() {
            return false;
        }
        let mut part = None;
        if self.begun && !self.exhausted && !std::mem::take(&mut self.is_decided) {
            match self.search.backtrack() {
                Next::Execution => {}
                Next::Part(lent) => part = Some(lent),
                Next::Nothing => self.exhausted = true,
            }
        }
        if self.exhausted || self.left == 0 || part.is_some() {
            self.awaited = part.filter(|_| self.left > 0);
            return false;
        }
        self.begun = true;
        self.left -= 1;
        self.run.begin();
        true
    }

    fn thread(&mut self, kernel: &Kernel, options: Options) -> Decision<Choice> {
        self.refusal()?;
        self.run.settle(kernel);
        let act = match self.search.chosen(self.run.events.len()) {
            Some(act) => act,
            None => {
                let run = &self.run;
                let threads = options.threads.map(|thread| run.next_act(kernel, thread));
                let acts = threads.chain(options.clock.then_some(JUMP));
                let decided = self.search.decide(acts);
                decided.expect("an execution is redundant, which is a bug of the search")
            }
        };
        let choice = self.choice(kernel, options, act).ok_or_else(diverged)?;
        if act.slot == CLOCK && !kernel.can_jump_freely() {
            self.search.wake_all(self.run.events.len());
        }
        self.run.step(kernel, act);
        Ok(choice)
    }

    fn data(&mut self, kernel: &Kernel, options: u32) -> Decision<u32> {
        self.refusal()?;
        let slot = self.run.slots.of(kernel.running());
        let answers = (0..options).map(|answer| Act { slot, label: Label::Answer(answer) });
        let act = match self.search.chosen(self.run.events.len()) {
            Some(act) => Some(act),
            None => self.search.decide_answer(answers),
        };
        match act {
            Some(Act { slot: answered, label: Label::Answer(answer) })
                if answered == slot && answer < options =>
            {
                self.run.answer(kernel, slot, answer);
                Ok(answer)
            }
            _ => Err(diverged()),
        }
    }

    fn started(&mut self, kernel: &Kernel, thread: usize) {
        self.run.started(kernel, thread);
    }

    fn joined(&mut self, kernel: &Kernel, thread: usize) {
        self.run.joined(kernel, thread);
    }

    fn released(&mut self, kernel: &Kernel, mutex: usize) {
        self.run.released(kernel, mutex);
    }

    fn jumped(&mut self, kernel: &Kernel) {
        self.run.jumped(kernel);
    }

    fn nobody_moves(&mut self, kernel: &Kernel) {
        self.run.nobody_moves(kernel);
    }

    fn finish(&mut self, kernel: &Kernel, end: &End) {
        let is_given_up = matches!(end, End::Diverged(_) | End::Refused(_));
        if is_given_up || self.run.refusal.is_some() {
            self.left = 0;
            self.complete = false;
            return;
        }
        self.complete &= !matches!(end, End::Endless(_));
        self.run.settle(kernel); // the last step may have disarmed the last deadline
        let races = std::mem::take(&mut self.run.races);
        for race in &races {
            self.run.reverse(race, &mut self.sequence);
            self.search.insert(race.at, &mut self.sequence);
        }
        self.run.races = races;
    }

    /// A part may also meet a thread without a slot in an execution that ends before its next decision. Then the
    /// search explores the part itself.
    fn unmet(&self) -> Option<End> {
        let refusal = self.run.refusal.clone().filter(|_| self.run.slots.are_of_part());
        refusal.map(End::Refused)
    }

    fn exhausted(&self) -> bool {
        self.exhausted && self.complete
    }

    fn trace(&mut self) -> Option<&mut Trace> {
        Some(self)
    }
}
