//! A straightforward first version of a registry: a table of members and their threads under one
//! lock. Its mistakes can be switched on.

use std::collections::BTreeMap;
use std::panic::resume_unwind;
use std::sync::Arc;

use seatrial_core::cancel::CancelToken;
use seatrial_core::informer::Runs as _;
use seatrial_core::runtime::{Instant, Runtime};

use super::member::Member;
use crate::engine::AnyRuntime;
use crate::events::fixtures::Mistakes;
use crate::shared::Lock;
use crate::trial::Join;

type Shared = Arc<Member>;

/// The straightforward registry.
pub(super) struct Reference {
    runtime: AnyRuntime,
    mistakes: Mistakes,
    life: CancelToken<AnyRuntime>,
    inside: Lock<Inside>,
}

struct Inside {
    entries: BTreeMap<String, Entry>,
    /// The ends of runs that are being stopped.
    leaving: Vec<CancelToken<AnyRuntime>>,
    has_started: bool,
    is_over: bool,
}

struct Entry {
    member: Shared,
    life: CancelToken<AnyRuntime>,
    running: Option<(CancelToken<AnyRuntime>, Join<()>)>,
}

/// Signals the end of a run, whatever the cause.
struct Ended(CancelToken<AnyRuntime>);

impl Drop for Ended {
    fn drop(&mut self) {
        self.0.cancel();
    }
}

impl Reference {
    pub(super) fn new(runtime: &AnyRuntime, mistakes: Mistakes) -> Self {
        let (entries, leaving) = (BTreeMap::new(), Vec::new());
        let inside = Inside { entries, leaving, has_started: false, is_over: false };
        let (life, inside) = (CancelToken::new(runtime), runtime.mutex(inside));
        Self { runtime: runtime.clone(), mistakes, life, inside }
    }

    fn makes(&self, mistake: &str) -> bool {
        self.mistakes.contains(&mistake)
    }

    fn lock(&self) -> <AnyRuntime as Runtime>::Guard<'_, Inside> {
        self.runtime.lock(&self.inside)
    }

    pub(super) fn get(&self, name: &str) -> Option<Shared> {
        self.lock().entries.get(name).map(|entry| Arc::clone(&entry.member))
    }

    /// Returns the member with a name, unless the registry is over.
    pub(super) fn get_or_make(&self, name: &str, make: impl FnOnce() -> Member) -> Option<Shared> {
        if let Some(member) = self.get(name) {
            return Some(member);
        }
        let (made, mut inside) = if self.makes("makes_under_the_lock") {
            let inside = self.lock();
            (Arc::new(make()), inside)
        } else {
            (Arc::new(make()), self.lock())
        };
        if inside.is_over && !self.makes("takes_more_behind_the_end") {
            return None;
        }
        if let Some(entry) = inside.entries.get(name).filter(|_| !self.makes("two_of_a_kind")) {
            return Some(Arc::clone(&entry.member));
        }
        let (member, life) = (Arc::clone(&made), self.life.child());
        inside.entries.insert(name.to_owned(), Entry { member, life, running: None });
        Some(made)
    }

    pub(super) fn start(&self) {
        let mut inside = self.lock();
        let late = std::mem::replace(&mut inside.has_started, true) && self.makes("starts_once");
        if late || inside.is_over && !self.makes("takes_more_behind_the_end") {
            return;
        }
        let again = self.makes("starts_all_again");
        for entry in inside.entries.values_mut().filter(|it| again || it.running.is_none()) {
            entry.running = Some(self.run(entry));
            if self.makes("starts_one") {
                return;
            }
        }
    }

    fn run(&self, entry: &Entry) -> (CancelToken<AnyRuntime>, Join<()>) {
        let (member, life) = (Arc::clone(&entry.member), entry.life.clone());
        let ended = CancelToken::new(&self.runtime);
        let (end, by_last_line) = (ended.clone(), self.makes("end_is_not_told_by_a_panic"));
        let thread = self.runtime.spawn("member", move || {
            if by_last_line {
                member.run(&life);
                end.cancel();
                return;
            }
            let _ended = Ended(end);
            let member = member;
            member.run(&life);
        });
        (ended, thread)
    }

    pub(super) async fn wait_for_sync(&self, until: Instant) -> Result<(), Vec<String>> {
        let mut all: Vec<_> = {
            let inside = self.lock();
            let of = |(name, it): (&String, &Entry)| (name.clone(), Arc::clone(&it.member));
            inside.entries.iter().map(of).collect()
        };
        if self.makes("synced_when_one_is") {
            all.truncate(1);
        }
        let mut late = Vec::new();
        for (name, member) in all {
            let until = if self.makes("sync_is_not_awaited") { Instant::ZERO } else { until };
            let synced = member.wait_for_sync_async(until).await;
            if self.makes("sync_wakes_nobody") && !synced {
                self.life.wait_async().await;
            }
            if !synced || self.makes("all_are_late") && !late.is_empty() {
                late.push(format!("{name} (member)"));
            }
        }
        if late.is_empty() { Ok(()) } else { Err(late) }
    }

    pub(super) async fn remove(&self, name: &str) -> bool {
        let entry = {
            let mut inside = self.lock();
            let entry = inside.entries.remove(name);
            if !self.makes("removal_is_nobodys_affair") {
                inside.take_leave(entry.iter());
            }
            entry
        };
        let found = entry.is_some();
        self.stop(entry.into_iter().collect(), !self.makes("removal_is_not_awaited")).await;
        found
    }

    pub(super) async fn shut_down(&self) {
        if self.makes("joins_under_the_lock") {
            let mut inside = self.lock();
            inside.is_over = true;
            self.life.cancel();
            for entry in std::mem::take(&mut inside.entries).into_values() {
                self.join(entry);
            }
            return;
        }
        let (entries, leaving) = {
            let mut inside = self.lock();
            inside.is_over = true;
            let (entries, leaving) = (std::mem::take(&mut inside.entries), inside.leaving.clone());
            if !self.makes("one_shut_down_waits") {
                inside.take_leave(entries.values());
            }
            (entries, leaving)
        };
        self.life.cancel();
        for ended in leaving {
            ended.wait_async().await;
        }
        self.stop(entries.into_values().collect(), !self.makes("shut_down_is_not_awaited")).await;
    }

    async fn stop(&self, entries: Vec<Entry>, waits: bool) {
        entries.iter().for_each(|entry| entry.life.cancel());
        if !waits {
            return;
        }
        for (ended, _) in entries.iter().filter_map(|entry| entry.running.as_ref()) {
            if !self.makes("panics_go_on_at_once") {
                ended.wait_async().await;
            }
        }
        entries.into_iter().for_each(|entry| self.join(entry));
    }

    fn join(&self, entry: Entry) {
        let thread = entry.running.map(|(_, thread)| thread);
        if let Some(Err(panic)) = thread.map(|thread| self.runtime.join(thread))
            && !self.makes("panics_are_lost")
        {
            resume_unwind(panic);
        }
    }
}

impl Inside {
    fn take_leave<'a>(&mut self, entries: impl Iterator<Item = &'a Entry>) {
        let running = entries.filter_map(|entry| entry.running.as_ref());
        self.leaving.extend(running.map(|(ended, _)| ended.clone()));
    }
}

impl Drop for Reference {
    fn drop(&mut self) {
        if !self.makes("dropped_goes_on") {
            self.life.cancel();
        }
    }
}
