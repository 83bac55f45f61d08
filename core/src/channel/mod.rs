//! Channels: bounded, unbounded and rendezvous, with deadlines and a `select` over several
//! channels.
//!
//! They behave as those of the crate `crossbeam-channel`; tests with 12,000 generated programs
//! compare the two. There is one difference. After the last receiver is dropped, crossbeam's
//! bounded channels keep waiting messages until the last sender is dropped; these channels drop
//! them at once. Any number of threads may send and receive. A channel of capacity zero is a
//! rendezvous: a message is sent at the moment when it is received. When the last receiver is
//! dropped, sending fails and waiting messages are dropped. When the last sender is dropped,
//! receivers get the remaining messages and then an error.
//!
//! ```
//! use seatrial_core::channel::{Channels, Outcome, select};
//! use seatrial_core::runtime::System;
//!
//! let channels = Channels::new(&System::new());
//! let (work, to_do) = channels.bounded(2);
//! let (stop, stopped) = channels.bounded(0);
//! work.send("one").unwrap();
//!
//! let selected = select([to_do.receiving(), stopped.receiving()]).wait();
//! assert_eq!((selected.case, selected.outcome), (0, Outcome::Received(Ok("one"))));
//!
//! drop(stop);
//! let selected = select([to_do.receiving(), stopped.receiving()]).wait();
//! assert_eq!(selected.case, 1, "its other end is gone");
//! ```
//!
//! Every call waits as a blocked thread or as a future, so threads and tasks can share a channel. A
//! future that is dropped sends nothing and takes nothing. If a rendezvous had handed it a message,
//! the sender has already continued, so the message goes to the next receiver; several such
//! messages are received in the order in which they were sent. Poll a future when it is woken, or
//! drop it: the room or the message for which it was woken is its own until then.
//!
//! Only channels of the same [`Channels`] can be selected together: they share one lock, so a
//! `select` is one step, and at most one of its cases happens. If several are possible, one is
//! chosen at random.
//!
//! | a caller waits | a change wakes |
//! |---|---|
//! | to send into, or to receive from, a channel made alone | one caller for each message |
//! | the same in a group of several channels | all callers that wait at that end of any of them |
//! | in a rendezvous, or in a `select` | all such callers |
//!
//! Messages are dropped outside the lock.

mod acts;
mod end;
mod errors;
mod operations;
mod receiver;
mod selecting;
mod sender;
mod state;
#[cfg(test)]
mod tests;

use std::fmt;
use std::sync::Arc;

use crate::machine::Hosted;
use crate::monitor::Monitor;
use crate::runtime::{Runtime, System};

use end::End;

pub use acts::Outcome;
pub use errors::{Disconnected, NotReceived, NotSent};
pub use operations::Message;
pub use receiver::Receiver;
pub use selecting::{Case, Select, Selected, Unready, select};
pub use sender::Sender;

for_harness! {
    use acts::{Act, Acts, PipeId};
    use operations::{Choose, Chosen, Hold, Leave, Len, Op, Open, Ret};
    use state::{Group, MEETING, RECEIVERS, SENDERS, Side};
}

/// The two ends of a channel.
pub type Ends<T, R = System> = (Sender<T, R>, Receiver<T, R>);

type Shared<T, R> = Arc<Monitor<Group<T>, R>>;

/// Channels that can be selected together. Copies name the same channels.
///
/// `R` is the runtime.
pub struct Channels<T: Message, R: Runtime = System>(Shared<T, R>);

impl<T: Message, R: Runtime> Channels<T, R> {
    /// Makes a group without channels.
    pub fn new(runtime: &R) -> Self {
        Self::with_host(runtime, Group::default())
    }

    /// Makes a group with given rules.
    #[cfg_attr(not(feature = "harness"), doc(hidden))]
    pub fn with_host(runtime: &R, host: impl Into<Hosted<Group<T>>>) -> Self {
        Self(Arc::new(Monitor::new(runtime, host)))
    }

    /// Opens a channel in which at most `capacity` messages wait. A capacity of zero makes a
    /// rendezvous.
    #[must_use = "a channel without its ends is gone"]
    pub fn bounded(&self, capacity: usize) -> Ends<T, R> {
        self.open(Some(capacity))
    }

    /// Opens a channel in which any number of messages may wait.
    #[must_use = "a channel without its ends is gone"]
    pub fn unbounded(&self) -> Ends<T, R> {
        self.open(None)
    }

    fn open(&self, capacity: Option<usize>) -> Ends<T, R> {
        let pipe = self.0.call(Open(capacity));
        let end = |side| End::new(&self.0, pipe, capacity, side);
        (Sender(end(Side::Sending)), Receiver(end(Side::Receiving)))
    }
}

impl<T: Message, R: Runtime> Clone for Channels<T, R> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<T: Message, R: Runtime> fmt::Debug for Channels<T, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Channels")
    }
}

/// Opens a single channel, as [`Channels::bounded`] does in a group.
#[must_use = "a channel without its ends is gone"]
pub fn bounded<T: Message, R: Runtime>(runtime: &R, capacity: usize) -> Ends<T, R> {
    Channels::new(runtime).bounded(capacity)
}

/// Opens a single channel, as [`Channels::unbounded`] does in a group.
#[must_use = "a channel without its ends is gone"]
pub fn unbounded<T: Message, R: Runtime>(runtime: &R) -> Ends<T, R> {
    Channels::new(runtime).unbounded()
}

end::ends!(Sender, Receiver);
