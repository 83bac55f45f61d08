//! Permits, dealt out in the order in which they are asked for.

use std::collections::{BTreeSet, VecDeque};
use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

pub use ::tokio::sync::TryAcquireError;

use super::super::fault::{Fault, has};
use super::super::lock::{Label, Locked};

/// `tokio::sync::AcquireError`.
#[derive(Debug)]
pub struct AcquireError(());

impl fmt::Display for AcquireError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("semaphore closed")
    }
}

impl std::error::Error for AcquireError {}

#[derive(Default, Debug)]
struct State {
    permits: usize,
    is_closed: bool,
    line: VecDeque<Waiter>,
    /// Those out of the line that have not yet seen that they have all.
    served: BTreeSet<u64>,
    next: u64,
}

#[derive(Debug)]
struct Waiter {
    id: u64,
    wants: usize,
    has: usize,
    waker: Waker,
}

impl State {
    /// Deals out permits; returns those to be woken.
    fn give(&mut self, permits: usize) -> Vec<Waker> {
        self.permits += permits;
        let mut woken = vec![];
        while self.permits > 0
            && let Some(first) = self.line.front_mut()
        {
            let more = self.permits.min(first.wants - first.has);
            first.has += more;
            self.permits -= more;
            if first.has == first.wants {
                self.served.insert(first.id);
                woken.extend(self.line.pop_front().map(|waiter| waiter.waker));
            }
        }
        woken
    }
}

/// `tokio::sync::Semaphore`.
#[derive(Debug)]
pub struct Semaphore {
    label: Label,
    state: Locked<State>,
}

impl Semaphore {
    /// The most permits that one can have.
    pub const MAX_PERMITS: usize = usize::MAX >> 3;

    /// Makes one with permits.
    #[must_use]
    pub fn new(permits: usize) -> Self {
        let state = Locked::new(State { permits, ..State::default() });
        Self { label: Label::new(), state }
    }

    /// Returns how many permits are left.
    #[must_use]
    pub fn available_permits(&self) -> usize {
        self.state.lock().permits
    }

    /// Adds permits.
    pub fn add_permits(&self, permits: usize) {
        self.label.note("gives back to");
        let woken = self.state.lock().give(permits);
        woken.into_iter().for_each(Waker::wake);
    }

    /// Takes permits away; returns how many there were.
    pub fn forget_permits(&self, permits: usize) -> usize {
        let mut state = self.state.lock();
        let forgotten = permits.min(state.permits);
        state.permits -= forgotten;
        forgotten
    }

    /// Takes a permit, waiting for one.
    ///
    /// # Errors
    /// It is closed.
    pub async fn acquire(&self) -> Result<SemaphorePermit<'_>, AcquireError> {
        self.acquire_many(1).await
    }

    /// Takes permits, waiting for them.
    ///
    /// # Errors
    /// It is closed.
    pub async fn acquire_many(&self, permits: u32) -> Result<SemaphorePermit<'_>, AcquireError> {
        self.take(permits as usize).await?;
        Ok(SemaphorePermit { of: self, permits: permits as usize })
    }

    /// The same, for a permit that keeps the semaphore alive.
    ///
    /// # Errors
    /// It is closed.
    pub async fn acquire_owned(self: Arc<Self>) -> Result<OwnedSemaphorePermit, AcquireError> {
        self.acquire_many_owned(1).await
    }

    /// The same, for permits that keep the semaphore alive.
    ///
    /// # Errors
    /// It is closed.
    pub async fn acquire_many_owned(
        self: Arc<Self>,
        permits: u32,
    ) -> Result<OwnedSemaphorePermit, AcquireError> {
        self.take(permits as usize).await?;
        Ok(OwnedSemaphorePermit { of: self, permits: permits as usize })
    }

    /// Takes a permit if there is one.
    ///
    /// # Errors
    /// There is none, or it is closed.
    pub fn try_acquire(&self) -> Result<SemaphorePermit<'_>, TryAcquireError> {
        self.try_acquire_many(1)
    }

    /// Takes permits if there are enough.
    ///
    /// # Errors
    /// There are not, or it is closed.
    pub fn try_acquire_many(&self, permits: u32) -> Result<SemaphorePermit<'_>, TryAcquireError> {
        self.try_take(permits as usize)?;
        Ok(SemaphorePermit { of: self, permits: permits as usize })
    }

    /// The same, for a permit that keeps the semaphore alive.
    ///
    /// # Errors
    /// There is none, or it is closed.
    pub fn try_acquire_owned(self: Arc<Self>) -> Result<OwnedSemaphorePermit, TryAcquireError> {
        self.try_take(1)?;
        Ok(OwnedSemaphorePermit { of: self, permits: 1 })
    }

    /// Closes it: who waits gets an error.
    pub fn close(&self) {
        let mut state = self.state.lock();
        state.is_closed = true;
        let woken: Vec<_> = state.line.iter().map(|waiter| waiter.waker.clone()).collect();
        drop(state);
        woken.into_iter().for_each(Waker::wake);
    }

    /// Tells whether it is closed.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.state.lock().is_closed
    }

    pub(super) fn try_take(&self, permits: usize) -> Result<(), TryAcquireError> {
        let mut state = self.state.lock();
        if state.is_closed {
            return Err(TryAcquireError::Closed);
        }
        if state.permits < permits {
            return Err(TryAcquireError::NoPermits);
        }
        state.permits -= permits;
        drop(state);
        self.label.note("takes from");
        Ok(())
    }

    pub(super) fn take(&self, wants: usize) -> Take<'_> {
        Take { of: self, wants, id: None }
    }
}

