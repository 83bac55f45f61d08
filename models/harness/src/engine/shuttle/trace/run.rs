//! The execution under way, as events and the order in which they happened before each other.

use super::super::kernel::{ClockUse, Footprint, Kernel};
use super::event::{Act, Label};
use super::races::Race;
use super::slots::Slots;
use super::vector::{CLOCK, SLOTS, Slot, VectorClock};
use super::weak::{Weakness, forgets};

/// Something that happened.
#[derive(Clone, Copy, Debug)]
pub(super) struct Event {
    pub(super) act: Act,
    /// Its number among the events of its thread.
    pub(super) index: u16,
    /// The events that happened before it, itself included.
    pub(super) clock: VectorClock,
    /// The events that happened before others could use its object: for a lock, before its release.
    released: VectorClock,
    /// The state of its share of a lock, if it took one.
    pub(super) share: Option<Share>,
    /// The threads that waited when it happened.
    pub(super) met: Waiting,
    /// The waiters, by slot, whose deadlines it made pass.
    pub(super) made_late: u16,
}

impl Event {
    /// Tells whether another event happened before this one, or is it.
    pub(super) fn follows(&self, other: &Self) -> bool {
        self.clock.covers(other.act.slot, other.index)
    }

    /// Returns the events that happened before a step that comes directly after this event. If the
    /// two share a lock, these are the events up to its release.
    pub(super) fn seen_by(&self, later: Footprint) -> &VectorClock {
        match self.act.label {
            Label::Step(mine) if mine.object.is_some() && mine.object == later.object => {
                &self.released
            }
            _ => &self.clock,
        }
    }
}

/// How far a share of a lock has come.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Share {
    Held,
    Released,
}

/// The waiting threads at some moment, as sets of slots.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct Waiting {
    /// Waiters that could go on but for the mutex: notified, or late.
    pub(super) awake: u16,
    /// Threads with a deadline that the clock could jump to although threads can move.
    pub(super) armed: u16,
    /// The threads among them that wait to be notified.
    pub(super) timed: u16,
}

/// The last accesses to an object.
#[derive(Clone, Default, Debug)]
pub(super) struct Record {
    pub(super) write: Option<usize>,
    /// Reads since that write, the last one of each thread.
    pub(super) reads: Vec<usize>,
}

/// The execution under way.
pub(super) struct Run {
    pub(super) slots: Slots,
    /// For each thread, the events that happened before its present point.
    pub(super) clocks: [VectorClock; SLOTS],
    pub(super) events: Vec<Event>,
    /// By name.
    pub(super) objects: Vec<Record>,
    pub(super) time: Record,
    pub(super) races: Vec<Race>,
    /// For each waiter that a free jump of the clock has made late: the number of the jump, and the
    /// events that happened before the waiter's present point, apart from the jump.
    pub(super) late: [Option<(usize, VectorClock)>; SLOTS],
    /// How many events there were when the consequences of the last one were looked at.
    pub(super) settled: usize,
    /// Reused by every step: the events that come directly before it.
    pub(super) before: Vec<usize>,
    /// Why the program cannot be searched.
    pub(super) refusal: Option<String>,
}

impl Run {
    pub(super) fn new() -> Self {
        Self {
            slots: Slots::new(),
            clocks: [VectorClock::default(); SLOTS],
            events: Vec::new(),
            objects: Vec::new(),
            time: Record::default(),
            races: Vec::new(),
            late: [None; SLOTS],
            settled: 0,
            before: Vec::new(),
            refusal: None,
        }
    }

    /// Returns one for a part of the search.
    pub(super) fn of_part(&self) -> Self {
        Self { slots: self.slots.of_part(), ..Self::new() }
    }

    pub(super) fn begin(&mut self) {
        self.slots.begin();
        self.clocks = [VectorClock::default(); SLOTS];
        self.events.clear();
        self.objects.iter_mut().chain([&mut self.time]).for_each(|record| {
            record.write = None;
            record.reads.clear();
        });
        self.races.clear();
        self.late = [None; SLOTS];
        self.settled = 0;
        self.refusal = None;
    }

