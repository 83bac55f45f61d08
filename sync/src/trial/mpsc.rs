//! `std`'s channels.

use std::fmt;
use std::time::Duration;

pub use std::sync::mpsc::{RecvError, RecvTimeoutError, SendError, TryRecvError, TrySendError};

use super::channel::{self, Failed, Patience, Receiving, Sending};
use super::moment::Moment;

/// [`std::sync::mpsc::Sender`].
pub struct Sender<T>(Sending<T>);

/// [`std::sync::mpsc::SyncSender`].
pub struct SyncSender<T>(Sending<T>);

/// [`std::sync::mpsc::Receiver`].
pub struct Receiver<T>(Receiving<T>);

/// [`std::sync::mpsc::channel`].
#[must_use]
pub fn channel<T>() -> (Sender<T>, Receiver<T>) {
    let (sending, receiving) = channel::channel(None);
    (Sender(sending), Receiver(receiving))
}

/// [`std::sync::mpsc::sync_channel`].
#[must_use]
pub fn sync_channel<T>(bound: usize) -> (SyncSender<T>, Receiver<T>) {
    let (sending, receiving) = channel::channel(Some(bound));
    (SyncSender(sending), Receiver(receiving))
}

impl<T> Sender<T> {
    /// Sends.
    ///
    /// # Errors
    /// The receiver is gone.
    pub fn send(&self, item: T) -> Result<(), SendError<T>> {
        self.0.send(item, Patience::Until(None)).map_err(|(item, _)| SendError(item))
    }
}

impl<T> SyncSender<T> {
    /// Sends, waiting for room; without any, until it is received.
    ///
    /// # Errors
    /// The receiver is gone.
    pub fn send(&self, item: T) -> Result<(), SendError<T>> {
        self.0.send(item, Patience::Until(None)).map_err(|(item, _)| SendError(item))
    }

    /// Sends if there is room.
    ///
    /// # Errors
    /// There is none, or the receiver is gone.
    pub fn try_send(&self, item: T) -> Result<(), TrySendError<T>> {
        self.0.send(item, Patience::None).map_err(|(item, failed)| match failed {
            Failed::Now => TrySendError::Full(item),
            Failed::Forever => TrySendError::Disconnected(item),
        })
    }
}

impl<T> Receiver<T> {
    /// Waits for an item.
    ///
    /// # Errors
    /// All senders are gone.
    pub fn recv(&self) -> Result<T, RecvError> {
        self.0.receive(Patience::Until(None)).map_err(|_| RecvError)
    }

    /// Takes an item if there is one.
    ///
    /// # Errors
    /// There is none.
    pub fn try_recv(&self) -> Result<T, TryRecvError> {
        self.0.receive(Patience::None).map_err(|failed| match failed {
            Failed::Now => TryRecvError::Empty,
            Failed::Forever => TryRecvError::Disconnected,
        })
    }

    /// Waits for an item for a time at most.
    ///
    /// # Errors
    /// The time is over, or all senders are gone.
    pub fn recv_timeout(&self, time: Duration) -> Result<T, RecvTimeoutError> {
        let until = Patience::Until(Moment::now().after(time));
        self.0.receive(until).map_err(|failed| match failed {
            Failed::Now => RecvTimeoutError::Timeout,
            Failed::Forever => RecvTimeoutError::Disconnected,
        })
    }

    /// Returns items until all senders are gone.
    pub fn iter(&self) -> impl Iterator<Item = T> {
        std::iter::from_fn(|| self.recv().ok())
    }

    /// Returns the items that are there.
    pub fn try_iter(&self) -> impl Iterator<Item = T> {
        std::iter::from_fn(|| self.try_recv().ok())
    }
}

/// The items of a receiver.
#[derive(Debug)]
pub struct IntoIter<T>(Receiver<T>);

impl<T> Iterator for IntoIter<T> {
    type Item = T;

    fn next(&mut self) -> Option<T> {
        self.0.recv().ok()
    }
}

impl<T> IntoIterator for Receiver<T> {
    type Item = T;
    type IntoIter = IntoIter<T>;

    fn into_iter(self) -> IntoIter<T> {
        IntoIter(self)
    }
}

impl<T> Clone for Sender<T> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<T> Clone for SyncSender<T> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<T> fmt::Debug for Sender<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sender").finish_non_exhaustive()
    }
}

impl<T> fmt::Debug for SyncSender<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SyncSender").finish_non_exhaustive()
    }
}

impl<T> fmt::Debug for Receiver<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Receiver").finish_non_exhaustive()
    }
}
