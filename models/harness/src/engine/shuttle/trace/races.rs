//! Pairs of steps whose order the execution under way happened to choose.
//!
//! Two steps race if they disturb each other and nothing else orders them. To see the other order,
//! some execution must begin as this one did before the first of them, go on with all that does
//! not happen after it, and then do the second. These are the traps, each of which loses traces:
//!
//! * The taker of a mutex races with the last one who took it, although the release orders the
//!   two: what matters is whether anything *else* does.
//! * A thread that comes back from a wait and uses up the notification that another one could have
//!   used races with that other one at once: later the other one hangs on a later notification,
//!   which would hide the race. The same holds for the clock, if the last deadline is disarmed.
//! * A waiter that was notified during the step of the last one who held the mutex is ordered by
//!   it: no race.
//! * When no thread can move, a thread that only lacks a lock races with the last takers of that
//!   lock at once: a jump of the clock or the end of the execution would come too late for it.
//! * The taker of a lock that others shared at one time may have to come before several of them: if
//!   one of them gives its share up only after another one took its own, there is no moment between.
//! * All races count at every execution, old ones as well, since the events after them are new.

use super::super::kernel::{Footprint, Kernel};
use super::event::{Act, Label, Step};
use super::run::{Event, Run, Share};
use super::vector::CLOCK;
use super::weak::{Weakness, forgets};

/// Two steps that could come in the other order.
#[derive(Clone, Debug)]
pub(super) struct Race {
    /// The event that came first.
    pub(super) at: usize,
    /// How many events there were when the race was seen.
    seen: usize,
    /// The step that can come first instead.
    second: Step,
    /// Other events that can only come after it, then.
    later: Vec<usize>,
}

/// A jump of the clock.
pub(super) const JUMP: Act = Act { slot: CLOCK, label: Label::Step(Footprint::JUMP) };

impl Run {
    /// Finds the races of an act with the events that come directly before it, which were
    /// [found](Self::find_before).
    pub(super) fn find_races(&mut self, kernel: &Kernel, act: Act) {
        for place in 0..self.before.len() {
            let at = self.before[place];
            let first = &self.events[at];
            if first.act.slot != act.slot && self.is_possible_without(kernel, act, at) {
                self.race(kernel, act, place);
            }
        }
    }

    /// Tells whether an act is possible if an event directly before it has not happened.
    fn is_possible_without(&self, kernel: &Kernel, act: Act, at: usize) -> bool {
        let Some(thread) = self.slots.thread(act.slot) else {
            return self.is_armed_without(self.waiting(kernel).armed, at);
        };
        if kernel.waits_on(thread).is_none() || forgets(Weakness::Notification) {
            return true;
        }
        let first = &self.events[at];
        if first.act.slot == CLOCK {
            return true; // it is not late, so it was notified
        }
        kernel.is_late(thread) || first.met.awake >> act.slot & 1 == 1
    }

    /// Finds the race of a waiter that comes back with the jump of the clock that made it late, if
    /// it was notified and so could have come back before.
    pub(super) fn find_race_of_late(&mut self, kernel: &Kernel, act: Act) {
        let Some((at, mut clock)) = self.late[usize::from(act.slot)].take() else { return };
        let thread = self.slots.thread(act.slot).expect("a waiter is a thread");
        for &before in &self.before {
            clock.join(self.events[before].seen_by(act.footprint()));
        }
        let jump = &self.events[at];
        let is_ordered = !kernel.is_notified(thread) || clock.covers(CLOCK, jump.index);
        if is_ordered || forgets(Weakness::LateWaiter) {
            return;
        }
        if let Some(index) = clock.advance(act.slot) {
            let act = act.using_clock(); // it comes in time and disarms its deadline
            self.races.push(Race {
                at,
                seen: self.events.len(),
                second: Step { act, index, clock },
                later: Vec::new(),
            });
        }
    }

    /// Adds the race of an act with one of the events directly before it, unless something else
    /// orders the two.
    fn race(&mut self, kernel: &Kernel, act: Act, place: usize) {
        let at = self.before[place];
        let Some(later) = self.shares_after(act, at) else { return };
        let mut clock = self.clocks[usize::from(act.slot)];
        for &before in self.before.iter().filter(|&before| *before != at) {
            if !later.contains(&before) {
                clock.join(self.events[before].seen_by(act.footprint()));
            }
        }
        let first = &self.events[at];
        if clock.covers(first.act.slot, first.index) {
            return;
        }
        let mut act = act;
        let thread = self.slots.thread(act.slot);
        let waits = thread.is_some_and(|thread| kernel.waits_on(thread).is_some());
        let was_armed = first.met.timed >> act.slot & 1 == 1;
        let disarms = waits && was_armed && self.late[usize::from(act.slot)].is_none();
        if disarms && !forgets(Weakness::Disarming) {
            // Without the first step, the deadline of the waiter is still armed: the waiter disarms
            // it itself.
            act = act.using_clock();
            let is_jump_before = |event: &&Event| event.act == JUMP && !event.follows(first);
            if let Some(jump) = self.events[at..].iter().rev().find(is_jump_before) {
                clock.join(&jump.clock);
            }
        }
        if let Some(index) = clock.advance(act.slot) {
            let second = Step { act, index, clock };
            self.races.push(Race { at, seen: self.events.len(), second, later });
        }
    }

