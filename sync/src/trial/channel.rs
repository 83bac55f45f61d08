//! The channel of threads that `std`'s and crossbeam's stand on.

use std::collections::VecDeque;
use std::sync::Arc;

use super::lock::{Held, Label, Locked, Sleepers};
use super::moment::Moment;

#[derive(Debug)]
struct State<T> {
    items: VecDeque<T>,
    /// How many items were taken out; the first of `items` has this number.
    taken: u64,
    senders: usize,
    receivers: usize,
    /// Receivers that wait.
    waiting: usize,
}

/// What both ends share.
#[derive(Debug)]
struct Shared<T> {
    label: Label,
    capacity: Option<usize>,
    state: Locked<State<T>>,
    filled: Sleepers,
    emptied: Sleepers,
}

/// An end of a channel that sends.
#[derive(Debug)]
pub(crate) struct Sending<T>(Arc<Shared<T>>);

/// An end of a channel that receives.
#[derive(Debug)]
pub(crate) struct Receiving<T>(Arc<Shared<T>>);

/// Why nothing was sent or received.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Failed {
    /// The channel is full, or empty.
    Now,
    /// The other side is gone.
    Forever,
}

/// How long a call waits.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Patience {
    None,
    Until(Option<Moment>),
}

pub(crate) fn channel<T>(capacity: Option<usize>) -> (Sending<T>, Receiving<T>) {
    let state = State { items: VecDeque::new(), taken: 0, senders: 1, receivers: 1, waiting: 0 };
    let shared = Arc::new(Shared {
        label: Label::new(),
        capacity,
        state: Locked::new(state),
        filled: Sleepers::new(),
        emptied: Sleepers::new(),
    });
    (Sending(Arc::clone(&shared)), Receiving(shared))
}

impl<T> Shared<T> {
    fn len(&self) -> usize {
        if self.capacity == Some(0) { 0 } else { self.state.lock().items.len() }
    }

    /// Tells whether an item may be put in. Without room for any, one that tries needs a receiver that waits.
    fn has_room(&self, state: &State<T>, patience: Patience) -> bool {
        match (self.capacity, patience) {
            (None, _) => true,
            (Some(0), Patience::None) => state.waiting > state.items.len(),
            (Some(capacity), _) => state.items.len() < capacity.max(1),
        }
    }
}

impl<T> Sending<T> {
    /// Sends; the item comes back if that fails.
    pub(crate) fn send(&self, item: T, patience: Patience) -> Result<(), (T, Failed)> {
        let shared = &*self.0;
        let mut state = shared.state.lock();
        while state.receivers > 0 && !shared.has_room(&state, patience) {
            let Patience::Until(until) = patience else { return Err((item, Failed::Now)) };
            let is_late;
            (state, is_late) = shared.emptied.wait_until(state, until);
            if is_late && !shared.has_room(&state, patience) && state.receivers > 0 {
                return Err((item, Failed::Now));
            }
        }
        if state.receivers == 0 {
            return Err((item, Failed::Forever));
        }
        let number = state.taken + state.items.len() as u64;
        state.items.push_back(item);
        shared.filled.notify_one(&state);
        if let (Some(0), Patience::Until(until)) = (shared.capacity, patience) {
            hand_over(shared, state, number, until)?;
        } else {
            drop(state);
        }
        shared.label.note("sends to");
        Ok(())
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    pub(crate) fn capacity(&self) -> Option<usize> {
        self.0.capacity
    }

    pub(crate) fn is_of(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

/// Waits until the item with this number was taken.
fn hand_over<T>(
    shared: &Shared<T>,
    mut state: Held<'_, State<T>>,
    number: u64,
    until: Option<Moment>,
) -> Result<(), (T, Failed)> {
    let mut is_late = false;
    while state.taken <= number {
        if state.receivers == 0 || is_late {
            let failed = if is_late { Failed::Now } else { Failed::Forever };
            // It came when there was none, and those behind it wait for nothing.
            let item = state.items.pop_front().expect("it was not taken");
            state.taken += 1;
            shared.emptied.notify_all(&state);
            return Err((item, failed));
        }
        (state, is_late) = shared.emptied.wait_until(state, until);
    }
    Ok(())
}

impl<T> Receiving<T> {
    pub(crate) fn receive(&self, patience: Patience) -> Result<T, Failed> {
        let shared = &*self.0;
        let mut state = shared.state.lock();
        let mut is_late = false;
        loop {
            if let Some(item) = state.items.pop_front() {
                state.taken += 1;
                shared.emptied.notify_all(&state);
                drop(state);
                shared.label.note("receives from");
                return Ok(item);
            }
            if state.senders == 0 {
                return Err(Failed::Forever);
            }
            let Patience::Until(until) = patience else { return Err(Failed::Now) };
            if is_late {
                return Err(Failed::Now);
            }
            state.waiting += 1;
            shared.emptied.notify_all(&state); // who tries to send may do so now
            (state, is_late) = shared.filled.wait_until(state, until);
            state.waiting -= 1;
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    pub(crate) fn capacity(&self) -> Option<usize> {
        self.0.capacity
    }

    pub(crate) fn is_of(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl<T> Clone for Sending<T> {
    fn clone(&self) -> Self {
        self.0.state.lock().senders += 1;
        Self(Arc::clone(&self.0))
    }
}

impl<T> Clone for Receiving<T> {
    fn clone(&self) -> Self {
        self.0.state.lock().receivers += 1;
        Self(Arc::clone(&self.0))
    }
}

impl<T> Drop for Sending<T> {
    fn drop(&mut self) {
        let mut state = self.0.state.lock();
        state.senders -= 1;
        if state.senders == 0 {
            self.0.filled.notify_all(&state);
        }
    }
}

impl<T> Drop for Receiving<T> {
    fn drop(&mut self) {
        let mut state = self.0.state.lock();
        state.receivers -= 1;
        if state.receivers > 0 {
            return;
        }
        // Nobody will take them; senders that wait for that take theirs back.
        let left =
            if self.0.capacity == Some(0) { None } else { Some(std::mem::take(&mut state.items)) };
        self.0.emptied.notify_all(&state);
        drop(state);
        drop(left); // outside of the lock: dropping an item runs foreign code
    }
}
