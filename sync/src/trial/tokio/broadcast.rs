//! `tokio::sync::broadcast`.

use std::collections::VecDeque;
use std::fmt;
use std::sync::Arc;

use super::super::lock::{Label, Locked};
use super::notify::Notify;

/// Errors.
pub mod error {
    pub use ::tokio::sync::broadcast::error::{RecvError, SendError, TryRecvError};
}

use error::{RecvError, SendError, TryRecvError};

#[derive(Debug)]
struct State<T> {
    /// The newest values, and how many receivers have yet to take each; the first of them has this number.
    values: VecDeque<(Arc<T>, usize)>,
    first: u64,
    senders: usize,
    receivers: usize,
}

impl<T> State<T> {
    /// Returns the number of the value that comes next.
    fn next(&self) -> u64 {
        self.first + self.values.len() as u64
    }

    /// Takes out what all have received: always the oldest ones.
    fn received(&mut self) -> Vec<Arc<T>> {
        let mut received = vec![];
        while self.values.front().is_some_and(|(_, left)| *left == 0) {
            self.first += 1;
            received.extend(self.values.pop_front().map(|(value, _)| value));
        }
        received
    }
}

#[derive(Debug)]
struct Shared<T> {
    label: Label,
    capacity: usize,
    state: Locked<State<T>>,
    sent: Notify,
}

/// `tokio::sync::broadcast::Sender`.
pub struct Sender<T>(Arc<Shared<T>>);

/// `tokio::sync::broadcast::Receiver`.
pub struct Receiver<T> {
    shared: Arc<Shared<T>>,
    /// The number of the value that it receives next.
    next: u64,
}

/// Makes a channel that keeps this number of values, rounded up to a power of two.
///
/// # Panics
/// If the number is zero.
#[must_use]
pub fn channel<T: Clone>(capacity: usize) -> (Sender<T>, Receiver<T>) {
    assert!(capacity > 0, "broadcast channel capacity cannot be zero");
    let state = State { values: VecDeque::new(), first: 0, senders: 1, receivers: 1 };
    let shared = Arc::new(Shared {
        label: Label::new(),
        capacity: capacity.next_power_of_two(),
        state: Locked::new(state),
        sent: Notify::new(),
    });
    (Sender(Arc::clone(&shared)), Receiver { shared, next: 0 })
}

impl<T> Sender<T> {
    /// Sends to all receivers there are; returns how many.
    ///
    /// # Errors
    /// There is none: the value comes back.
    pub fn send(&self, value: T) -> Result<usize, SendError<T>> {
        let mut state = self.0.state.lock();
        if state.receivers == 0 {
            return Err(SendError(value));
        }
        let receivers = state.receivers;
        let former = if state.values.len() == self.0.capacity {
            state.first += 1;
            state.values.pop_front()
        } else {
            None
        };
        state.values.push_back((Arc::new(value), receivers));
        drop(state);
        drop(former); // outside of the lock: dropping a value runs foreign code
        self.0.label.note("sends to");
        self.0.sent.notify_waiters();
        Ok(receivers)
    }

    /// Makes a receiver of what is sent from now on.
    #[must_use]
    pub fn subscribe(&self) -> Receiver<T> {
        Shared::subscribe(&self.0)
    }

    /// Returns how many receivers there are.
    #[must_use]
    pub fn receiver_count(&self) -> usize {
        self.0.state.lock().receivers
    }
}

impl<T: Clone> Receiver<T> {
    /// Waits for a value.
    ///
    /// # Errors
    /// All senders are gone, or values were sent too fast: then it goes on with the oldest one that is left.
    pub async fn recv(&mut self) -> Result<T, RecvError> {
        let Self { shared, next } = self;
        loop {
            let sent = shared.sent.notified(); // counts from now on
            match shared.take(next) {
                Ok(value) => return Ok(value),
                Err(TryRecvError::Closed) => return Err(RecvError::Closed),
                Err(TryRecvError::Lagged(missed)) => return Err(RecvError::Lagged(missed)),
                Err(TryRecvError::Empty) => sent.await,
            }
        }
    }

    /// Takes a value if there is one.
    ///
    /// # Errors
    /// There is none, or values were sent too fast.
    pub fn try_recv(&mut self) -> Result<T, TryRecvError> {
        self.shared.take(&mut self.next)
    }

    /// Waits for a value on a thread that may wait.
    ///
    /// # Errors
    /// As [`recv`](Self::recv).
    pub fn blocking_recv(&mut self) -> Result<T, RecvError> {
        super::block_on(self.recv())
    }

    /// Makes a receiver of what is sent from now on.
    #[must_use]
    pub fn resubscribe(&self) -> Self {
        Shared::subscribe(&self.shared)
    }
}

impl<T> Shared<T> {
    fn subscribe(shared: &Arc<Self>) -> Receiver<T> {
        let mut state = shared.state.lock();
        state.receivers += 1;
        let next = state.next();
        drop(state);
        Receiver { shared: Arc::clone(shared), next }
    }
}

impl<T: Clone> Shared<T> {
    fn take(&self, next: &mut u64) -> Result<T, TryRecvError> {
        let mut state = self.state.lock();
        if *next < state.first {
            let missed = state.first - *next;
            *next = state.first;
            return Err(TryRecvError::Lagged(missed));
        }
        let place = usize::try_from(*next - state.first).unwrap_or(usize::MAX);
        let Some((value, left)) = state.values.get_mut(place) else {
            return Err(if state.senders == 0 {
                TryRecvError::Closed
            } else {
                TryRecvError::Empty
            });
        };
        *left -= 1;
        let value = Arc::clone(value);
        *next += 1;
        let received = state.received();
        drop(state);
        self.label.note("receives from");
        let copy = T::clone(&value); // outside of the lock: cloning and dropping a value runs foreign code
        drop((value, received));
        Ok(copy)
    }
}

impl<T> Clone for Sender<T> {
    fn clone(&self) -> Self {
        self.0.state.lock().senders += 1;
        Self(Arc::clone(&self.0))
    }
}

impl<T> Drop for Sender<T> {
    fn drop(&mut self) {
        let mut state = self.0.state.lock();
        state.senders -= 1;
        let is_last = state.senders == 0;
        drop(state);
        if is_last {
            self.0.sent.notify_waiters();
        }
    }
}

impl<T> Drop for Receiver<T> {
    fn drop(&mut self) {
        let mut state = self.shared.state.lock();
        state.receivers -= 1;
        let taken = usize::try_from(self.next.saturating_sub(state.first)).unwrap_or(usize::MAX);
        state.values.iter_mut().skip(taken).for_each(|(_, left)| *left -= 1);
        let received = state.received();
        drop(state);
        drop(received); // outside of the lock: dropping a value runs foreign code
    }
}

impl<T> fmt::Debug for Sender<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sender").finish_non_exhaustive()
    }
}

impl<T> fmt::Debug for Receiver<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Receiver").finish_non_exhaustive()
    }
}
