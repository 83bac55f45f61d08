//! Readers of changes, and of unchanged objects shown again (`cache:SI-19` to `SI-30`).

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use crate::runtime::{Instant, Runtime};
use crate::store::{Described, Handle};

use super::apply::Change;
use super::feed::{Shared, Told};
use super::shared::ObjectChange;

/// Less than this between two resyncs is raised to it (`cache:SI-24`).
const LEAST_RESYNC: Duration = Duration::from_secs(1);

/// What a subscriber wants.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Wants {
    /// After how long to be shown again, at the soonest, what has not changed.
    pub(super) resync: Option<Duration>,
    /// How many changes may wait.
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

    /// Asks for what has not changed, too, after a period of its own: not sooner than the informer does
    /// that for anybody, and one whose period is zero does it for nobody. One that subscribes before
    /// the informer runs can make the informer's period shorter.
    #[must_use]
    pub fn resync_every(mut self, period: Duration) -> Self {
        self.resync = Some(period);
        self
    }

    /// Limits how many changes may wait, not counting those of the first list; with one more the
    /// subscription is over ([`Over::Lagged`](super::Over::Lagged)). By default there is no limit,
    /// and then none on the memory of a reader that stalls.
    #[must_use]
    pub fn limit(mut self, limit: usize) -> Self {
        self.limit = limit;
        self
    }
}

/// Who is told, and how far the informer is. Its lock is held while the store is changed, so that
/// who subscribes sees either the store before a change, or after it and not the change.
pub(super) struct Readers<O: Handle + Described, R: Runtime> {
    pub(super) feeds: Vec<Reader<O, R>>,
    pub(super) stage: Stage,
    /// The first list is in the store and was told.
    pub(super) has_synced: bool,
    /// How often readers are checked for being due; zero for never.
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
    /// Zero for as often as the informer shows it.
    period: Duration,
    last: Instant,
    /// It was due when that was last looked at.
    is_due: bool,
}

impl<O: Handle + Described, R: Runtime> Readers<O, R> {
    pub(super) fn new(check: Duration) -> Self {
        let check = if check.is_zero() { check } else { check.max(LEAST_RESYNC) };
        Self { feeds: Vec::new(), stage: Stage::Created, has_synced: false, check }
    }

    /// Adds a reader. One that wants a shorter period than the informer's gets it, unless that runs
    /// already (`cache:SI-25`).
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
        // As yet it was not shown anything twice, so it may be (`cache:SI-29`). Who does not want
        // to see the same again never does, where the reference shows it until the first check.
        let resync = period.map(|period| Resync { period, last: now, is_due: true });
        self.feeds.push(Reader { feed, resync });
    }

    /// Marks the readers that are due, and tells whether there is one (`cache:SI-28`).
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

    /// Forgets feeds that nobody reads, and nobody asks about, any more.
    pub(super) fn forget_those_gone(&mut self) {
        self.feeds.retain(|reader| Arc::strong_count(&reader.feed) > 1);
    }
}

/// Asks, when the reflector's period is over, whether anybody is due and the user agrees.
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

    /// The changes that the reader is told: unchanged objects are shown again only on request
    /// (`cache:SI-20` to `SI-23`).
    pub(super) fn wanted(&self, told: &[Told<ObjectChange<O>>]) -> VecDeque<Told<ObjectChange<O>>> {
        let shows_all = self.shows_all();
        told.iter().filter(|told| shows_all || !is_same(&told.change)).cloned().collect()
    }
}

/// Says which changes of a list are kept for readers. Where nothing is new nothing is, unless a reader is
/// to see it again.
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

/// Whether a change counts for the first list: only what is new in it does.
pub(super) fn mark<O>(change: ObjectChange<O>, initial: bool) -> Told<ObjectChange<O>> {
    let initial = initial && matches!(change, Change::Added { .. });
    Told { change, initial }
}

/// Two states of one object with one version are the same state.
fn is_same<O: Described>(change: &ObjectChange<O>) -> bool {
    let Change::Updated { old, new } = change else { return false };
    old.metadata().zip(new.metadata()).is_some_and(|(old, new)| {
        (old.resource_version, old.uid) == (new.resource_version, new.uid)
    })
}
