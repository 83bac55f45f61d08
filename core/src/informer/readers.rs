//! Readers of changes, and of unchanged objects shown again (`cache:SI-19` to `SI-30`).

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use crate::runtime::{Instant, Runtime};
use crate::store::{Described, Handle};

use super::change::{Change, ObjectChange};
use super::feed::{Shared, Told};

/// The shortest resync period; a shorter one is raised to it (`cache:SI-24`).
const LEAST_RESYNC: Duration = Duration::from_secs(1);

/// The changes that a subscriber wants.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Wants {
    /// How often to be shown unchanged objects again, at most; `None` for never.
    pub(super) resync: Option<Duration>,
    /// How many changes may wait, beyond the first list.
    pub(super) limit: usize,
}

impl Default for Wants {
    fn default() -> Self {
        Self { resync: None, limit: usize::MAX }
    }
}

impl Wants {
    /// Asks for unchanged objects as well, as often as the informer shows them.
    #[must_use]
    pub fn resyncs(self) -> Self {
        self.resync_every(Duration::ZERO)
    }

    /// Asks to be shown unchanged objects again after this period. It is never shorter than the
    /// informer's own period, and an informer with a period of zero shows nothing again.
    /// Subscribing before the informer runs can shorten the informer's period.
    #[must_use]
    pub fn resync_every(mut self, period: Duration) -> Self {
        self.resync = Some(period);
        self
    }

    /// Limits how many changes may wait, not counting those of the first list. One change more ends
    /// the subscription ([`FeedError::Lagged`](super::FeedError::Lagged)). By default there is no limit, so a
    /// reader that stalls uses memory without limit.
    #[must_use]
    pub fn limit(mut self, limit: usize) -> Self {
        self.limit = limit;
        self
    }
}

/// The readers, and how far the informer is. Its lock is held while the store is changed, so a new
/// subscriber sees the store either before a change, or after it and is then not told the change.
pub(super) struct Readers<O: Handle + Described, R: Runtime> {
    pub(super) feeds: Vec<Reader<O, R>>,
    pub(super) stage: Stage,
    /// The first list is in the store and was told.
    pub(super) has_synced: bool,
    /// How often readers are checked for a due resync; zero for never.
    pub(super) check: Duration,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Stage {
    Created,
    Started,
    Stopped,
}

pub(super) struct Reader<O: Handle + Described, R: Runtime> {
    pub(super) feed: Shared<ObjectChange<O>, R>,
    resync: Option<Resync>,
}

/// When unchanged objects are shown again to a reader.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Resync {
    /// Zero means whenever the informer shows them.
    period: Duration,
    last: Instant,
    /// It was due at the last check.
    is_due: bool,
}

impl<O: Handle + Described, R: Runtime> Readers<O, R> {
    pub(super) fn new(check: Duration) -> Self {
        let check = if check.is_zero() { check } else { check.max(LEAST_RESYNC) };
        Self { feeds: Vec::new(), stage: Stage::Created, has_synced: false, check }
    }

    /// Adds a reader. If it wants a shorter period than the informer's, the informer uses that,
    /// unless it runs already (`cache:SI-25`).
    pub(super) fn add(&mut self, feed: Shared<ObjectChange<O>, R>, wants: Wants, now: Instant) {
        let raised = |period: Duration| {
            if period.is_zero() { period } else { period.max(LEAST_RESYNC) }
        };
        let period = wants.resync.map(raised);
        if self.stage == Stage::Created
            && let Some(period) = period.filter(|period| !period.is_zero())
        {
            self.check = self.check.min(period);
        }
        // A new reader counts as due until the first check (`cache:SI-29`). A reader without resync
        // never sees repeats; the reference shows them until the first check.
        let resync = period.map(|period| Resync { period, last: now, is_due: true });
        self.feeds.push(Reader { feed, resync });
    }

    /// Marks the readers that are due, and tells whether there are any (`cache:SI-28`).
    pub(super) fn resync_due(&mut self, now: Instant) -> bool {
        self.forget_those_gone();
        let check = self.check;
        for resync in self.feeds.iter_mut().filter_map(|reader| reader.resync.as_mut()) {
            resync.is_due = now >= resync.last + resync.period.max(check);
            if resync.is_due {
                resync.last = now;
            }
        }
        self.feeds.iter().any(|reader| reader.resync.is_some_and(|it| it.is_due))
    }

    /// Forgets feeds whose subscription and progress handles are all dropped.
    pub(super) fn forget_those_gone(&mut self) {
        self.feeds.retain(|reader| Arc::strong_count(&reader.feed) > 1);
    }
}

/// Makes a hook for the end of a resync period: true if a reader is due and the user agrees.
pub(super) fn resync_if_due<O: Handle + Described, R: Runtime>(
    runtime: &R,
    readers: &Arc<R::Mutex<Readers<O, R>>>,
    agrees: Arc<dyn Fn() -> bool + Send + Sync>,
) -> Arc<dyn Fn() -> bool + Send + Sync> {
    let (runtime, readers) = (runtime.clone(), Arc::clone(readers));
    Arc::new(move || {
        let now = runtime.now();
        let is_due = runtime.lock(&readers).resync_due(now);
        is_due && agrees()
    })
}

impl<O: Handle + Described, R: Runtime> Reader<O, R> {
    /// Tells whether the reader is shown unchanged objects again.
    fn shows_all(&self) -> bool {
        self.resync.is_some_and(|resync| resync.is_due)
    }

    /// Selects the changes that the reader is told. Unchanged objects are shown only when it is due
    /// (`cache:SI-20` to `SI-23`).
    pub(super) fn wanted(&self, told: &[Told<ObjectChange<O>>]) -> VecDeque<Told<ObjectChange<O>>> {
        let shows_all = self.shows_all();
        told.iter().filter(|told| shows_all || !is_same(&told.change)).cloned().collect()
    }
}

/// Returns a test for the changes of a list that readers need. Unchanged objects are kept only if a
/// reader is due to see them again.
pub(super) fn is_wanted<O: Handle + Described, R: Runtime>(
    readers: &[Reader<O, R>],
) -> impl Fn(&ObjectChange<O>) -> bool + use<O, R> {
    let (any, shows_all) = (!readers.is_empty(), readers.iter().any(Reader::shows_all));
    move |change| any && (shows_all || !is_same(change))
}

impl<O: Handle + Described, R: Runtime> Clone for Reader<O, R> {
    fn clone(&self) -> Self {
        Self { feed: Arc::clone(&self.feed), resync: self.resync }
    }
}

/// Marks whether a change belongs to the first list: only additions do.
pub(super) fn mark<O>(change: ObjectChange<O>, initial: bool) -> Told<ObjectChange<O>> {
    let initial = initial && matches!(change, Change::Added { .. });
    Told { change, initial }
}

/// Two states with the same uid and version are the same state. Without a version that cannot be
/// told, except of a state that is shown again: it is the same object in memory (`cache:SI-23`).
fn is_same<O: Described>(change: &ObjectChange<O>) -> bool {
    let Change::Updated { old, new } = change else { return false };
    old.metadata().zip(new.metadata()).is_some_and(|(old, new)| {
        let has_version = !new.resource_version.is_empty();
        (old.resource_version, old.uid) == (new.resource_version, new.uid)
            && (has_version || std::ptr::eq(old.name, new.name))
    })
}
