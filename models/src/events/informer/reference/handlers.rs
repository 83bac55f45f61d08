//! The handlers of the plain informer.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;

use seatrial_core::cancel::CancelToken;
use seatrial_core::informer::feed::{
    Complete, End, Feed, Finish, Len, Next, Push, Told, WaitForSync,
};
use seatrial_core::informer::{Change, Handler, Handling, ObjectChange, Report};
use seatrial_core::monitor::Monitor;
use seatrial_core::runtime::{Ambient as _, Instant, Runtime};

use super::super::source::Object;
use super::{Changes, Inside, Plain, Stage};
use crate::engine::AnyRuntime;
use crate::events::fixtures::Mistakes;
use crate::shared::Lock;
use crate::trial::Join;

const SLOW: Duration = Duration::from_millis(100);
const MANY: usize = 1024;
const PAUSE: Duration = Duration::from_secs(1);

/// A handler.
pub(super) struct Member {
    pub(super) feed: Monitor<Feed<ObjectChange<Object>>, AnyRuntime>,
    pub(super) life: CancelToken<AnyRuntime>,
    ended: CancelToken<AnyRuntime>,
    thread: Lock<Option<Join<()>>>,
    mistakes: Mistakes,
    resync: Option<Lock<Due>>,
}

/// When a handler is next shown unchanged objects.
struct Due {
    period: Duration,
    last: Instant,
    is_due: bool,
}

/// A handler of an informer.
pub(in crate::events::informer) struct Registration {
    member: Arc<Member>,
    inside: Arc<Lock<Inside>>,
    /// The handler's position in the list of handlers when it was added.
    place: usize,
}

impl Member {
    fn makes(&self, mistake: &str) -> bool {
        self.mistakes.contains(&mistake)
    }

    fn runtime(&self) -> &AnyRuntime {
        self.life.runtime()
    }

    pub(super) fn is_due(&self, plain: &Plain) -> bool {
        self.resync.as_ref().is_some_and(|due| plain.runtime.lock(due).is_due)
    }

    /// Checks whether the handler's next resync is due.
    pub(super) fn look(&self, plain: &Plain, now: Instant) -> bool {
        let Some(due) = &self.resync else { return false };
        let check = plain.lock().resync;
        let mut due = plain.runtime.lock(due);
        due.is_due = now >= due.last + due.period.max(check) || self.makes("one_period_for_all");
        if due.is_due {
            due.last = now;
        }
        due.is_due
    }

    /// Waits until the handler's thread has ended.
    pub(super) fn join(&self) {
        self.ended.wait();
        let thread = self.runtime().lock(&self.thread).take();
        if let Some(thread) = thread {
            assert!(self.runtime().join(thread).is_ok(), "what a handler does is caught");
        }
    }

    /// Tells the handler of changes until the feed is over.
    fn deliver(&self, mut handler: impl Handler<Object>, handling: &Handling) {
        while let Ok(Told { change, initial }) = self.feed.call(Next) {
            let early = initial && self.makes("synced_when_it_is_told");
            if early {
                self.feed.call(Finish);
            }
            let began = self.runtime().now();
            let result = catch_unwind(AssertUnwindSafe(|| handler.handle(change)));
            let took = self.runtime().now().since(began);
            let waiting = if took >= SLOW { self.feed.call(Len) } else { 0 };
            let many = waiting > MANY && !self.makes("slow_is_not_reported");
            if many || (waiting > 0 && self.makes("everybody_is_slow")) {
                (handling.report)(Report::Slow { took, waiting });
            }
            if result.is_err() {
                if self.makes("panic_ends_the_handler") {
                    return;
                }
                self.survive(handling);
            }
            let seen = result.is_ok() || self.makes("panicked_is_seen");
            if initial && seen && !early {
                self.feed.call(Finish);
            }
        }
    }

    /// Handles a panic of the handler: reports it, and pauses.
    fn survive(&self, handling: &Handling) {
        if !self.makes("panic_is_not_reported") {
            (handling.report)(Report::Panicked { message: None });
        }
        let over = self.runtime().now() + PAUSE;
        if self.makes("pause_delays_the_end") {
            self.runtime().sleep_until(over);
        } else if !self.makes("no_pause_behind_a_panic") {
            self.life.wait_until(over);
        }
    }
}