    /// Returns the shares of a lock that can only be taken after an act that takes the whole, if
    /// that comes before one of them: they are not given up as long as that one is not taken, or
    /// another of them. `None` if one of them was taken before, so that the act cannot come there.
    fn shares_after(&self, act: Act, at: usize) -> Option<Vec<usize>> {
        let mut later = Vec::new();
        if self.events[at].share.is_none() || forgets(Weakness::OverlappingShares) {
            return Some(later);
        }
        let hangs_on = |share: &Event, other: usize| {
            let other = &self.events[other];
            share.seen_by(act.footprint()).covers(other.act.slot, other.index)
        };
        while let Some(&share) = self.before.iter().find(|&&before| {
            let share = &self.events[before];
            let is_held = share.share == Some(Share::Held);
            let is_new = before != at && !later.contains(&before) && share.share.is_some();
            is_new && (is_held || [&[at], &*later].concat().iter().any(|o| hangs_on(share, *o)))
        }) {
            if share < at {
                return None;
            }
            later.push(share);
        }
        Some(later)
    }

    /// Tells whether the clock has a deadline to jump to when what happens after an event, and the
    /// event itself, has not happened yet, but everything else has.
    fn is_armed_without(&self, armed_now: u16, at: usize) -> bool {
        let first = &self.events[at];
        let met =
            |number: usize| self.events.get(number).map_or(armed_now, |event| event.met.armed);
        let mut armed = first.met.armed;
        for (number, event) in self.events.iter().enumerate().skip(at + 1) {
            if !event.follows(first) {
                let changed = met(number) ^ met(number + 1);
                armed = armed & !changed | met(number + 1) & changed;
            }
        }
        armed != 0
    }

    /// Finds the races of threads that cannot move because others hold what they want.
    pub(super) fn nobody_moves(&mut self, kernel: &Kernel) {
        self.settle(kernel);
        if forgets(Weakness::Standstill) {
            return;
        }
        for thread in kernel.live().filter(|&thread| kernel.wants_lock(thread)) {
            let footprint = kernel.footprint(thread);
            let act = self.next_act(kernel, thread);
            self.find_before(footprint);
            for place in 0..self.before.len() {
                let at = self.before[place];
                let took_it = self.events[at].act.footprint().object == footprint.object;
                if took_it && self.is_possible_without(kernel, act, at) {
                    self.race(kernel, act, place);
                }
            }
        }
    }

    /// Finds the races of threads that could move before the last step and now cannot: waiters
    /// whose notification the step used up, and the clock if the step disarmed the last deadline.
    pub(super) fn settle(&mut self, kernel: &Kernel) {
        if std::mem::replace(&mut self.settled, self.events.len()) == self.events.len() {
            return;
        }
        let is_step = |event: &Event| matches!(event.act.label, Label::Step(_));
        let Some(at) = self.events.iter().rposition(is_step) else { return };
        let Event { act, met, .. } = self.events[at];
        let now = self.waiting(kernel);
        let fell_asleep = met.awake & !now.awake & !(1 << act.slot);
        for thread in kernel.live() {
            let fell_asleep = fell_asleep >> self.slots.of(thread) & 1 == 1;
            if fell_asleep && !forgets(Weakness::UsedPermit) {
                self.find_before(kernel.footprint(thread));
                let act = self.next_act(kernel, thread);
                self.race_at(kernel, act, at);
            }
        }
        let is_last = met.armed != 0 && now.armed == 0 && act != JUMP;
        if is_last && kernel.has_free_jumps() && !forgets(Weakness::LastDeadline) {
            self.find_before(Footprint::JUMP);
            self.race_at(kernel, JUMP, at);
        }
    }

    fn race_at(&mut self, kernel: &Kernel, act: Act, at: usize) {
        if let Some(place) = self.before.iter().position(|&before| before == at) {
            self.race(kernel, act, place);
        }
    }

    /// Fills `sequence` with what has to follow the events before a race, to see its other order:
    /// all that does not happen after the first of the two, and then the second.
    ///
    /// The second may have been seen to be possible and then not come about. Events after that
    /// moment come before it all the same, but for a jump of the clock that would make it late:
    /// that one comes after.
    pub(super) fn reverse(&self, race: &Race, sequence: &mut Vec<Step>) {
        sequence.clear();
        let first = &self.events[race.at];
        let mut second = race.second;
        let mut too_late: Option<&Event> = None;
        for (number, event) in self.events.iter().enumerate().skip(race.at + 1) {
            let is_later = |later: &usize| event.follows(&self.events[*later]);
            if event.follows(first)
                || too_late.is_some_and(|jump| event.follows(jump))
                || race.later.iter().any(is_later)
            {
                continue;
            }
            if number >= race.seen && event.act.disturbs(&second.act) {
                let made_late = event.made_late >> second.act.slot & 1 == 1;
                if made_late && !forgets(Weakness::TooLate) {
                    too_late = Some(event);
                    continue;
                }
                second.clock.join(&event.clock);
            }
            sequence.push(Step { act: event.act, index: event.index, clock: event.clock });
        }
        sequence.push(second);
        if forgets(Weakness::WholeSequence) {
            sequence.truncate(1);
        }
    }
}
