//! The sending end of a channel.

use std::time::Duration;

use super::end::End;
use super::{Act, Case, Chosen, Disconnected, Message, NotSent, Outcome};
use crate::runtime::{Instant, Runtime, System};

/// Sends messages. When the last copy is dropped, receivers get the remaining messages and then an
/// error.
pub struct Sender<T: Message, R: Runtime = System>(pub(super) End<T, R>);

impl<T: Message, R: Runtime> Sender<T, R> {
    /// Sends a message, waiting for room, or in a rendezvous for a receiver.
    ///
    /// # Errors
    /// All receivers are gone; the message is returned.
    pub fn send(&self, message: T) -> Result<(), Disconnected<T>> {
        endless(self.0.call(self.act(message), Instant::NEVER))
    }

    /// As [`send`](Self::send), for tasks. A future that is dropped has not sent its message,
    /// unless a receiver has just taken it.
    ///
    /// # Errors
    /// As [`send`](Self::send).
    pub async fn send_async(&self, message: T) -> Result<(), Disconnected<T>> {
        endless(self.0.call_async(self.act(message)).await)
    }

    /// Sends a message if that is possible without waiting. In a rendezvous, a receiver must be
    /// waiting.
    ///
    /// # Errors
    /// There is no room or no receiver waits, or all receivers are gone; the message is returned.
    pub fn try_send(&self, message: T) -> Result<(), NotSent<T>> {
        in_time(self.0.call(self.act(message), Instant::ZERO))
    }

    /// As [`send`](Self::send), waiting at most for `most`.
    ///
    /// # Errors
    /// As [`try_send`](Self::try_send).
    pub fn send_timeout(&self, message: T, most: Duration) -> Result<(), NotSent<T>> {
        let until = self.0.group.runtime().now() + most;
        in_time(self.0.call(self.act(message), until))
    }

    /// Makes a case of a [`select`](super::select) that sends a message.
    pub fn sending(&self, message: T) -> Case<'_, T, R> {
        self.0.case(self.act(message))
    }

    fn act(&self, message: T) -> Act<T> {
        Act::Send(self.0.pipe, Some(message))
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
