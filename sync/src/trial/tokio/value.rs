//! `tokio::sync::watch`.

use std::fmt;
use std::ops::Deref;
use std::sync::{Arc, PoisonError};

use super::super::lock::{Label, Locked};
use super::super::rw_lock::{RwLock, RwLockReadGuard};
use super::notify::Notify;

/// Errors.
pub mod error {
    use std::fmt;

    pub use ::tokio::sync::watch::error::SendError;

    /// The sender is gone.
    #[derive(Clone, Debug)]
    pub struct RecvError(pub(super) ());

    impl fmt::Display for RecvError {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("channel closed")
        }
    }

    impl std::error::Error for RecvError {}
}

use error::{RecvError, SendError};

#[derive(Debug)]
struct State {
    version: u64,
    has_sender: bool,
    receivers: usize,
}

struct Shared<T> {
    label: Label,
    value: RwLock<T>,
    state: Locked<State>,
    changed: Notify,
    left: Notify,
}

/// `tokio::sync::watch::Sender`.
pub struct Sender<T>(Arc<Shared<T>>);

/// `tokio::sync::watch::Receiver`.
pub struct Receiver<T> {
    shared: Arc<Shared<T>>,
    /// What it has seen.
    version: u64,
}

/// `tokio::sync::watch::Ref`.
#[derive(Debug)]
pub struct Ref<'a, T> {
    value: RwLockReadGuard<'a, T>,
    has_changed: bool,
}

impl<T> Ref<'_, T> {
    /// Tells whether the receiver had not seen it.
    #[must_use]
    pub fn has_changed(&self) -> bool {
        self.has_changed
    }
}

impl<T> Deref for Ref<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.value
    }
}

/// Makes a channel with its first value.
#[must_use]
pub fn channel<T>(value: T) -> (Sender<T>, Receiver<T>) {
    let shared = Arc::new(Shared {
        label: Label::new(),
        value: RwLock::new(value),
        state: Locked::new(State { version: 0, has_sender: true, receivers: 1 }),
        changed: Notify::new(),
        left: Notify::new(),
    });
    (Sender(Arc::clone(&shared)), Receiver { shared, version: 0 })
}

impl<T> Shared<T> {
    fn read(&self) -> RwLockReadGuard<'_, T> {
        self.value.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for a value of another version, which is noted.
    async fn changed_since(&self, seen: &mut u64) -> Result<(), RecvError> {
        loop {
            let changed = self.changed.notified(); // counts from now on
            let state = self.state.lock();
            let (version, has_sender) = (state.version, state.has_sender);
            drop(state);
            if version != *seen {
                *seen = version;
                return Ok(());
            }
            if !has_sender {
                return Err(RecvError(()));
            }
            changed.await;
        }
    }
}

impl<T> Sender<T> {
    /// Sends, if there is a receiver.
    ///
    /// # Errors
    /// There is none: the value comes back.
    pub fn send(&self, value: T) -> Result<(), SendError<T>> {
        if self.receiver_count() == 0 {
            return Err(SendError(value));
        }
        drop(self.send_replace(value));
        Ok(())
    }

    /// Sends, and returns the value before.
    pub fn send_replace(&self, mut value: T) -> T {
        self.send_modify(|old| std::mem::swap(old, &mut value));
        value
    }

    /// Changes the value.
    pub fn send_modify(&self, change: impl FnOnce(&mut T)) {
        self.send_if_modified(|value| {
            change(value);
            true
        });
    }

    /// Changes the value; receivers are told if `change` says so.
    pub fn send_if_modified(&self, change: impl FnOnce(&mut T) -> bool) -> bool {
        let mut value = self.0.value.write().unwrap_or_else(PoisonError::into_inner);
        let is_changed = change(&mut value);
        if is_changed {
            self.0.state.lock().version += 1;
        }
        drop(value);
        if is_changed {
            self.0.label.note("sends to");
            self.0.changed.notify_waiters();
        }
        is_changed
    }

    /// Returns the value.
    pub fn borrow(&self) -> Ref<'_, T> {
        Ref { value: self.0.read(), has_changed: false }
    }

    /// Makes another receiver, which has seen the value.
    #[must_use]
    pub fn subscribe(&self) -> Receiver<T> {
        let mut state = self.0.state.lock();
        state.receivers += 1;
        let version = state.version;
        drop(state);
        Receiver { shared: Arc::clone(&self.0), version }
    }

    /// Returns how many receivers there are.
    #[must_use]
    pub fn receiver_count(&self) -> usize {
        self.0.state.lock().receivers
    }

    /// Tells whether there is no receiver.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.receiver_count() == 0
    }

    /// Waits until there is no receiver.
    pub async fn closed(&self) {
        loop {
            let left = self.0.left.notified();
            if self.is_closed() {
                return;
            }
            left.await;
        }
    }
}

impl<T> Receiver<T> {
    /// Waits for a value that it has not seen.
    ///
    /// # Errors
    /// The sender is gone.
    pub async fn changed(&mut self) -> Result<(), RecvError> {
        self.shared.changed_since(&mut self.version).await
    }

    /// Waits for a value that is so.
    ///
    /// # Errors
    /// The sender is gone.
    pub async fn wait_for(
        &mut self,
        mut is_so: impl FnMut(&T) -> bool,
    ) -> Result<Ref<'_, T>, RecvError> {
        let Self { shared, version } = self;
        loop {
            let value = shared.read();
            let newest = shared.state.lock().version;
            let before = std::mem::replace(version, newest);
            if is_so(&value) {
                return Ok(Ref { value, has_changed: before != newest });
            }
            drop(value);
            shared.changed_since(version).await?;
        }
    }

    /// Tells whether there is a value that it has not seen.
    ///
    /// # Errors
    /// The sender is gone.
    pub fn has_changed(&self) -> Result<bool, RecvError> {
        let state = self.shared.state.lock();
        if state.has_sender { Ok(state.version != self.version) } else { Err(RecvError(())) }
    }

    /// Returns the value.
    pub fn borrow(&self) -> Ref<'_, T> {
        let value = self.shared.read();
        let has_changed = self.shared.state.lock().version != self.version;
        Ref { value, has_changed }
    }

    /// Returns the value, which it has seen then.
    pub fn borrow_and_update(&mut self) -> Ref<'_, T> {
        let value = self.shared.read();
        let version = self.shared.state.lock().version;
        let before = std::mem::replace(&mut self.version, version);
        Ref { value, has_changed: before != version }
    }
}

impl<T> Clone for Receiver<T> {
    fn clone(&self) -> Self {
        self.shared.state.lock().receivers += 1;
        Self { shared: Arc::clone(&self.shared), version: self.version }
    }
}

impl<T> Drop for Receiver<T> {
    fn drop(&mut self) {
        let mut state = self.shared.state.lock();
        state.receivers -= 1;
        let is_last = state.receivers == 0;
        drop(state);
        if is_last {
            self.shared.left.notify_waiters();
        }
    }
}

impl<T> Drop for Sender<T> {
    fn drop(&mut self) {
        self.0.state.lock().has_sender = false;
        self.0.changed.notify_waiters();
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
