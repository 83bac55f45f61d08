//! Waiting for several channels at once.

use std::error::Error;
use std::fmt;
use std::sync::Arc;

use super::{Act, Acts, Choose, Chosen, Message, Outcome, Shared};
use crate::runtime::{Instant, Runtime, System};

/// A possible act of a [`select`], made by [`Sender::sending`](super::Sender::sending) or
/// [`Receiver::receiving`](super::Receiver::receiving).
pub struct Case<'a, T: Message, R: Runtime = System> {
    pub(super) group: &'a Shared<T, R>,
    pub(super) act: Act<T>,
}

/// Cases, one of which will happen; made by [`select`].
#[must_use = "nothing is selected before it is said how long to wait"]
pub struct Select<'a, T: Message, R: Runtime = System> {
    group: &'a Shared<T, R>,
    acts: Vec<Act<T>>,
}

/// The case that happened.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Selected<T> {
    /// Its number among the cases.
    pub case: usize,
    /// The outcome of the case. If the other end of a channel is gone, its case is ready with an
    /// error.
    pub outcome: Outcome<T>,
    /// The messages of the other cases, with the numbers of their cases.
    pub unsent: Vec<(usize, T)>,
}

/// No case could happen in time.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Unready<T> {
    /// The messages, with the numbers of their cases.
    pub unsent: Vec<(usize, T)>,
}

/// Does one of several acts on channels of one group. If several are possible, each has the same
/// chance.
///
/// # Panics
/// If there is no case, or if the channels are not of the same [`Channels`](super::Channels).
pub fn select<'a, T: Message, R: Runtime>(
    cases: impl IntoIterator<Item = Case<'a, T, R>>,
) -> Select<'a, T, R> {
    let mut cases = cases.into_iter();
    let first = cases.next().expect("there is something to select from");
    let (group, mut acts) = (first.group, vec![first.act]);
    acts.extend(cases.map(|case| {
        assert!(Arc::ptr_eq(case.group, group), "the channels of a select share one group");
        case.act
    }));
    Select { group, acts }
}

impl<T: Message, R: Runtime> Select<'_, T, R> {
    /// Waits until a case happens.
    pub fn wait(self) -> Selected<T> {
        let group = self.group;
        endless(group.call(self.until_when(Instant::NEVER)))
    }

    /// As [`wait`](Self::wait), for tasks. If the future is dropped no case has happened, except
    /// that a receiver of a rendezvous may just have taken a message.
    pub async fn wait_async(self) -> Selected<T> {
        let group = self.group;
        endless(group.call_async(self.until_when(Instant::NEVER)).await)
    }

    /// As [`wait`](Self::wait), until `deadline`. A case that is possible then still happens.
    ///
    /// # Errors
    /// No case could happen.
    pub fn until(self, deadline: Instant) -> Result<Selected<T>, Unready<T>> {
        let group = self.group;
        in_time(group.call(self.until_when(deadline)))
    }

    /// As [`until`](Self::until), for tasks; see [`wait_async`](Self::wait_async).
    ///
    /// # Errors
    /// No case could happen.
    pub async fn until_async(self, deadline: Instant) -> Result<Selected<T>, Unready<T>> {
        let group = self.group;
        in_time(group.call_async(self.until_when(deadline)).await)
    }

    /// Does a case that is possible now, without waiting.
    ///
    /// # Errors
    /// No case can happen now.
    pub fn now(self) -> Result<Selected<T>, Unready<T>> {
        self.until(Instant::ZERO)
    }

    fn until_when(self, until: Instant) -> Choose<T> {
        Choose::new(Acts::Several(self.acts.into()), until)
    }
}

fn endless<T>(chosen: Chosen<T>) -> Selected<T> {
    in_time(chosen).unwrap_or_else(|_| unreachable!("a call without deadline ends with a case"))
}

fn in_time<T>(chosen: Chosen<T>) -> Result<Selected<T>, Unready<T>> {
    let Chosen { done, unsent } = chosen;
    match done {
        Some((case, outcome)) => Ok(Selected { case, outcome, unsent }),
        None => Err(Unready { unsent }),
    }
}

impl<T> fmt::Display for Unready<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("no channel was ready in time")
    }
}

impl<T: fmt::Debug> Error for Unready<T> {}

impl<T: Message, R: Runtime> fmt::Debug for Case<'_, T, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Case").field("side", &self.act.side()).finish_non_exhaustive()
    }
}

impl<T: Message, R: Runtime> fmt::Debug for Select<'_, T, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Select").field("cases", &self.acts.len()).finish_non_exhaustive()
    }
}
