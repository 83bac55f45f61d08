//! Pairs of steps whose order the execution under way happened to choose.
//!
//! Two steps race if they disturb each other and nothing else orders them. To see the other order,
//! some execution must begin as this one did before the first of them, go on with all that does
//! not happen after it, and then do the second. These are the traps, each of which loses traces:
//!
//! * Whoever takes a mutex races with the last one who took it, although the release orders the
//!   two: what matters is whether anything *else* does.
//! * A thread that comes back from a wait and uses up the notification that another one could have
//!   used races with that other one at once: later the other one hangs on a later notification,
//!   which would hide the race. The same holds for the clock, if the last deadline is disarmed.
//! * A waiter that was notified during the step of the last one who held the mutex is ordered by
//!   it: no race.
//! * When nobody can move, whoever lacks a mutex alone races with its last taker: so does a jump
//!   of the clock or the end of the execution come too late for it.
//! * All races count at every execution, old ones as well: what comes after them is new.

use super::super::kernel::{Footprint, Kernel};
use super::event::{Act, Label, Step};
use super::run::{Event, Run};
use super::vector::CLOCK;

/// Two steps that could come in the other order.
#[derive(Clone, Copy, Debug)]
pub(super) struct Race {
    /// The event that came first.
    pub(super) at: usize,
    /// How many events there were when the race was seen.
    seen: usize,
    /// The step that can come first instead.
    second: Step,
}

/// A jump of the clock.
pub(super) const JUMP: Act = Act { slot: CLOCK, label: Label::Step(Footprint::JUMP) };

impl Run {
    /// Finds the races of an act with the events that come directly before it, which were
    /// [found](Self::find_before).
    pub(super) fn find_races(&mut self, kernel: &Kernel, act: Act) {
        for place in 0..self.before.len() {
            let first = &self.events[self.before[place]];
            if first.act.slot != act.slot && self.can_come_before(kernel, act, first) {
                self.race(act, place);
            }
        }
    }

    /// Adds the race of an act with one of the events directly before it, unless something else
    /// orders the two.
    fn race(&mut self, act: Act, place: usize) {
        let mut clock = self.clocks[usize::from(act.slot)];
        for (other, &before) in self.before.iter().enumerate() {
            if other != place {
                clock.join(&self.events[before].released);
            }
        }
        let at = self.before[place];
        let first = &self.events[at];
        if clock.covers(first.act.slot, first.index) {
            return;
        }
        if let Some(index) = clock.advance(act.slot) {
            let second = Step { act, index, clock };
            self.races.push(Race { at, seen: self.events.len(), second });
        }
    }

    /// Tells whether an act is possible without the event that came directly before it.
    fn can_come_before(&self, kernel: &Kernel, act: Act, first: &Event) -> bool {
        let Some(thread) = self.slots.thread(act.slot) else {
            return self.can_jump_before(kernel, first);
        };
        if kernel.waits_on(thread).is_none() {
            return true;
        }
        let was_awake = first.awake >> act.slot & 1 == 1;
        let is_awake_otherwise = if first.act.slot == CLOCK {
            kernel.is_notified(thread)
        } else {
            kernel.is_late(thread)
        };
        was_awake || is_awake_otherwise
    }

    /// Tells whether the clock had a deadline to jump to without an event.
    fn can_jump_before(&self, kernel: &Kernel, first: &Event) -> bool {
        let armed_without = |thread: usize| {
            let armed = &self.clocks[usize::from(self.slots.of(thread))];
            !armed.covers(first.act.slot, first.index)
        };
        first.clock_could_jump || kernel.impatient().any(armed_without)
    }

    /// Finds the races of threads that cannot move because others hold what they want.
    pub(super) fn nobody_moves(&mut self, kernel: &Kernel) {
        for thread in kernel.live().filter(|&thread| kernel.wants_mutex(thread)) {
            self.find_before(kernel.footprint(thread));
            let act = self.next_act(kernel, thread);
            self.find_races(kernel, act);
        }
    }

    /// Finds the races of those who could move before the running thread came back from a wait,
    /// and now cannot.
    pub(super) fn came_back(&mut self, kernel: &Kernel, condvar: usize) {
        let slot = self.slots.of(kernel.running());
        let is_return =
            |event: &Event| event.act.slot == slot && matches!(event.act.label, Label::Step(_));
        let at = self.events.iter().rposition(is_return).expect("it has just come back");
        let awake_before = self.events[at].awake;
        let could_jump = self.events[at].clock_could_jump;
        let awake = kernel.awake();
        for thread in kernel.live().filter(|&thread| kernel.waits_on(thread) == Some(condvar)) {
            let was_awake = awake_before >> self.slots.of(thread) & 1 == 1;
            if was_awake && !awake.contains(thread) {
                self.find_before(kernel.footprint(thread));
                let act = self.next_act(kernel, thread);
                self.race_at(act, at);
            }
        }
        if could_jump && !kernel.can_jump_freely() {
            self.find_before(Footprint::JUMP);
            self.race_at(JUMP, at);
        }
    }

    fn race_at(&mut self, act: Act, at: usize) {
        if let Some(place) = self.before.iter().position(|&before| before == at) {
            self.race(act, place);
        }
    }

    /// Fills `sequence` with what has to follow the events before a race, to see its other order.
    pub(super) fn reverse(&self, race: &Race, sequence: &mut Vec<Step>) {
        sequence.clear();
        let first = &self.events[race.at];
        let mut late: Vec<&Event> = Vec::new();
        for (number, event) in self.events.iter().enumerate().skip(race.at + 1) {
            if event.clock.covers(first.act.slot, first.index) {
                continue;
            }
            // A step that never came about, and was seen not to, stays before what it disturbs.
            let follows = |other: &&Event| event.clock.covers(other.act.slot, other.index);
            let is_late = number >= race.seen && event.act.disturbs(&race.second.act);
            if is_late || late.iter().any(follows) {
                late.push(event);
                continue;
            }
            sequence.push(Step { act: event.act, index: event.index, clock: event.clock });
        }
        sequence.push(race.second);
    }
}
