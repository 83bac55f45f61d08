//! Tasks asleep in a monitor: what a condition variable is to threads.

use std::task::Waker;

use crate::machine::Channel;

/// Names a task that sleeps.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Place(u64);

struct Sleeper {
    place: Place,
    on: Channel,
    waker: Waker,
}

/// The tasks asleep, the longest first. A task leaves the list when it is woken, so none is woken
/// twice while another sleeps on.
#[derive(Default)]
pub(super) struct Tasks {
    sleepers: Vec<Sleeper>,
    places: u64,
}

impl Tasks {
    pub(super) fn is_empty(&self) -> bool {
        self.sleepers.is_empty()
    }

    /// Puts a task to sleep.
    pub(super) fn enter(&mut self, on: Channel, waker: Waker) -> Place {
        self.places += 1;
        let place = Place(self.places);
        self.sleepers.push(Sleeper { place, on, waker });
        place
    }

    /// Takes a task out; `None` if it was woken.
    pub(super) fn leave(&mut self, place: Place) -> Option<Waker> {
        let at = self.sleepers.iter().position(|sleeper| sleeper.place == place)?;
        Some(self.sleepers.remove(at).waker)
    }

    /// Takes out the longest sleepers of a channel, `count` of them at most.
    pub(super) fn take(&mut self, on: Channel, count: u16, woken: &mut Woken) {
        let mut at = 0;
        let mut left = count;
        while left > 0 && at < self.sleepers.len() {
            if self.sleepers[at].on == on {
                left -= 1;
                woken.0.push(self.sleepers.remove(at).waker);
            } else {
                at += 1;
            }
        }
    }
}

/// Tasks to wake once the lock is released: a waker is foreign code.
#[derive(Default)]
#[must_use = "tasks that are not woken sleep for ever"]
pub(super) struct Woken(Vec<Waker>);

impl Woken {
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// Wakes them. Call it without the lock.
    pub(super) fn wake(self) {
        self.0.into_iter().for_each(Waker::wake);
    }
}
