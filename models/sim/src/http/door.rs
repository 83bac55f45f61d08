//! How many connections are open, and whether the server still listens.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Counts connections. Waiting threads are woken whenever one ends, and when all must stop.
#[derive(Debug, Default)]
pub(super) struct Door {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    open: usize,
    is_stopped: bool,
}

impl Door {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts a connection, unless there are as many as may be.
    pub(super) fn enter(&self, most: usize) -> bool {
        let mut state = self.lock();
        let has_room = state.open < most;
        state.open += usize::from(has_room);
        has_room
    }

    pub(super) fn leave(&self) {
        self.lock().open -= 1;
        self.changed.notify_all();
    }

    pub(super) fn open(&self) -> usize {
        self.lock().open
    }

    pub(super) fn stop(&self) {
        self.lock().is_stopped = true;
        self.changed.notify_all();
    }

    pub(super) fn is_stopped(&self) -> bool {
        self.lock().is_stopped
    }

    /// Waits until at most `most` connections are open; tells whether that came to be.
    pub(super) fn wait_for(&self, most: usize, patience: Duration) -> bool {
        self.wait(patience, |state| state.open > most).open <= most
    }

    /// Waits until a connection ends, which frees what it held.
    pub(super) fn wait_for_leaving(&self, patience: Duration) {
        let before = self.open();
        drop(self.wait(patience, |state| state.open >= before && !state.is_stopped));
    }

    /// Waits for so long, or until all must stop.
    pub(super) fn pause(&self, time: Duration) {
        drop(self.wait(time, |state| !state.is_stopped));
    }

    fn wait(&self, time: Duration, goes_on: impl Fn(&State) -> bool) -> MutexGuard<'_, State> {
        let waited = self.changed.wait_timeout_while(self.lock(), time, |state| goes_on(state));
        waited.unwrap_or_else(PoisonError::into_inner).0
    }
}