    /// Notes a thread that the running one has started: all that its parent saw happened before.
    pub(super) fn started(&mut self, kernel: &Kernel, thread: usize) {
        let parent = self.clocks[usize::from(self.slots.of(kernel.running()))];
        match self.slots.meet(kernel.name(thread), thread) {
            Some(_) if forgets(Weakness::Starts) => {}
            Some(slot) => self.clocks[usize::from(slot)] = parent,
            None => {
                let most = SLOTS - 1;
                self.refusal = Some(format!("the search tells {most} threads apart, not more"));
            }
        }
    }

    /// Notes that the running thread has seen the end of another.
    pub(super) fn joined(&mut self, kernel: &Kernel, ended: usize) {
        let seen = self.clocks[usize::from(self.slots.of(ended))];
        let joiner = self.slots.of(kernel.running());
        if forgets(Weakness::Joins) {
            return;
        }
        self.clocks[usize::from(joiner)].join(&seen);
    }

    /// Notes that the running thread has released a lock, or its share of one.
    pub(super) fn released(&mut self, kernel: &Kernel, lock: usize) {
        let record = &self.objects[kernel.lock_name(lock) as usize];
        let slot = self.slots.of(kernel.running());
        let share = record.reads.iter().find(|read| self.events[**read].act.slot == slot);
        let taken = *share.or(record.write.as_ref()).expect("a lock is taken before its release");
        let taken = &mut self.events[taken];
        taken.share = taken.share.map(|_| Share::Released);
        if taken.share.is_none() || !forgets(Weakness::ShareReleases) {
            taken.released = self.clocks[usize::from(slot)];
        }
    }

    /// Returns the act that a thread is about to do.
    pub(super) fn next_act(&self, kernel: &Kernel, thread: usize) -> Act {
        let mut footprint = kernel.footprint(thread);
        footprint.writes |= footprint.object.is_some() && forgets(Weakness::ReadsCommute);
        Act { slot: self.slots.of(thread), label: Label::Step(footprint) }
    }

    /// Adds a step of a thread or a jump of the clock, which is about to happen. A jump at a
    /// standstill comes after everything, and everything else after it.
    pub(super) fn step(&mut self, kernel: &Kernel, act: Act) {
        let Label::Step(footprint) = act.label else { unreachable!("answers come by `answer`") };
        let is_standstill = act.slot == CLOCK && !kernel.can_jump_freely();
        self.find_before(footprint);
        if is_standstill {
            self.late = [None; SLOTS]; // nobody can come back before
        } else {
            self.find_races(kernel, act);
            self.find_race_of_late(kernel, act);
        }
        let mut clock = self.clocks[usize::from(act.slot)];
        for &before in &self.before {
            clock.join(self.events[before].seen_by(footprint));
        }
        if is_standstill {
            self.clocks.iter().for_each(|other| clock.join(other));
        }
        let number = self.events.len();
        self.push(act, clock, self.waiting(kernel));
        if self.slots.thread(act.slot).is_some_and(|thread| kernel.takes_share(thread))
            && let Some(event) = self.events.get_mut(number)
        {
            event.share = Some(Share::Held);
        }
        if is_standstill {
            self.clocks = [self.clocks[usize::from(CLOCK)]; SLOTS];
        }
        self.record(footprint, number);
    }

    /// Adds an answer to the running thread.
    pub(super) fn answer(&mut self, kernel: &Kernel, slot: Slot, answer: u32) {
        let clock = self.clocks[usize::from(slot)];
        self.push(Act { slot, label: Label::Answer(answer) }, clock, self.waiting(kernel));
    }

    fn push(&mut self, act: Act, mut clock: VectorClock, met: Waiting) {
        let Some(index) = clock.advance(act.slot) else {
            self.refusal = Some("a thread takes more steps than the search can count".to_owned());
            return;
        };
        self.clocks[usize::from(act.slot)] = clock;
        let released = clock;
        self.events.push(Event { act, index, clock, released, share: None, met, made_late: 0 });
    }

