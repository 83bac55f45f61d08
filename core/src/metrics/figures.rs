//! Metrics of a queue with priorities, and reasons for giving up items.

use std::fmt;
use std::time::Duration;

/// The label under which an entry is counted. As text it is the value of the label `priority`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Label {
    /// Its priority.
    Priority(i32),
    /// Any of the priorities beyond the limit of labels.
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

/// The receiver of metrics: a library of your choice. It is called under the queue's lock, so it
/// must not call back (`workqueue:CV-6`). Its panics are dropped: the call on the queue succeeds,
/// and later metrics are reported.
pub trait Figures: Send + 'static {
    /// One more entry is ready under this label. Libraries without labels count all entries
    /// together.
    fn more(&mut self, label: Label);

    /// One entry less is ready under this label.
    fn less(&mut self, label: Label);

    /// An entry became ready.
    fn added(&mut self) {}

    /// An entry was handed out; it had been ready for this time.
    fn latency(&mut self, ready: Duration) {
        let _ = ready;
    }

    /// An item is done; it had been in processing for this time.
    fn work(&mut self, took: Duration) {
        let _ = took;
    }

    /// An item was given a delay.
    fn retried(&mut self) {}

    /// How long the items in processing have been there: the sum, and the longest time
    /// (`workqueue:MX-10`).
    fn unfinished(&mut self, sum: Duration, longest: Duration) {
        let _ = (sum, longest);
    }
}

/// Why an item is not tried again.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum GivenUp {
    /// The error cannot be cured by another attempt.
    Terminal,
    /// It failed more often than [`at_most`](crate::pool::Policy::at_most) allows.
    TooOften,
}

impl GivenUp {
    /// Returns the value of the metrics label `reason`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Terminal => "terminal",
            Self::TooOften => "too_often",
        }
    }
}
