//! crossbeam-channel's names.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

pub use ::crossbeam_channel::{
    RecvError, RecvTimeoutError, SendError, SendTimeoutError, TryRecvError, TrySendError,
};

use super::channel::{self, Failed, Patience, Receiving, Sending};
use super::clock::Instant;
use super::lock::{Locked, Sleepers};
use super::moment::Moment;
use super::threads::sleep;

/// `crossbeam_channel::Sender`.
pub struct Sender<T>(Sending<T>);

/// `crossbeam_channel::Receiver`.
pub struct Receiver<T>(Kind<T>);

enum Kind<T> {
    Of(Receiving<T>),
    /// Ticks: when the next one is due, and the time between them if there are more.
    Clock(Arc<Clock<T>>),
    Never,
}

struct Clock<T> {
    next: Locked<Option<Instant>>,
    period: Option<Duration>,
    item: fn(Instant) -> T,
}

/// Makes a channel with a bound; without room for any item, a rendezvous.
#[must_use]
pub fn bounded<T>(bound: usize) -> (Sender<T>, Receiver<T>) {
    let (sending, receiving) = channel::channel(Some(bound));
    (Sender(sending), Receiver(Kind::Of(receiving)))
}

/// Makes a channel without a bound.
#[must_use]
pub fn unbounded<T>() -> (Sender<T>, Receiver<T>) {
    let (sending, receiving) = channel::channel(None);
    (Sender(sending), Receiver(Kind::Of(receiving)))
}

/// Makes a receiver of one moment, that in `time` from now.
#[must_use]
pub fn after(time: Duration) -> Receiver<Instant> {
    clock(time, None)
}

/// Makes a receiver of a moment in each period.
#[must_use]
pub fn tick(period: Duration) -> Receiver<Instant> {
    clock(period, Some(period))
}

/// Makes a receiver of nothing.
#[must_use]
pub fn never<T>() -> Receiver<T> {
    Receiver(Kind::Never)
}

fn clock(first: Duration, period: Option<Duration>) -> Receiver<Instant> {
    let next = Locked::new(Instant::now().checked_add(first));
    Receiver(Kind::Clock(Arc::new(Clock { next, period, item: |due| due })))
}

/// Waits for nothing, until a moment at most.
fn in_vain(until: Option<Moment>) -> Failed {
    let (lock, nobody) = (Locked::new(()), Sleepers::new());
    let (mut held, mut is_late) = (lock.lock(), false);
    while !is_late {
        (held, is_late) = nobody.wait_until(held, until);
    }
    Failed::Now
}

impl<T> Clock<T> {
    /// Takes the tick that is due; else the time to wait for the next one.
    fn take(&self) -> Result<T, Option<Instant>> {
        let (mut next, now) = (self.next.lock(), Instant::now());
        match *next {
            Some(due) if due <= now => {
                *next = self.period.and_then(|period| now.checked_add(period));
                Ok((self.item)(due))
            }
            later => Err(later),
        }
    }

    fn receive(&self, patience: Patience) -> Result<T, Failed> {
        loop {
            let next = match self.take() {
                Ok(item) => return Ok(item),
                Err(next) => next.map(|next| next.0),
            };
            let Patience::Until(until) = patience else { return Err(Failed::Now) };
            match next {
                Some(next) if until.is_none_or(|until| next <= until) => sleep(next.left()),
                _ => return Err(in_vain(until)),
            }
        }
    }
}

impl<T> Sender<T> {
    /// Sends, waiting for room.
    ///
    /// # Errors
    /// All receivers are gone: the item comes back.
    pub fn send(&self, item: T) -> Result<(), SendError<T>> {
        self.0.send(item, Patience::Until(None)).map_err(|(item, _)| SendError(item))
    }

    /// Sends if there is room.
    ///
    /// # Errors
    /// There is none, or all receivers are gone: the item comes back.
    pub fn try_send(&self, item: T) -> Result<(), TrySendError<T>> {
        self.0.send(item, Patience::None).map_err(|(item, failed)| match failed {
            Failed::Now => TrySendError::Full(item),
            Failed::Forever => TrySendError::Disconnected(item),
        })
    }

