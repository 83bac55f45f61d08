//! The receiving end of a channel.

use std::iter::from_fn;
use std::time::Duration;

use super::end::End;
use super::{Act, Case, Chosen, Disconnected, Message, NotReceived, Outcome};
use crate::runtime::{Instant, Runtime, System};

/// Receives messages. When the last copy is dropped, waiting messages are dropped and sending
/// fails.
pub struct Receiver<T: Message, R: Runtime = System>(pub(super) End<T, R>);

impl<T: Message, R: Runtime> Receiver<T, R> {
    /// Receives a message, waiting for one.
    ///
    /// # Errors
    /// No message is left, and all senders are gone.
    pub fn recv(&self) -> Result<T, Disconnected> {
        endless(self.0.call(self.act(), Instant::NEVER))
    }

    /// As [`recv`](Self::recv), for tasks. A future that is dropped takes nothing.
    ///
    /// # Errors
    /// As [`recv`](Self::recv).
    pub async fn recv_async(&self) -> Result<T, Disconnected> {
        endless(self.0.call_async(self.act()).await)
    }

    /// Receives a message if there is one. In a rendezvous, a sender must be waiting.
    ///
    /// # Errors
    /// There is no message, and perhaps all senders are gone.
    pub fn try_recv(&self) -> Result<T, NotReceived> {
        in_time(self.0.call(self.act(), Instant::ZERO))
    }

    /// As [`recv`](Self::recv), waiting at most for `most`.
    ///
    /// # Errors
    /// As [`try_recv`](Self::try_recv).
    pub fn recv_timeout(&self, most: Duration) -> Result<T, NotReceived> {
        let until = self.0.group.runtime().now() + most;
        in_time(self.0.call(self.act(), until))
    }

    /// Makes a case of a [`select`](super::select) that receives a message.
    pub fn receiving(&self) -> Case<'_, T, R> {
        self.0.case(self.act())
    }

    /// Receives messages, waiting for each, until there is none left and all senders are gone.
    pub fn iter(&self) -> impl Iterator<Item = T> {
        from_fn(|| self.recv().ok())
    }

    /// Receives messages while there are any.
    pub fn try_iter(&self) -> impl Iterator<Item = T> {
        from_fn(|| self.try_recv().ok())
    }

    fn act(&self) -> Act<T> {
        Act::Receive(self.0.pipe)
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