/// A future that takes permits.
#[derive(Debug)]
pub(super) struct Take<'a> {
    of: &'a Semaphore,
    wants: usize,
    /// Its number in the line.
    id: Option<u64>,
}

impl Future for Take<'_> {
    type Output = Result<(), AcquireError>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let (of, wants) = (self.of, self.wants);
        let mut state = of.state.lock();
        let Some(id) = self.id else {
            if state.is_closed {
                return Poll::Ready(Err(AcquireError(())));
            }
            if state.permits >= wants {
                state.permits -= wants;
                drop(state);
                of.label.note("takes from");
                return Poll::Ready(Ok(()));
            }
            let (id, has) = (state.next, std::mem::take(&mut state.permits));
            state.next += 1;
            state.line.push_back(Waiter { id, wants, has, waker: context.waker().clone() });
            drop(state);
            self.id = Some(id);
            of.label.note("stands in the line of");
            return Poll::Pending;
        };
        if state.is_closed {
            return Poll::Ready(Err(AcquireError(()))); // what it was given it gives back when it drops
        }
        if state.served.remove(&id) {
            drop(state);
            self.id = None;
            of.label.note("takes from");
            return Poll::Ready(Ok(()));
        }
        let waker = context.waker().clone();
        let mine = state.line.iter_mut().find(|waiter| waiter.id == id);
        let former = mine.map(|waiter| std::mem::replace(&mut waiter.waker, waker));
        drop(state);
        drop(former); // outside of the lock: dropping a waker runs foreign code
        Poll::Pending
    }
}

impl Drop for Take<'_> {
    fn drop(&mut self) {
        let Some(id) = self.id else { return };
        self.of.label.note("leaves the line of");
        let mut state = self.of.state.lock();
        let has_all = state.served.remove(&id);
        let place = state.line.iter().position(|waiter| waiter.id == id);
        let former = place.and_then(|place| state.line.remove(place));
        let back = if has_all { self.wants } else { former.as_ref().map_or(0, |it| it.has) };
        let woken = if has(Fault::KeepsPermits) { vec![] } else { state.give(back) };
        drop(state);
        drop(former);
        woken.into_iter().for_each(Waker::wake);
    }
}

/// `tokio::sync::SemaphorePermit`.
#[must_use]
#[derive(Debug)]
pub struct SemaphorePermit<'a> {
    of: &'a Semaphore,
    permits: usize,
}

/// `tokio::sync::OwnedSemaphorePermit`.
#[must_use]
#[derive(Debug)]
pub struct OwnedSemaphorePermit {
    of: Arc<Semaphore>,
    permits: usize,
}

impl SemaphorePermit<'_> {
    /// Does not give it back.
    pub fn forget(mut self) {
        self.permits = 0;
    }

    /// Returns how many it is.
    #[must_use]
    pub fn num_permits(&self) -> usize {
        self.permits
    }
}

impl OwnedSemaphorePermit {
    /// Does not give it back.
    pub fn forget(mut self) {
        self.permits = 0;
    }

    /// Returns how many it is.
    #[must_use]
    pub fn num_permits(&self) -> usize {
        self.permits
    }

    /// Returns the semaphore.
    #[must_use]
    pub fn semaphore(&self) -> &Arc<Semaphore> {
        &self.of
    }
}

impl Drop for SemaphorePermit<'_> {
    fn drop(&mut self) {
        if self.permits > 0 {
            self.of.add_permits(self.permits);
        }
    }
}

impl Drop for OwnedSemaphorePermit {
    fn drop(&mut self) {
        if self.permits > 0 {
            self.of.add_permits(self.permits);
        }
    }
}
