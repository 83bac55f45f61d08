//! What a reconcile function answers, and how its failures are told.

use std::convert::Infallible;
use std::fmt;
use std::time::Duration;

use crate::metrics::GivenUp;
use crate::runtime::Panic;

/// What happens to an item that was processed without an error.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum Action {
    /// Nothing: its failures are forgotten.
    Done,
    /// It is processed again after a time; its failures are forgotten (`workqueue:CL-9`).
    RequeueAfter(Duration),
    /// It is processed again when the queue's limiter says so, later each time, as after a failure:
    /// for work that waits for somebody else. It counts as a retry
    /// ([`at_most`](super::Policy::at_most)).
    Requeue,
    /// It is processed again with this priority from now on: after a time as
    /// [`RequeueAfter`](Self::RequeueAfter), without one as [`Requeue`](Self::Requeue). A queue
    /// without priorities ignores the priority.
    Priority(i32, Option<Duration>),
}

/// An error, and whether it is worth another attempt. An error becomes one that is retried by
/// `into` or the operator `?`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum Fault<E> {
    /// The item is tried again when the queue's limiter says so, later each time.
    Retry(E),
    /// The item is tried again after this time, for example because the server said so. The failure
    /// counts.
    RetryAfter(E, Duration),
    /// The item is not tried again until somebody adds it: nothing that it depends on changes by
    /// itself, as with a wrong input. Its failures are forgotten.
    Terminal(E),
}

impl<E> From<E> for Fault<E> {
    fn from(error: E) -> Self {
        Self::Retry(error)
    }
}

/// What a function may return that [reconciles](super::Reconcile): nothing, an [`Action`], or a
/// result with either of them, whose error is retried. One that says more of its errors goes through
/// [`deciding`](super::deciding).
pub trait Answer {
    /// What goes wrong.
    type Error;

    /// Returns what is to become of the item.
    ///
    /// # Errors
    /// What went wrong.
    fn into_action(self) -> Result<Action, Fault<Self::Error>>;
}

impl Answer for () {
    type Error = Infallible;

    fn into_action(self) -> Result<Action, Fault<Infallible>> {
        Ok(Action::Done)
    }
}

impl Answer for Action {
    type Error = Infallible;

    fn into_action(self) -> Result<Action, Fault<Infallible>> {
        Ok(self)
    }
}

impl<E> Answer for Result<(), E> {
    type Error = E;

    fn into_action(self) -> Result<Action, Fault<E>> {
        Ok(self.map(|()| Action::Done)?)
    }
}

impl<E> Answer for Result<Action, E> {
    type Error = E;

    fn into_action(self) -> Result<Action, Fault<E>> {
        Ok(self?)
    }
}

/// Which attempt this is, for those who ask.
#[derive(Clone, Copy)]
pub struct Attempt<'a>(pub(super) &'a (dyn Fn() -> u32 + Send + Sync));

impl Attempt<'_> {
    /// Returns the number of the attempt: one, and one more for every failure and every
    /// [`Action::Requeue`] that the queue's limiter has counted since the item was last forgotten.
    #[must_use]
    pub fn number(&self) -> u32 {
        (self.0)().saturating_add(1)
    }
}

impl fmt::Debug for Attempt<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Attempt").field(&self.number()).finish()
    }
}

/// What went wrong in an attempt.
#[non_exhaustive]
pub enum Cause<E> {
    /// Processing returned an error.
    Error(E),
    /// Processing panicked, with this.
    Panic(Panic),
}

impl<E> Cause<E> {
    /// Returns what a panic says, if it says anything.
    pub fn panic_message(&self) -> Option<&str> {
        let Self::Panic(panic) = self else { return None };
        let text = panic.downcast_ref::<String>().map(String::as_str);
        text.or_else(|| panic.downcast_ref::<&str>().copied())
    }
}

impl<E: fmt::Debug> fmt::Debug for Cause<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Error(error) => f.debug_tuple("Error").field(error).finish(),
            Self::Panic(_) => f.debug_tuple("Panic").field(&self.panic_message()).finish(),
        }
    }
}

impl<E: fmt::Display> fmt::Display for Cause<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Error(error) => error.fmt(f),
            Self::Panic(_) => match self.panic_message() {
                Some(says) => write!(f, "panicked: {says}"),
                None => f.write_str("panicked"),
            },
        }
    }
}

/// What becomes of an item that failed.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum Fate {
    /// It is tried again when the queue's limiter says so.
    Retry,
    /// It is tried again after this time.
    RetryAfter(Duration),
    /// It is not tried again until somebody adds it.
    GivenUp(GivenUp),
}

impl fmt::Display for Fate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Retry => f.write_str("it is tried again"),
            Self::RetryAfter(delay) => write!(f, "it is tried again in {delay:?}"),
            Self::GivenUp(GivenUp::Terminal) => f.write_str("it is not tried again"),
            Self::GivenUp(GivenUp::TooOften) => f.write_str("it failed too often and is given up"),
        }
    }
}

/// An attempt that failed.
#[derive(Debug)]
#[non_exhaustive]
pub struct Failure<E> {
    /// What went wrong.
    pub cause: Cause<E>,
    /// Which [attempt](Attempt::number) it was.
    pub attempt: u32,
    /// What becomes of the item.
    pub fate: Fate,
}

impl<E: fmt::Display> fmt::Display for Failure<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "attempt {}: {}; {}", self.attempt, self.cause, self.fate)
    }
}
