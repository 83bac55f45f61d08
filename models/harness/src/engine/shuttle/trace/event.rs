//! Acts of threads, in the terms in which the search distinguishes them.

use super::super::kernel::{ClockUse, Footprint};
use super::vector::{Slot, VectorClock};
use super::weak::{Weakness, forgets};

/// The next act of a thread.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) struct Act {
    pub(super) slot: Slot,
    pub(super) label: Label,
}

/// The kind of the next event of a thread. The position of a thread determines its next step; the
/// answer to a choice of data is free.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum Label {
    Step(Footprint),
    Answer(u32),
}

impl Act {
    /// Returns what the act touches.
    pub(super) fn footprint(self) -> Footprint {
        match self.label {
            Label::Step(footprint) => footprint,
            Label::Answer(_) => Footprint { object: None, writes: false, clock: ClockUse::None },
        }
    }

    /// Returns the same step, but reading the clock as well.
    pub(super) fn using_clock(self) -> Self {
        match self.label {
            Label::Step(footprint) => {
                let footprint = Footprint { clock: ClockUse::Reads, ..footprint };
                Self { label: Label::Step(footprint), ..self }
            }
            Label::Answer(_) => self,
        }
    }

    /// Tells whether the order of two acts matters.
    pub(super) fn disturbs(&self, other: &Self) -> bool {
        self.slot == other.slot
            || match (self.label, other.label) {
                (Label::Step(mine), Label::Step(theirs)) => {
                    mine.disturbs(theirs) && !forgets(kind(mine, theirs))
                }
                _ => false, // an answer concerns its own thread alone
            }
    }
}

/// Names the way in which two steps disturb each other.
fn kind(mine: Footprint, theirs: Footprint) -> Weakness {
    let share = mine.object.is_some() && mine.object == theirs.object;
    match (mine.writes, theirs.writes) {
        (true, true) if share => Weakness::DisturbedWrite,
        (true, false) | (false, true) if share => Weakness::DisturbedRead,
        _ => Weakness::DisturbedClock,
    }
}

/// An act in a sequence of acts that shall be executed.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) struct Step {
    pub(super) act: Act,
    /// Its number among the events of its thread.
    pub(super) index: u16,
    /// The events that happened before it, itself included.
    pub(super) clock: VectorClock,
}

impl Step {
    /// Tells whether another step of the sequence happened before this one.
    fn follows(&self, other: &Self) -> bool {
        self.clock.covers(other.act.slot, other.index)
    }
}

/// How an act can come first in a sequence without changing what the sequence means.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Initial {
    /// It is in the sequence, at this place, and nothing before that place happened before it.
    At(usize),
    /// Its thread is not in the sequence, and nothing in there disturbs it.
    Absent,
}

/// Tells how an act can come first in a sequence; `None` if it cannot. It is then a weak initial:
/// some execution that begins with the sequence is equivalent to one that begins with the act.
pub(super) fn weak_initial(act: &Act, sequence: &[Step]) -> Option<Initial> {
    let Some(place) = sequence.iter().position(|step| step.act.slot == act.slot) else {
        let undisturbed = sequence.iter().all(|step| !step.act.disturbs(act));
        return undisturbed.then_some(Initial::Absent);
    };
    let (before, found) = (&sequence[..place], &sequence[place]);
    let first = found.act == *act && before.iter().all(|step| !found.follows(step));
    first.then_some(Initial::At(place))
}
