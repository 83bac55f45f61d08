//! How an item is added, and how long it waits.

use std::time::Duration;

use crate::limiter::{Item, Limiter};
use crate::runtime::Instant;

/// How an item is added.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct AddOptions {
    /// How long it waits before it is ready. If a limiter is asked as well, the shorter delay
    /// counts (`workqueue:PQ-6`).
    pub after: Option<Duration>,
    /// Whether it failed, so that the limiter decides how long it waits.
    pub rate_limited: bool,
    /// Larger priorities come first.
    pub priority: i32,
}

impl AddOptions {
    /// Tells whether an item may have to wait.
    pub(super) fn may_delay(&self) -> bool {
        self.after.is_some() || self.rate_limited
    }
}

/// Returns how long an item waits. It is computed again for every item: the limiter's delay for one
/// must not be used for the next one in a batch (`workqueue:PQ-6`).
#[inline]
pub(super) fn delay<K, L: Limiter<K>>(
    limiter: &mut L,
    item: Item<'_, K>,
    options: &AddOptions,
    now: Instant,
) -> Duration {
    let limited = options.rate_limited.then(|| limiter.when(item, now));
    match (options.after, limited) {
        (Some(after), Some(limited)) => after.min(limited),
        (after, limited) => after.or(limited).unwrap_or_default(),
    }
}
