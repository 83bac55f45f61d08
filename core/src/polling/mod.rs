//! Waiting between attempts: back-off steps, loops with a period, polls (apimachinery
//! `util/wait`).
//!
//! | task | function or type |
//! |---|---|
//! | compute growing delays | [`Backoff`], and the [`Delays`] made from it |
//! | run something again and again | [`backoff_until`], [`jitter_until`], [`until`], [`forever`] |
//! | try something until it works, a number of times | [`retry`] |
//! | try something until it works, as long as a token lives | [`poll_until`] |
//! | the same, with a time limit and at a fixed rate | [`poll_with_timeout`] |
//! | the reference's older polls | [`poll_immediate_until`], [`poll_for`] |
//!
//! All of them run on the calling thread and sleep on its token. They leave nothing running when
//! they return, or when the function that they run panics; its panic goes on to the caller
//! (`workqueue:WT-19`, `WT-26`, `election:ENV-8`).
//!
//! ```
//! use std::ops::ControlFlow;
//! use std::time::Duration;
//! use seatrial_core::cancel::CancelToken;
//! use seatrial_core::polling::{Backoff, retry};
//! use seatrial_core::runtime::System;
//!
//! let backoff = Backoff { factor: 2.0, steps: 5, ..Backoff::new(Duration::from_millis(1)) };
//! let mut attempts = 0;
//! let answer = retry(backoff, &CancelToken::new(&System::new()), || {
//!     attempts += 1;
//!     if attempts < 3 { ControlFlow::Continue(()) } else { ControlFlow::Break("worked") }
//! });
//! assert_eq!(answer, Ok("worked"));
//! ```

mod backoff;
mod delays;
mod poll;
mod ticker;
mod until;

#[cfg(test)]
mod tests;

use std::error::Error;
use std::fmt;

use crate::cancel::Reason;

pub use backoff::{Backoff, jitter};
pub use delays::{Delays, ExponentialDelays, Jittered, Resetting, Stepping};
pub use poll::{poll_for, poll_immediate_until, poll_until, poll_with_timeout, retry};
pub use until::{backoff_until, forever, jitter_until, non_sliding_until, until};

/// Why the attempts ended without a result (`workqueue:WT-27`).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum Interrupted {
    /// No attempts were left, or the time of a poll without its own token was over.
    TimedOut,
    /// The token ended.
    Ended(Reason),
}

impl fmt::Display for Interrupted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TimedOut => f.write_str("timed out"),
            Self::Ended(reason) => fmt::Display::fmt(reason, f),
        }
    }
}

impl Error for Interrupted {}

impl From<Reason> for Interrupted {
    fn from(reason: Reason) -> Self {
        Self::Ended(reason)
    }
}
