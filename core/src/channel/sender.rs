//! The end of a channel where messages go in.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use super::{
    Act, Acts, Case, Choose, Chosen, Disconnected, Group, Hold, Leave, Message, NotSent, Outcome,
    PipeId, Shared, Side, len,
};
use crate::machine::Host;
use crate::runtime::{Instant, Runtime, System};

/// Sends messages. When the last copy is dropped, receivers get what is left and then an end.
pub struct Sender<T: Message, R: Runtime = System, H: Host<Group<T>> = Group<T>> {
    group: Shared<T, R, H>,
    pipe: PipeId,
    capacity: Option<usize>,
}

impl<T: Message, R: Runtime, H: Host<Group<T>>> Sender<T, R, H> {
    pub(super) fn new(group: &Shared<T, R, H>, pipe: PipeId, capacity: Option<usize>) -> Self {
        Self { group: Arc::clone(group), pipe, capacity }
    }

    /// Sends a message, waiting for room, or for who takes it in a rendezvous.
    ///
    /// # Errors
    /// All receivers are gone; the message comes back.
    pub fn send(&self, message: T) -> Result<(), Disconnected<T>> {
        endless(self.group.call(self.act(message, Instant::NEVER)))
    }

    /// As [`send`](Self::send), for tasks. A future that is dropped before its end has not sent,
    /// unless the message was taken just before.
    ///
    /// # Errors
    /// As [`send`](Self::send).
    pub async fn send_async(&self, message: T) -> Result<(), Disconnected<T>> {
        endless(self.group.call_async(self.act(message, Instant::NEVER)).await)
    }

    /// Sends a message if that needs no waiting. In a rendezvous somebody must wait for it.
    ///
    /// # Errors
    /// There is no room or nobody takes it, or all receivers are gone; the message comes back.
    pub fn try_send(&self, message: T) -> Result<(), NotSent<T>> {
        in_time(self.group.call(self.act(message, Instant::ZERO)))
    }

    /// As [`send`](Self::send), waiting no longer than `most`.
    ///
    /// # Errors
    /// As [`try_send`](Self::try_send).
    pub fn send_timeout(&self, message: T, most: Duration) -> Result<(), NotSent<T>> {
        let until = self.group.runtime().now() + most;
        in_time(self.group.call(self.act(message, until)))
    }

    /// Names the sending of a message as a case of a [`select`](super::select).
    pub fn sending(&self, message: T) -> Case<'_, T, R, H> {
        Case { group: &self.group, act: Act::Send(self.pipe, Some(message)) }
    }

    fn act(&self, message: T, until: Instant) -> Choose<T> {
        Choose::new(Acts::One([Act::Send(self.pipe, Some(message))]), until)
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

fn endless<T>(chosen: Chosen<T>) -> Result<(), Disconnected<T>> {
    match chosen.done {
        Some((_, Outcome::Sent(sent))) => sent,
        _ => unreachable!("a call without deadline ends with what it wants"),
    }
}

fn in_time<T>(chosen: Chosen<T>) -> Result<(), NotSent<T>> {
    match (chosen.done, chosen.unsent.into_iter().next()) {
        (Some((_, Outcome::Sent(sent))), _) => {
            sent.map_err(|Disconnected(message)| NotSent::Disconnected(message))
        }
        (_, Some((_, message))) => Err(NotSent::Unready(message)),
        _ => unreachable!("a message that is not sent comes back"),
    }
}

impl<T: Message, R: Runtime, H: Host<Group<T>>> Clone for Sender<T, R, H> {
    fn clone(&self) -> Self {
        self.group.call(Hold(self.pipe, Side::Sending));
        Self::new(&self.group, self.pipe, self.capacity)
    }
}

impl<T: Message, R: Runtime, H: Host<Group<T>>> Drop for Sender<T, R, H> {
    fn drop(&mut self) {
        drop(self.group.call(Leave(self.pipe, Side::Sending)));
    }
}

impl<T: Message, R: Runtime, H: Host<Group<T>>> fmt::Debug for Sender<T, R, H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sender").field("capacity", &self.capacity).finish_non_exhaustive()
    }
}
