//! tokio's cell for one value, and its barrier.

use std::convert::Infallible;
use std::sync::OnceLock as Real;

use super::super::lock::{Label, Locked};
use super::notify::Notify;
use super::semaphore::Semaphore;

/// `tokio::sync::OnceCell`.
#[derive(Debug)]
pub struct OnceCell<T> {
    turn: Semaphore,
    is_set: Locked<bool>,
    value: Real<T>,
}

impl<T> OnceCell<T> {
    /// Makes an empty one.
    #[must_use]
    pub fn new() -> Self {
        Self { turn: Semaphore::new(1), is_set: Locked::new(false), value: Real::new() }
    }

    /// Tells whether there is a value.
    pub fn initialized(&self) -> bool {
        *self.is_set.lock()
    }

    /// Returns the value, if there is one.
    pub fn get(&self) -> Option<&T> {
        if self.initialized() { self.value.get() } else { None }
    }

    /// Sets the value.
    ///
    /// # Errors
    /// There is one already, or one is being made: yours comes back.
    pub fn set(&self, value: T) -> Result<(), T> {
        let Ok(_turn) = self.turn.try_acquire() else { return Err(value) };
        let mut is_set = self.is_set.lock();
        self.value.set(value)?;
        *is_set = true;
        Ok(())
    }

    /// Returns the value, which `make` makes if there is none; one that is given up leaves it to the next.
    pub async fn get_or_init<F, Fut>(&self, make: F) -> &T
    where
        F: FnOnce() -> Fut,
        Fut: Future<Output = T>,
    {
        let made = self.get_or_try_init(|| async { Ok::<T, Infallible>(make().await) }).await;
        made.unwrap_or_else(|never| match never {})
    }

    /// The same, for one that may fail.
    ///
    /// # Errors
    /// `make` returned it.
    pub async fn get_or_try_init<E, F, Fut>(&self, make: F) -> Result<&T, E>
    where
        F: FnOnce() -> Fut,
        Fut: Future<Output = Result<T, E>>,
    {
        if let Some(value) = self.get() {
            return Ok(value);
        }
        let _turn = self.turn.acquire().await.expect("it is never closed");
        if let Some(value) = self.get() {
            return Ok(value);
        }
        let value = make().await?;
        let value = self.value.get_or_init(|| value);
        *self.is_set.lock() = true;
        Ok(value)
    }
}

impl<T> Default for OnceCell<T> {
    fn default() -> Self {
        Self::new()
    }
}

/// `tokio::sync::Barrier`.
#[derive(Debug)]
pub struct Barrier {
    label: Label,
    size: usize,
    /// How often it opened, and how many wait for the next time.
    state: Locked<(u64, usize)>,
    opened: Notify,
}

/// `tokio::sync::BarrierWaitResult`.
#[derive(Clone, Debug)]
pub struct BarrierWaitResult(bool);

impl BarrierWaitResult {
    /// Tells whether this task is the one of its group that leads.
    #[must_use]
    pub fn is_leader(&self) -> bool {
        self.0
    }
}

impl Barrier {
    /// Makes one that opens for groups of this size.
    #[must_use]
    pub fn new(size: usize) -> Self {
        let (state, opened) = (Locked::new((0, 0)), Notify::new());
        Self { label: Label::new(), size: size.max(1), state, opened }
    }

    /// Waits until a group is complete.
    pub async fn wait(&self) -> BarrierWaitResult {
        self.label.note("comes to");
        let Some(mine) = self.arrive() else {
            self.opened.notify_waiters();
            return BarrierWaitResult(true);
        };
        loop {
            let opened = self.opened.notified(); // counts from now on
            if self.state.lock().0 != mine {
                return BarrierWaitResult(false);
            }
            opened.await; // or the group before was told only now
        }
    }

    /// Counts one more; returns the number of its group, `None` for the last one of it.
    fn arrive(&self) -> Option<u64> {
        let mut state = self.state.lock();
        state.1 += 1;
        if state.1 < self.size {
            return Some(state.0);
        }
        *state = (state.0 + 1, 0);
        None
    }
}
