//! The end of a channel where messages come out.

use std::fmt;
use std::iter::from_fn;
use std::sync::Arc;
use std::time::Duration;

use super::{
    Act, Acts, Case, Choose, Chosen, Disconnected, Group, Hold, Leave, Message, NotReceived,
    Outcome, PipeId, Shared, Side, len,
};
use crate::machine::Host;
use crate::runtime::{Instant, Runtime, System};

/// Receives messages. When the last copy is dropped, what waits is dropped and nobody can send.
pub struct Receiver<T: Message, R: Runtime = System, H: Host<Group<T>> = Group<T>> {
    group: Shared<T, R, H>,
    pipe: PipeId,
    capacity: Option<usize>,
}

impl<T: Message, R: Runtime, H: Host<Group<T>>> Receiver<T, R, H> {
    pub(super) fn new(group: &Shared<T, R, H>, pipe: PipeId, capacity: Option<usize>) -> Self {
        Self { group: Arc::clone(group), pipe, capacity }
    }

    /// Receives a message, waiting for one.
    ///
    /// # Errors
    /// There is none left, and all senders are gone.
    pub fn recv(&self) -> Result<T, Disconnected> {
        endless(self.group.call(self.act(Instant::NEVER)))
    }

    /// As [`recv`](Self::recv), for tasks. A future that is dropped before its end takes nothing.
    ///
    /// # Errors
    /// As [`recv`](Self::recv).
    pub async fn recv_async(&self) -> Result<T, Disconnected> {
        endless(self.group.call_async(self.act(Instant::NEVER)).await)
    }

    /// Receives a message if there is one. In a rendezvous somebody must wait with it.
    ///
    /// # Errors
    /// There is none, and perhaps all senders are gone.
    pub fn try_recv(&self) -> Result<T, NotReceived> {
        in_time(self.group.call(self.act(Instant::ZERO)))
    }

    /// As [`recv`](Self::recv), waiting no longer than `most`.
    ///
    /// # Errors
    /// As [`try_recv`](Self::try_recv).
    pub fn recv_timeout(&self, most: Duration) -> Result<T, NotReceived> {
        let until = self.group.runtime().now() + most;
        in_time(self.group.call(self.act(until)))
    }

    /// Names the receiving of a message as a case of a [`select`](super::select).
    pub fn receiving(&self) -> Case<'_, T, R, H> {
        Case { group: &self.group, act: Act::Receive(self.pipe) }
    }

    /// Receives messages, waiting for each, until there is none left and all senders are gone.
    pub fn iter(&self) -> impl Iterator<Item = T> {
        from_fn(|| self.recv().ok())
    }

    /// Receives messages as long as there are any.
    pub fn try_iter(&self) -> impl Iterator<Item = T> {
        from_fn(|| self.try_recv().ok())
    }

    fn act(&self, until: Instant) -> Choose<T> {
        Choose::new(Acts::One([Act::Receive(self.pipe)]), until)
    }

    /// Counts the messages that wait.
    pub fn len(&self) -> usize {
        len(&self.group, self.pipe, self.capacity)
    }

    /// Tells whether no message waits.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Tells whether there is no room. A rendezvous never has any.
    pub fn is_full(&self) -> bool {
        self.capacity.is_some_and(|capacity| self.len() >= capacity)
    }

    /// Returns how many messages may wait, `None` for any number.
    pub fn capacity(&self) -> Option<usize> {
        self.capacity
    }
}

fn endless<T>(chosen: Chosen<T>) -> Result<T, Disconnected> {
    match chosen.done {
        Some((_, Outcome::Received(received))) => received,
        _ => unreachable!("a call without deadline ends with what it wants"),
    }
}

fn in_time<T>(chosen: Chosen<T>) -> Result<T, NotReceived> {
    match chosen.done {
        Some((_, Outcome::Received(received))) => {
            received.map_err(|Disconnected(())| NotReceived::Disconnected)
        }
        _ => Err(NotReceived::Unready),
    }
}

impl<T: Message, R: Runtime, H: Host<Group<T>>> Clone for Receiver<T, R, H> {
    fn clone(&self) -> Self {
        self.group.call(Hold(self.pipe, Side::Receiving));
        Self::new(&self.group, self.pipe, self.capacity)
    }
}

impl<T: Message, R: Runtime, H: Host<Group<T>>> Drop for Receiver<T, R, H> {
    fn drop(&mut self) {
        let left = self.group.call(Leave(self.pipe, Side::Receiving));
        drop(left); // without the lock: they are foreign values
    }
}

impl<T: Message, R: Runtime, H: Host<Group<T>>> fmt::Debug for Receiver<T, R, H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Receiver").field("capacity", &self.capacity).finish_non_exhaustive()
    }
}
