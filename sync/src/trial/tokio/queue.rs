//! `tokio::sync::mpsc`.

use std::collections::VecDeque;
use std::fmt;
use std::future::poll_fn;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use super::super::lock::{Label, Locked};
use super::semaphore::{Semaphore, TryAcquireError};

/// Errors.
pub mod error {
    pub use ::tokio::sync::mpsc::error::{SendError, TryRecvError, TrySendError};
}

use error::{SendError, TryRecvError, TrySendError};

struct State<T> {
    items: VecDeque<T>,
    senders: usize,
    is_closed: bool,
    receiver: Option<Waker>,
}

struct Shared<T> {
    label: Label,
    /// Room for items; `None` for a channel without a bound.
    room: Option<Semaphore>,
    state: Locked<State<T>>,
}

impl<T> Shared<T> {
    fn put(&self, item: T) -> Result<(), T> {
        let mut state = self.state.lock();
        if state.is_closed {
            return Err(item);
        }
        state.items.push_back(item);
        let woken = state.receiver.take();
        drop(state);
        self.label.note("sends to");
        if let Some(waker) = woken {
            waker.wake();
        }
        Ok(())
    }

    fn without_sender(&self) {
        let mut state = self.state.lock();
        state.senders -= 1;
        let woken = if state.senders == 0 { state.receiver.take() } else { None };
        drop(state);
        if let Some(waker) = woken {
            waker.wake();
        }
    }
}

/// `tokio::sync::mpsc::Sender`.
pub struct Sender<T>(Arc<Shared<T>>);

/// `tokio::sync::mpsc::UnboundedSender`.
pub struct UnboundedSender<T>(Arc<Shared<T>>);

/// What both kinds of receivers are.
struct Receiving<T>(Arc<Shared<T>>);

/// `tokio::sync::mpsc::Receiver`.
pub struct Receiver<T>(Receiving<T>);

/// `tokio::sync::mpsc::UnboundedReceiver`.
pub struct UnboundedReceiver<T>(Receiving<T>);

fn shared<T>(room: Option<Semaphore>) -> Arc<Shared<T>> {
    let items = VecDeque::new();
    let state = Locked::new(State { items, senders: 1, is_closed: false, receiver: None });
    Arc::new(Shared { label: Label::new(), room, state })
}

/// Makes a channel with a bound.
///
/// # Panics
/// If the bound is zero.
#[must_use]
pub fn channel<T>(bound: usize) -> (Sender<T>, Receiver<T>) {
    assert!(bound > 0, "mpsc bounded channel requires buffer > 0");
    let shared = shared(Some(Semaphore::new(bound)));
    (Sender(Arc::clone(&shared)), Receiver(Receiving(shared)))
}

/// Makes a channel without a bound.
#[must_use]
pub fn unbounded_channel<T>() -> (UnboundedSender<T>, UnboundedReceiver<T>) {
    let shared = shared(None);
    (UnboundedSender(Arc::clone(&shared)), UnboundedReceiver(Receiving(shared)))
}

impl<T> Sender<T> {
    fn room(&self) -> &Semaphore {
        self.0.room.as_ref().expect("a channel with a bound has one")
    }

    /// Sends, waiting for room.
    ///
    /// # Errors
    /// The receiver is gone: the item comes back.
    pub async fn send(&self, item: T) -> Result<(), SendError<T>> {
        if self.room().take(1).await.is_err() {
            return Err(SendError(item));
        }
        self.0.put(item).map_err(SendError)
    }

    /// Sends if there is room.
    ///
    /// # Errors
    /// There is none, or the receiver is gone: the item comes back.
    pub fn try_send(&self, item: T) -> Result<(), TrySendError<T>> {
        match self.room().try_take(1) {
            Err(TryAcquireError::NoPermits) => Err(TrySendError::Full(item)),
            Err(TryAcquireError::Closed) => Err(TrySendError::Closed(item)),
            Ok(()) => self.0.put(item).map_err(TrySendError::Closed),
        }
    }

    /// Sends on a thread that may wait.
    ///
    /// # Errors
    /// The receiver is gone: the item comes back.
    pub fn blocking_send(&self, item: T) -> Result<(), SendError<T>> {
        super::block_on(self.send(item))
    }

