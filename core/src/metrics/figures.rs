//! What is told of a queue with priorities, and of items that are given up.

use std::fmt;
use std::time::Duration;

/// What an entry is counted under. As text it is the value of the label `priority`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Label {
    /// Its priority.
    Priority(i32),
    /// One of too many to tell apart.
    Other,
}

impl fmt::Display for Label {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Priority(priority) => priority.fmt(f),
            Self::Other => f.write_str("exceeded_cardinality_limit"), // the reference's word
        }
    }
}

/// Where figures go: a metrics library of your choice. Called under the queue's lock, so it must
/// not call back (`workqueue:CV-6`). A panic is dropped: the call on the queue has happened,
/// and later figures are told.
pub trait Figures: Send + 'static {
    /// One more entry is ready under this label. Libraries without labels count it as it is.
    fn more(&mut self, label: Label);

    /// One entry less is ready under this label.
    fn less(&mut self, label: Label);

    /// An entry became ready.
    fn added(&mut self) {}

    /// An entry was handed out; it had been ready for so long.
    fn latency(&mut self, ready: Duration) {
        let _ = ready;
    }

    /// An item is done; it had been in processing for so long.
    fn work(&mut self, took: Duration) {
        let _ = took;
    }

    /// An item was given a delay.
    fn retried(&mut self) {}

    /// How long what is in processing has been there, summed up and at most (`workqueue:MX-10`).
    fn unfinished(&mut self, sum: Duration, longest: Duration) {
        let _ = (sum, longest);
    }
}

/// Why an item is not tried again.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum GivenUp {
    /// The error is one that another attempt would not mend.
    Terminal,
    /// It failed more often than [`at_most`](crate::pool::Policy::at_most) allows.
    TooOften,
}

impl GivenUp {
    /// Returns the reason in the words of metrics.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Terminal => "terminal",
            Self::TooOften => "too_often",
        }
    }
}