    fn object(&mut self, name: u32) -> &mut Record {
        let place = name as usize;
        if self.objects.len() <= place {
            self.objects.resize_with(place + 1, Record::default);
        }
        &mut self.objects[place]
    }

    /// Finds the last events that a step with this footprint disturbs.
    pub(super) fn find_before(&mut self, footprint: Footprint) {
        let mut before = std::mem::take(&mut self.before);
        before.clear();
        if let Some(object) = footprint.object {
            let record = self.object(object);
            if !forgets(record.kind(footprint.writes)) {
                record.last_disturbed(footprint.writes, &mut before);
            }
        }
        match footprint.clock {
            ClockUse::Reads if !forgets(Weakness::JumpBeforeRead) => {
                self.time.last_disturbed(false, &mut before);
            }
            ClockUse::Moves if !forgets(Weakness::ReadBeforeJump) => {
                self.time.last_disturbed(true, &mut before);
            }
            _ => {}
        }
        self.before = before;
    }

    fn record(&mut self, footprint: Footprint, number: usize) {
        let slot = self.events.get(number).map(|event| event.act.slot);
        let Some(slot) = slot else { return }; // refused
        let events = std::mem::take(&mut self.events);
        let older = |read: &usize| events[*read].act.slot != slot;
        if let Some(object) = footprint.object {
            self.object(object).add(footprint.writes, number, older);
        }
        match footprint.clock {
            ClockUse::None => {}
            ClockUse::Reads => self.time.add(false, number, older),
            ClockUse::Moves => self.time.add(true, number, older),
        }
        self.events = events;
    }

    /// Returns who waits for what.
    pub(super) fn waiting(&self, kernel: &Kernel) -> Waiting {
        let mut waiting = Waiting::default();
        for thread in kernel.live() {
            let bit = 1 << self.slots.of(thread);
            let waits = kernel.waits_on(thread).is_some();
            if waits && (kernel.is_late(thread) || kernel.is_notified(thread)) {
                waiting.awake |= bit;
            }
            if kernel.clock_is_shared() && kernel.is_impatient(thread) {
                waiting.armed |= bit;
                waiting.timed |= if waits { bit } else { 0 };
            }
        }
        waiting
    }

    /// Orders those whose deadlines have passed after the jump that has just happened.
    pub(super) fn jumped(&mut self, kernel: &Kernel) {
        let jump = self.clocks[usize::from(CLOCK)];
        for thread in kernel.ready_threads() {
            self.clocks[usize::from(self.slots.of(thread))].join(&jump);
        }
        for thread in kernel.live().filter(|&thread| kernel.is_late(thread)) {
            let slot = usize::from(self.slots.of(thread));
            if self.late[slot].is_none() && !self.clocks[slot].covers(CLOCK, jump.count(CLOCK)) {
                let jump_number = self.events.len() - 1;
                self.late[slot] = Some((jump_number, self.clocks[slot]));
                self.events[jump_number].made_late |= 1 << slot;
                self.clocks[slot].join(&jump);
            }
        }
    }
}

impl Record {
    /// Appends the last uses that another use disturbs. A write that was read since happened
    /// before those reads.
    fn last_disturbed(&self, writes: bool, into: &mut Vec<usize>) {
        if writes && !self.reads.is_empty() {
            into.extend(&self.reads);
        } else {
            into.extend(self.write);
        }
    }

    /// Names the kind of uses that [`last_disturbed`](Self::last_disturbed) finds.
    fn kind(&self, writes: bool) -> Weakness {
        match (writes, self.reads.is_empty()) {
            (true, true) => Weakness::WriteBeforeWrite,
            (true, false) => Weakness::ReadBeforeWrite,
            (false, _) => Weakness::WriteBeforeRead,
        }
    }

    fn add(&mut self, writes: bool, number: usize, is_of_another: impl Fn(&usize) -> bool) {
        if writes {
            self.write = Some(number);
            self.reads.clear();
        } else {
            self.reads.retain(is_of_another);
            self.reads.push(number);
        }
    }
}
