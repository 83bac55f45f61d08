//! The answers of a reconcile function, and how its failures are reported.

use std::convert::Infallible;
use std::fmt;
use std::time::Duration;

use crate::metrics::GivenUp;
use crate::runtime::Panic;

/// The next step for an item that was processed without an error.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum Action {
    /// Nothing more is to be done. Its failures are forgotten.
    Done,
    /// It is processed again after a time; its failures are forgotten (`workqueue:CL-9`). Zero
    /// means at once, behind the items that are ready; in a priority queue behind those of its
    /// priority.
    RequeueAfter(Duration),
    /// It is processed again when the queue's limiter says so, later each time, as after a failure.
    /// Use it for work that waits for another party. It counts as a retry
    /// (see [`at_most`](super::Policy::at_most)).
    Requeue,
    /// It is processed again, and has this priority from now on. With a time it comes back as for
    /// [`RequeueAfter`](Self::RequeueAfter), without one as for [`Requeue`](Self::Requeue). A queue
    /// without priorities ignores the priority.
    Priority(i32, Option<Duration>),
}

/// An error, and whether another attempt is worthwhile. `into` and the operator `?` turn any error
/// into [`Retry`](Self::Retry).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum Fault<E> {
    /// The item is tried again when the queue's limiter says so, later each time.
    Retry(E),
    /// The item is tried again after this time, for example because the server said so. The failure
    /// counts.
    RetryAfter(E, Duration),
    /// The item is not tried again until somebody adds it. Use it where a retry cannot help, as
    /// with a wrong input. Its failures are forgotten.
    Terminal(E),
}

impl<E> From<E> for Fault<E> {
    fn from(error: E) -> Self {
        Self::Retry(error)
    }
}

/// The types that a [reconcile](super::Reconcile) function may return: nothing, an [`Action`], or a
/// result with either of them. After an error the item is retried. If your function decides which
/// errors to retry, wrap it in [`deciding`](super::deciding).
pub trait Answer {
    /// The type of error.
    type Error;

    /// Returns the action that the item asks for.
    ///
    /// # Errors
    /// The error of the attempt.
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

/// The number of the attempt, computed only if you ask for it.
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

/// Why an attempt failed.
#[non_exhaustive]
pub enum Cause<E> {
    /// Processing returned this error.
    Error(E),
    /// Processing panicked with this value.
    Panic(Panic),
}

impl<E> Cause<E> {
    /// Returns the message of a panic, if it has one.
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

/// The next step for an item that failed.
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
    /// Why it failed.
    pub cause: Cause<E>,
    /// Which [attempt](Attempt::number) it was.
    pub attempt: u32,
    /// The next step for the item.
    pub fate: Fate,
}

impl<E: fmt::Display> fmt::Display for Failure<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "attempt {}: {}; {}", self.attempt, self.cause, self.fate)
    }
}
