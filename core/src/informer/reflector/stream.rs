//! The state of one stream, as a reflector has seen it.

use std::time::Duration;

use crate::runtime::Instant;

/// A stream that ends sooner than this is short; if it had no event either, it is useless
/// (`cache:RE-19`).
const VERY_SHORT: Duration = Duration::from_secs(1);

/// One stream, counted from before it was asked for (`cache:RE-17`).
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct Seen {
    began: Instant,
    events: u64,
    /// Whether versions of its events count. The objects that existed already come in no particular
    /// order, so theirs do not (`cache:RE-27`).
    ordered: bool,
}

impl Seen {
    pub(super) fn new(began: Instant, from: &str) -> Self {
        Self { began, events: 0, ordered: !matches!(from, "" | "0") }
    }

    /// Notes an event, and tells whether its version counts.
    pub(super) fn event(&mut self, is_added: bool) -> bool {
        self.events += 1;
        self.ordered |= !is_added;
        self.ordered
    }

    pub(super) fn was_very_short(&self, now: Instant) -> bool {
        self.events == 0 && self.was_short(now)
    }

    /// Tells whether it ended soon after it was asked for, with or without events.
    pub(super) fn was_short(&self, now: Instant) -> bool {
        now.since(self.began) < VERY_SHORT
    }
}

/// For how long internal errors of the server are answered by a retry at once (`cache:BO-6`).
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub(super) struct Patience {
    first: Option<Instant>,
    last: Option<Instant>,
}

/// After this time without an error, the next one counts as the first again.
const FORGET_AFTER: Duration = Duration::from_secs(60);

impl Patience {
    /// Notes an error; true if it is answered by a retry at once.
    pub(super) fn lasts(&mut self, now: Instant, limit: Duration) -> bool {
        if self.last.is_some_and(|last| now.since(last) >= FORGET_AFTER) {
            *self = Self::default();
        }
        let first = *self.first.get_or_insert(now);
        self.last = Some(now);
        let lasts = !limit.is_zero() && now.since(first) <= limit;
        if !lasts {
            *self = Self::default();
        }
        lasts
    }
}
