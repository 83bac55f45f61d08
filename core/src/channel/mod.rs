//! Channels: bounded, without bound and from hand to hand, with `select` over several and a
//! deadline.
//!
//! They mean what those of the crate `crossbeam-channel` mean, and tests of 12,000 made-up programs
//! hold the two together. One thing differs: behind the last receiver, crossbeam's bounded channels
//! keep what nobody can receive until the last sender goes; all of ours drop it at once. Any number may send and receive. A channel for no message at all is a
//! rendezvous: a message is sent when it is taken. When the last receiver is dropped nothing can be
//! sent, and what waits is dropped; when the last sender is, receivers get what is left, and then
//! learn that it was the last.
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
//! Every call waits with its thread, or as a future: threads and tasks use the same channel. A
//! future that is dropped sends nothing and takes nothing. What had been handed to it in a rendezvous
//! goes to the next who receives, as its sender has gone on; what several gave up comes in the order in
//! which it was sent.
//!
//! Only channels of the same [`Channels`] can be waited for together: they share one lock, so a
//! `select` is one step, and at most one of its cases happens. If several can, chance decides.
//!
//! | who waits | whom a change wakes |
//! |---|---|
//! | to send into, or to receive from, a channel made alone | one for each message |
//! | the same in a group of several channels | all who wait at that end of any of them |
//! | in a rendezvous, or in a `select` | all who do |
//!
//! Messages are dropped where no lock is held.

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

use crate::machine::Host;
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
pub type Ends<T, R = System, H = Group<T>> = (Sender<T, R, H>, Receiver<T, R, H>);

type Shared<T, R, H> = Arc<Monitor<Group<T>, R, H>>;

/// Channels that can be waited for together. Copies name the same channels.
///
/// `R` is the runtime, `H` what the lock holds: the rules themselves, unless a harness puts a
/// recorded or mutated machine there.
pub struct Channels<T: Message, R: Runtime = System, H: Host<Group<T>> = Group<T>>(Shared<T, R, H>);

impl<T: Message, R: Runtime> Channels<T, R> {
    /// Makes a group without channels.
    pub fn new(runtime: &R) -> Self {
        Self::with_host(runtime, Group::default())
    }
}

impl<T: Message, R: Runtime, H: Host<Group<T>>> Channels<T, R, H> {
    /// Makes a group whose rules are given.
    #[cfg_attr(not(feature = "harness"), doc(hidden))]
    pub fn with_host(runtime: &R, host: H) -> Self {
        Self(Arc::new(Monitor::new(runtime, host)))
    }

    /// Opens a channel in which at most `capacity` messages wait. With none, a message goes from
    /// hand to hand.
    #[must_use = "a channel without its ends is gone"]
    pub fn bounded(&self, capacity: usize) -> Ends<T, R, H> {
        self.open(Some(capacity))
    }

    /// Opens a channel in which any number of messages waits.
    #[must_use = "a channel without its ends is gone"]
    pub fn unbounded(&self) -> Ends<T, R, H> {
        self.open(None)
    }

    fn open(&self, capacity: Option<usize>) -> Ends<T, R, H> {
        let pipe = self.0.call(Open(capacity));
        let end = |side| End::new(&self.0, pipe, capacity, side);
        (Sender(end(Side::Sending)), Receiver(end(Side::Receiving)))
    }
}

impl<T: Message, R: Runtime, H: Host<Group<T>>> Clone for Channels<T, R, H> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<T: Message, R: Runtime, H: Host<Group<T>>> fmt::Debug for Channels<T, R, H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Channels")
    }
}

/// Opens a channel alone, as [`Channels::bounded`] does in a group.
#[must_use = "a channel without its ends is gone"]
pub fn bounded<T: Message, R: Runtime>(runtime: &R, capacity: usize) -> Ends<T, R> {
    Channels::new(runtime).bounded(capacity)
}

/// Opens a channel alone, as [`Channels::unbounded`] does in a group.
#[must_use = "a channel without its ends is gone"]
pub fn unbounded<T: Message, R: Runtime>(runtime: &R) -> Ends<T, R> {
    Channels::new(runtime).unbounded()
}

end::ends!(Sender, Receiver);
