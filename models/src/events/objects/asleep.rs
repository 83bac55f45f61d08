//! Who sleeps in a queue of objects, and where.

use crate::trial::{Component, EventOf, What};

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
    /// A thread that makes a step does not sleep, nor does one that gives up.
    pub(crate) fn wake<C: Component>(&mut self, event: &EventOf<C>) {
        if let What::Step { .. } | What::Cancel { .. } = event.what {
            self.0.retain(|(sleeper, _)| *sleeper != event.thread);
        }
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
