//! A second implementation of the candidate, for mistakes that are made inside it.

use std::sync::Arc;
use std::task::Wake;
use std::time::Duration;

use seatrial_core::elector::candidate::{CandidateSpec, RENEW_EVERY, Seen, WatchCandidate};
use seatrial_core::elector::{Object, ObjectName, StoreError, Timestamp, Version};
use seatrial_core::limited_queue::{LimitedQueue, Outcome};
use seatrial_core::runtime::{Ambient as _, Runtime};

use super::server::{NAME, Serve};
use super::stage::{Stage, itself};
use crate::engine::AnyRuntime;
use crate::shared::{Lock, Mistake};

struct Plain {
    stage: Stage,
    mistake: Mistake,
    shown: Lock<Option<Object<CandidateSpec>>>,
    queue: LimitedQueue<(), AnyRuntime>,
}

/// Runs the candidate until the token of its stage ends.
pub(super) fn run(stage: &Stage, mistake: Mistake) {
    let runtime = stage.world.runtime();
    let queue = LimitedQueue::with_default_limiter(runtime);
    let plain =
        Arc::new(Plain { stage: stage.clone(), mistake, shown: runtime.mutex(None), queue });
    let watched = {
        let plain = Arc::clone(&plain);
        let seen: Seen = Arc::new(move |object| plain.see(object));
        stage.watch(&ObjectName::new(NAME.0, NAME.1), seen, &stage.token)
    };
    if watched.is_none() {
        if plain.mistake == "runs_though_ended" {
            let _written = plain.ensure();
        }
        return;
    }
    let end = (plain.mistake != "ends_late")
        .then(|| stage.token.on_end(Arc::new(EndWork(Arc::clone(&plain))).into()));
    plain.queue.add(());
    if plain.mistake == "leaves_its_worker" {
        let worker = Arc::clone(&plain);
        drop(stage.world.spawn("worker", move || worker.queue.work(|()| worker.work())));
        stage.token.wait();
    } else {
        plain.queue.work(|()| plain.work());
    }
    drop(end);
    if plain.mistake == "leaves_its_watch" {
        std::mem::forget(watched);
    }
}

impl Plain {
    fn see(&self, object: Option<Object<CandidateSpec>>) {
        if object.is_none() && self.mistake == "keeps_the_deleted" {
            return;
        }
        let pinged = object.as_ref().is_some_and(|object| self.is_pinged(&object.content));
        *self.stage.world.runtime().lock(&self.shown) = object;
        if pinged && self.mistake != "ignores_pings" {
            self.queue.add(());
        }
    }

    fn is_pinged(&self, spec: &CandidateSpec) -> bool {
        match (spec.ping_time, spec.renew_time) {
            (Some(_), None) if self.mistake == "needs_a_renew_time" => {
                panic!("there is no renew time")
            }
            (Some(ping), renewed) => renewed.is_none_or(|renewed| renewed < ping),
            (None, _) => false,
        }
    }

    fn work(&self) -> Outcome {
        if self.mistake == "ends_late" && self.stage.token.is_cancelled() {
            self.queue.shut_down();
            return Outcome::Success;
        }
        let again = if self.mistake == "renews_late" { RENEW_EVERY * 2 } else { RENEW_EVERY };
        match self.ensure() {
            Ok(()) => {
                if self.mistake != "renews_once" {
                    self.queue.add_after((), again);
                }
                Outcome::Success
            }
            Err(_) if self.mistake == "gives_up" => Outcome::GiveUp,
            Err(_) if self.mistake == "retries_at_once" => Outcome::RequeueAfter(Duration::ZERO),
            Err(_) => Outcome::Retry,
        }
    }

    fn ensure(&self) -> Result<(), StoreError> {
        let runtime = self.stage.world.runtime();
        let renew_time = Some(Timestamp::from(runtime.wall()));
        let mut shown = runtime.lock(&self.shown);
        let serve = match &mut *shown {
            Some(Object { meta, content, .. }) if self.mistake != "always_creates" => {
                let renewed = self.renewed(content, renew_time);
                if self.mistake == "changes_what_it_was_shown" {
                    content.clone_from(&renewed);
                }
                let Version::Number(seen) = meta.version else { return Err(StoreError::Conflict) };
                Serve::Update(renewed, seen)
            }
            _ if self.mistake == "creates_without_a_time" => Serve::Create(itself()),
            _ => Serve::Create(itself().renew_time(renew_time)),
        };
        drop(shown);
        self.stage.server.call(serve).map(drop)
    }

    fn renewed(&self, shown: &CandidateSpec, now: Option<Timestamp>) -> CandidateSpec {
        let mut spec = shown.clone().renew_time(now);
        match self.mistake {
            "clears_the_ping" => spec.ping_time = None,
            "clears_the_answered_ping" if !self.is_pinged(shown) => spec.ping_time = None,
            "keeps_the_renew_time" => spec.renew_time = shown.renew_time,
            "forgets_itself" => spec.emulation_version = CandidateSpec::default().lease,
            _ => {}
        }
        spec
    }
}

/// Ends the worker when the token ends.
struct EndWork(Arc<Plain>);

impl Wake for EndWork {
    fn wake(self: Arc<Self>) {
        self.0.queue.shut_down();
    }
}
