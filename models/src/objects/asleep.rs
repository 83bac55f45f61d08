//! Who sleeps in a queue of objects, and where.

/// Where a thread sleeps.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Bed {
    /// In `pop`.
    Pop,
    /// In `wait_for_sync`.
    Sync,
}

/// Who sleeps.
#[derive(Clone, Debug, Default)]
pub(crate) struct Asleep(Vec<(u8, Bed)>);

impl Asleep {
    /// A thread makes a step: it does not sleep.
    pub(crate) fn wake(&mut self, thread: u8) {
        self.0.retain(|(sleeper, _)| *sleeper != thread);
    }

    /// A thread goes to sleep.
    pub(crate) fn lie_down(&mut self, thread: u8, bed: Bed) {
        self.0.push((thread, bed));
    }

    /// Returns how many threads sleep in such a bed.
    pub(crate) fn count(&self, bed: Bed) -> usize {
        self.0.iter().filter(|(_, taken)| *taken == bed).count()
    }
}