/// Signals the end of a thread, whatever the cause.
struct Ended(CancelToken<AnyRuntime>);

impl Drop for Ended {
    fn drop(&mut self) {
        self.0.cancel();
    }
}

impl Plain {
    fn added(&self) -> Changes {
        let added =
            |object: &Object| Change::Added { object: Object::clone(object), initial: true };
        self.store.list().objects().map(added).collect()
    }

    /// Adds a handler, unless the informer has stopped.
    pub(in crate::events::informer) fn add(
        &self,
        handling: Handling,
        resync: Option<Duration>,
        handler: impl Handler<Object>,
    ) -> Option<Registration> {
        let early = self.makes("late_handlers_miss_changes").then(|| self.added());
        let mut inside = self.lock();
        if inside.stage == Stage::Stopped && !self.makes("stopped_takes_handlers") {
            return None;
        }
        if let Some(period) = resync.filter(|_| inside.stage == Stage::Created) {
            inside.resync = inside.resync.min(period);
        }
        let apart = self.makes("late_handlers_see_twice");
        let first = if apart { Vec::new() } else { early.unwrap_or_else(|| self.added()) };
        let synced = inside.has_synced && !apart;
        let member = Arc::new(self.member(first, synced, resync));
        let place = inside.members.len();
        inside.members.push(Arc::clone(&member));
        inside.crew.push(Arc::clone(&member));
        let (own, ended) = (Arc::clone(&member), Ended(member.ended.clone()));
        let thread = self.runtime.spawn(&handling.name.clone(), move || {
            let _ended = ended;
            own.deliver(handler, &handling);
        });
        *self.runtime.lock(&member.thread) = Some(thread);
        let has_synced = inside.has_synced;
        drop(inside);
        if apart {
            let told = self.added().into_iter().map(|change| Told { change, initial: true });
            drop(member.feed.call(Push(told.collect())));
            if has_synced {
                member.feed.call(Complete);
            }
        }
        Some(Registration { member, inside: Arc::clone(&self.inside), place })
    }

    fn member(&self, first: Changes, has_synced: bool, resync: Option<Duration>) -> Member {
        let due = |period| Due { period, last: self.runtime.now(), is_due: true };
        let apart = has_synced && self.makes("synced_before_the_first_is_told");
        let (begins, first) = if apart { (Vec::new(), first) } else { (first, Vec::new()) };
        let feed = Monitor::new(&self.runtime, Feed::new(begins, has_synced, usize::MAX));
        let told = first.into_iter().map(|change| Told { change, initial: true });
        drop(feed.call(Push(told.collect())));
        Member {
            feed,
            life: CancelToken::new(&self.runtime),
            ended: CancelToken::new(&self.runtime),
            thread: self.runtime.mutex(None),
            mistakes: self.mistakes,
            resync: resync.map(|period| self.runtime.mutex(due(period))),
        }
    }
}

impl Registration {
    pub(in crate::events::informer) fn wait_for_sync(&self) -> bool {
        if self.member.makes("synced_with_the_informer") {
            let has_synced = self.member.runtime().lock(&self.inside).has_synced;
            return has_synced || self.member.feed.call(WaitForSync);
        }
        self.member.feed.call(WaitForSync)
    }

    pub(in crate::events::informer) fn remove(&self) {
        let mut inside = self.member.runtime().lock(&self.inside);
        if !self.member.makes("removes_by_place") {
            inside.members.retain(|member| !Arc::ptr_eq(member, &self.member));
        } else if self.place < inside.members.len() {
            drop(inside.members.remove(self.place));
        }
        if self.member.makes("waits_for_removal_under_the_lock") {
            self.end();
            self.member.join();
        }
        drop(inside);
        self.end();
    }

    fn end(&self) {
        if !self.member.makes("removal_is_not_told") {
            drop(self.member.feed.call(End));
        }
        self.member.life.cancel();
    }

    pub(in crate::events::informer) fn remove_and_wait(&self) {
        self.remove();
        if !self.member.makes("removal_is_not_awaited") {
            self.member.join();
        }
    }
}