    /// Returns for how many items there is room.
    #[must_use]
    pub fn capacity(&self) -> usize {
        self.room().available_permits()
    }

    /// Tells whether the receiver is gone, or closed.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.0.state.lock().is_closed
    }
}

impl<T> UnboundedSender<T> {
    /// Sends.
    ///
    /// # Errors
    /// The receiver is gone: the item comes back.
    pub fn send(&self, item: T) -> Result<(), SendError<T>> {
        self.0.put(item).map_err(SendError)
    }

    /// Tells whether the receiver is gone, or closed.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.0.state.lock().is_closed
    }
}

impl<T> Receiving<T> {
    fn try_recv(&self) -> Result<T, TryRecvError> {
        let mut state = self.0.state.lock();
        let item = state.items.pop_front();
        let has_ended = state.senders == 0 || state.is_closed;
        drop(state);
        let Some(item) = item else {
            return Err(if has_ended { TryRecvError::Disconnected } else { TryRecvError::Empty });
        };
        self.0.label.note("receives from");
        if let Some(room) = &self.0.room {
            room.add_permits(1);
        }
        Ok(item)
    }

    fn poll_recv(&self, context: &Context<'_>) -> Poll<Option<T>> {
        let mut state = self.0.state.lock();
        if state.items.is_empty() && state.senders > 0 && !state.is_closed {
            let former = state.receiver.replace(context.waker().clone());
            drop(state);
            drop(former); // outside of the lock: dropping a waker runs foreign code
            return Poll::Pending;
        }
        drop(state);
        Poll::Ready(self.try_recv().ok()) // nobody else takes one
    }

    fn close(&self) {
        self.0.state.lock().is_closed = true;
        if let Some(room) = &self.0.room {
            room.close();
        }
    }
}

/// What both kinds of receivers have.
macro_rules! receiver {
    ($($receiver:ident),*) => {$(
        impl<T> $receiver<T> {
            /// Waits for an item; `None` once there are no more.
            pub async fn recv(&mut self) -> Option<T> {
                poll_fn(|context| self.0.poll_recv(context)).await
            }

            /// The same, for a future of yours.
            pub fn poll_recv(&mut self, context: &mut Context<'_>) -> Poll<Option<T>> {
                self.0.poll_recv(context)
            }

            /// Takes an item if there is one.
            ///
            /// # Errors
            /// There is none.
            pub fn try_recv(&mut self) -> Result<T, TryRecvError> {
                self.0.try_recv()
            }

            /// Waits for an item on a thread that may wait.
            pub fn blocking_recv(&mut self) -> Option<T> {
                super::block_on(self.recv())
            }

            /// Refuses what is sent from now on; what is there can be received.
            pub fn close(&mut self) {
                self.0.close();
            }

            /// Returns how many items are there.
            #[must_use]
            pub fn len(&self) -> usize {
                self.0.0.state.lock().items.len()
            }

            /// Tells whether no items are there.
            #[must_use]
            pub fn is_empty(&self) -> bool {
                self.len() == 0
            }
        }

        impl<T> fmt::Debug for $receiver<T> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_struct(stringify!($receiver)).finish_non_exhaustive()
            }
        }
    )*};
}

receiver!(Receiver, UnboundedReceiver);

impl<T> Drop for Receiving<T> {
    fn drop(&mut self) {
        self.close();
        let items = std::mem::take(&mut self.0.state.lock().items);
        drop(items);
    }
}

/// What both kinds of senders have.
macro_rules! sender {
    ($($sender:ident),*) => {$(
        impl<T> Clone for $sender<T> {
            fn clone(&self) -> Self {
                self.0.state.lock().senders += 1;
                Self(Arc::clone(&self.0))
            }
        }

        impl<T> Drop for $sender<T> {
            fn drop(&mut self) {
                self.0.without_sender();
            }
        }

        impl<T> fmt::Debug for $sender<T> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_struct(stringify!($sender)).finish_non_exhaustive()
            }
        }
    )*};
}

sender!(Sender, UnboundedSender);
