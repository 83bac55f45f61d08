//! Vector clocks: the order in which events happened before each other.

/// Threads that one exploration can tell apart, the clock being one of them.
pub(super) const SLOTS: usize = 16;

/// The number of a thread, the same in all executions; [`CLOCK`] is the number of the clock.
pub(super) type Slot = u8;

/// The slot of the clock.
pub(super) const CLOCK: Slot = 0;

/// How many events of each thread happened before a point.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default, Debug)]
pub(super) struct VectorClock([u16; SLOTS]);

impl VectorClock {
    /// Adds all that happened before another point.
    pub(super) fn join(&mut self, other: &Self) {
        for (mine, theirs) in self.0.iter_mut().zip(&other.0) {
            *mine = (*mine).max(*theirs);
        }
    }

    /// Tells whether a thread's event of that number, counted from one, happened before.
    pub(super) fn covers(&self, slot: Slot, index: u16) -> bool {
        self.0[usize::from(slot)] >= index
    }

    /// Returns how many events of a thread happened before.
    pub(super) fn count(&self, slot: Slot) -> u16 {
        self.0[usize::from(slot)]
    }

    /// Counts another event of a thread and returns its number; `None` if there are too many.
    pub(super) fn advance(&mut self, slot: Slot) -> Option<u16> {
        let count = &mut self.0[usize::from(slot)];
        *count = count.checked_add(1)?;
        Some(*count)
    }
}
