//! Footprints of steps, from which it follows which steps disturb each other.

use super::{Kernel, ObjectName, Operation};

/// The object that a step touches and its use of the clock. Two steps of different threads disturb
/// each other, so that their order matters, iff they touch one object and not both only read it, or
/// one moves the clock and the other reads it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Footprint {
    /// A lock, a published value or an atomic number.
    pub(crate) object: Option<ObjectName>,
    /// Whether the object is written: taking a lock is that, taking a share of one is not.
    pub(crate) writes: bool,
    pub(crate) clock: ClockUse,
}

/// The use that a step makes of the clock, where the clock can jump at any time.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum ClockUse {
    /// Nothing.
    None,
    /// It reads the time, arms a deadline or disarms one.
    Reads,
    /// It is the jump.
    Moves,
}

impl Footprint {
    /// A jump of the clock.
    pub(crate) const JUMP: Self = Self { object: None, writes: false, clock: ClockUse::Moves };

    /// Tells whether the order of two such steps matters.
    pub(crate) fn disturbs(self, other: Self) -> bool {
        let share = self.object.is_some() && self.object == other.object;
        let one_moves = match (self.clock, other.clock) {
            (ClockUse::None, _) | (_, ClockUse::None) => false,
            (ClockUse::Reads, ClockUse::Reads) => false,
            (ClockUse::Moves, _) | (_, ClockUse::Moves) => true,
        };
        share && (self.writes || other.writes) || one_moves
    }
}

impl Kernel {
    /// Returns what the pending operation of a thread touches.
    pub(crate) fn footprint(&self, thread: usize) -> Footprint {
        let nothing = Footprint { object: None, writes: false, clock: ClockUse::None };
        let Some(operation) = self.threads[thread].pending else { return nothing };
        match operation {
            Operation::Share(lock) => Footprint { object: Some(self.locks[lock].name), ..nothing },
            Operation::Lock(mutex) => {
                Footprint { object: Some(self.locks[mutex].name), writes: true, ..nothing }
            }
            Operation::Retake { mutex, .. } => Footprint {
                object: Some(self.locks[mutex].name),
                writes: true,
                // It disarms its deadline, unless that has passed or was disarmed.
                clock: if self.is_armed(thread) { self.clock_use() } else { ClockUse::None },
            },
            Operation::Load(cell) => Footprint { object: Some(self.cells[cell].name), ..nothing },
            Operation::Publish(cell) => {
                Footprint { object: Some(self.cells[cell].name), writes: true, ..nothing }
            }
            Operation::ReadClock => Footprint { clock: self.clock_use(), ..nothing },
            Operation::Join(_) | Operation::Sleep { .. } => nothing,
        }
    }

    fn clock_use(&self) -> ClockUse {
        if self.clock_is_shared() { ClockUse::Reads } else { ClockUse::None }
    }
}
