//! How calls on a queue can end.

use std::error::Error;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use crate::runtime::{Ambient, Instant};

/// The queue is closed and everything in it has been handed out (`cache:QU-2`, `QU-3`).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Closed;

impl fmt::Display for Closed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the queue is closed and empty")
    }
}

impl Error for Closed {}

/// The next step for an entry after it was processed.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum AfterPop {
    /// It is removed. This is the rule, whether processing succeeded or not (`cache:QU-8`).
    Forget,
    /// It goes back to the tail, unless its key has a newer entry (`cache:QU-9`). It is then
    /// processed after newer changes of other objects (`cache:QU-11`). This is for consumers that
    /// need the classic behaviour and accept its cost.
    Requeue,
}

/// Processing took long while others waited (`cache:QU-21`).
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct SlowProcessing {
    /// The key of the entry, or of the first entry in a batch.
    pub key: String,
    /// How many entries were left in the queue when it was taken.
    pub left: usize,
    /// How long it took.
    pub took: Duration,
}

/// A function that is told of slow processing, after the lock is released.
pub type SlowHook = Arc<dyn Fn(SlowProcessing) + Send + Sync>;

/// Slow processing is reported only if more entries than this are left.
const MANY_LEFT: usize = 10;
/// How long one entry may take.
const LIMIT_EACH: Duration = Duration::from_millis(100);
/// How long a batch may take, however large.
const LIMIT: Duration = Duration::from_secs(1);

/// Measures one call of `process`; reads the clock only if there is a hook.
pub(crate) struct Stopwatch {
    key: String,
    left: usize,
    limit: Duration,
    started: Instant,
}

impl Stopwatch {
    pub(crate) fn start(
        wanted: bool,
        ambient: &dyn Ambient,
        key: impl FnOnce() -> String,
        left: usize,
        entries: usize,
    ) -> Option<Self> {
        (wanted && left > MANY_LEFT).then(|| {
            let entries = u32::try_from(entries).unwrap_or(u32::MAX);
            let limit = LIMIT_EACH.saturating_mul(entries).min(LIMIT);
            Self { key: key(), left, limit, started: ambient.now() }
        })
    }

    pub(crate) fn stop(self, ambient: &dyn Ambient) -> Option<SlowProcessing> {
        let took = ambient.now().since(self.started);
        (took >= self.limit).then_some(SlowProcessing { key: self.key, left: self.left, took })
    }
}