    /// Sends, waiting for room for a time at most.
    ///
    /// # Errors
    /// There is none, or all receivers are gone: the item comes back.
    pub fn send_timeout(&self, item: T, time: Duration) -> Result<(), SendTimeoutError<T>> {
        let until = Patience::Until(Moment::now().after(time));
        self.0.send(item, until).map_err(|(item, failed)| match failed {
            Failed::Now => SendTimeoutError::Timeout(item),
            Failed::Forever => SendTimeoutError::Disconnected(item),
        })
    }

    /// Returns how many items are there.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Tells whether no items are there.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Tells whether there is no room.
    #[must_use]
    pub fn is_full(&self) -> bool {
        self.0.capacity().is_some_and(|capacity| self.len() >= capacity)
    }

    /// Returns the bound.
    #[must_use]
    pub fn capacity(&self) -> Option<usize> {
        self.0.capacity()
    }

    /// Tells whether both are of one channel.
    #[must_use]
    pub fn same_channel(&self, other: &Self) -> bool {
        self.0.is_of(&other.0)
    }
}

impl<T> Receiver<T> {
    fn receive(&self, patience: Patience) -> Result<T, Failed> {
        match (&self.0, patience) {
            (Kind::Of(receiving), _) => receiving.receive(patience),
            (Kind::Clock(clock), _) => clock.receive(patience),
            (Kind::Never, Patience::None) => Err(Failed::Now),
            (Kind::Never, Patience::Until(until)) => Err(in_vain(until)),
        }
    }

    /// Waits for an item.
    ///
    /// # Errors
    /// All senders are gone.
    pub fn recv(&self) -> Result<T, RecvError> {
        self.receive(Patience::Until(None)).map_err(|_| RecvError)
    }

    /// Takes an item if there is one.
    ///
    /// # Errors
    /// There is none.
    pub fn try_recv(&self) -> Result<T, TryRecvError> {
        self.receive(Patience::None).map_err(|failed| match failed {
            Failed::Now => TryRecvError::Empty,
            Failed::Forever => TryRecvError::Disconnected,
        })
    }

    /// Waits for an item for a time at most.
    ///
    /// # Errors
    /// The time is over, or all senders are gone.
    pub fn recv_timeout(&self, time: Duration) -> Result<T, RecvTimeoutError> {
        self.limited(Moment::now().after(time))
    }

    /// Waits for an item until a moment at most.
    ///
    /// # Errors
    /// The moment came, or all senders are gone.
    pub fn recv_deadline(&self, until: Instant) -> Result<T, RecvTimeoutError> {
        self.limited(Some(until.0))
    }

    fn limited(&self, until: Option<Moment>) -> Result<T, RecvTimeoutError> {
        self.receive(Patience::Until(until)).map_err(|failed| match failed {
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

    /// Returns how many items are there.
    #[must_use]
    pub fn len(&self) -> usize {
        match &self.0 {
            Kind::Of(receiving) => receiving.len(),
            Kind::Clock(clock) => {
                usize::from(clock.next.lock().is_some_and(|due| due <= Instant::now()))
            }
            Kind::Never => 0,
        }
    }

    /// Tells whether no items are there.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the bound.
    #[must_use]
    pub fn capacity(&self) -> Option<usize> {
        match &self.0 {
            Kind::Of(receiving) => receiving.capacity(),
            Kind::Clock(_) => Some(1),
            Kind::Never => Some(0),
        }
    }

    /// Tells whether both are of one channel.
    #[must_use]
    pub fn same_channel(&self, other: &Self) -> bool {
        match (&self.0, &other.0) {
            (Kind::Of(mine), Kind::Of(theirs)) => mine.is_of(theirs),
            (Kind::Clock(mine), Kind::Clock(theirs)) => Arc::ptr_eq(mine, theirs),
            (mine, theirs) => matches!((mine, theirs), (Kind::Never, Kind::Never)),
        }
    }
}

impl<T> Clone for Sender<T> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<T> Clone for Receiver<T> {
    fn clone(&self) -> Self {
        Self(match &self.0 {
            Kind::Of(receiving) => Kind::Of(receiving.clone()),
            Kind::Clock(clock) => Kind::Clock(Arc::clone(clock)),
            Kind::Never => Kind::Never,
        })
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
