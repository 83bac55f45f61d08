//! `tokio::sync::oneshot`.

use std::fmt;
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use super::super::lock::{Label, Locked};

/// Errors.
pub mod error {
    use std::fmt;

    pub use ::tokio::sync::oneshot::error::TryRecvError;

    /// The sender is gone.
    #[derive(Clone, PartialEq, Eq, Debug)]
    pub struct RecvError(pub(super) ());

    impl fmt::Display for RecvError {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("channel closed")
        }
    }

    impl std::error::Error for RecvError {}
}

struct State<T> {
    value: Option<T>,
    has_sender: bool,
    has_receiver: bool,
    receiver: Option<Waker>,
    sender: Option<Waker>,
}

struct Shared<T> {
    label: Label,
    state: Locked<State<T>>,
}

/// `tokio::sync::oneshot::Sender`.
pub struct Sender<T>(Arc<Shared<T>>);

/// `tokio::sync::oneshot::Receiver`.
pub struct Receiver<T>(Arc<Shared<T>>);

/// Makes a channel for one value.
#[must_use]
pub fn channel<T>() -> (Sender<T>, Receiver<T>) {
    let (value, receiver, sender) = (None, None, None);
    let state = State { value, has_sender: true, has_receiver: true, receiver, sender };
    let shared = Arc::new(Shared { label: Label::new(), state: Locked::new(state) });
    (Sender(Arc::clone(&shared)), Receiver(shared))
}

impl<T> Sender<T> {
    /// Sends.
    ///
    /// # Errors
    /// The receiver is gone: the value comes back.
    pub fn send(self, value: T) -> Result<(), T> {
        let mut state = self.0.state.lock();
        if !state.has_receiver {
            return Err(value);
        }
        state.value = Some(value);
        drop(state);
        self.0.label.note("sends to");
        Ok(()) // dropping the sender wakes the receiver
    }

    /// Tells whether the receiver is gone.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        !self.0.state.lock().has_receiver
    }

    /// Waits until the receiver is gone.
    pub async fn closed(&mut self) {
        poll_fn(|context| {
            let mut state = self.0.state.lock();
            if !state.has_receiver {
                return Poll::Ready(());
            }
            let former = state.sender.replace(context.waker().clone());
            drop(state);
            drop(former);
            Poll::Pending
        })
        .await;
    }
}

impl<T> Receiver<T> {
    /// Takes the value if it is there.
    ///
    /// # Errors
    /// It is not.
    pub fn try_recv(&mut self) -> Result<T, error::TryRecvError> {
        let mut state = self.0.state.lock();
        let without = if state.has_sender && state.has_receiver {
            error::TryRecvError::Empty
        } else {
            error::TryRecvError::Closed
        };
        state.value.take().ok_or(without)
    }

    /// Waits for the value on a thread that may wait.
    ///
    /// # Errors
    /// The sender is gone.
    pub fn blocking_recv(self) -> Result<T, error::RecvError> {
        super::block_on(self)
    }

    /// Refuses what is sent from now on.
    pub fn close(&mut self) {
        let mut state = self.0.state.lock();
        state.has_receiver = false;
        let woken = state.sender.take();
        drop(state);
        if let Some(waker) = woken {
            waker.wake();
        }
    }
}

impl<T> Future for Receiver<T> {
    type Output = Result<T, error::RecvError>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let mut state = self.0.state.lock();
        if let Some(value) = state.value.take() {
            drop(state);
            self.0.label.note("receives from");
            return Poll::Ready(Ok(value));
        }
        if !state.has_sender || !state.has_receiver {
            return Poll::Ready(Err(error::RecvError(())));
        }
        let former = state.receiver.replace(context.waker().clone());
        drop(state);
        drop(former); // outside of the lock: dropping a waker runs foreign code
        Poll::Pending
    }
}

impl<T> Drop for Sender<T> {
    fn drop(&mut self) {
        let mut state = self.0.state.lock();
        state.has_sender = false;
        let (woken, former) = (state.receiver.take(), state.sender.take());
        drop(state);
        drop(former);
        if let Some(waker) = woken {
            waker.wake();
        }
    }
}

impl<T> Drop for Receiver<T> {
    fn drop(&mut self) {
        self.close();
        let value = self.0.state.lock().value.take();
        drop(value);
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
