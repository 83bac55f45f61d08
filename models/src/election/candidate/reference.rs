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
use crate::shared::Lock;
use crate::trial::mistakes;

mistakes! {
    /// One changed line.
    pub enum Mistake {
        // Mistakes of the reference, past or present.
        /// A renewal takes the ping away.
        ClearsThePing,
        /// The worker is told to end, and the candidate does not wait for it.
        LeavesItsWorker,
        /// A pinged object without a renew time breaks it down.
        NeedsARenewTime,

        // Mistakes that any programmer may make.
        /// A renewal takes away a ping that was answered.
        ClearsTheAnsweredPing,
        /// The watch goes on after the candidate has returned.
        LeavesItsWatch,
        /// The object is created without a renew time.
        CreatesWithoutATime,
        /// A renewal keeps the time of the one before.
        KeepsTheRenewTime,
        /// The deletion of its object is not noted.
        KeepsTheDeleted,
        /// Pings are not looked at.
        IgnoresPings,
        /// It renews once.
        RenewsOnce,
        /// It renews every ten minutes.
        RenewsLate,
        /// A failed write is not tried again.
        GivesUp,
        /// A failed write is tried again at once.
        RetriesAtOnce,
        /// A renewal does not say which candidate renews.
        ForgetsItself,
        /// The candidate creates the object even if it exists.
        AlwaysCreates,
        /// It publishes itself though its token has ended.
        RunsThoughEnded,
        /// The token is checked only between two renewals.
        EndsLate,
        /// The object that the watch has shown is changed in place.
        ChangesWhatItWasShown,
    }
}

use Mistake::*;

struct Plain {
    stage: Stage,
    mistake: Option<Mistake>,
    shown: Lock<Option<Object<CandidateSpec>>>,
    queue: LimitedQueue<(), AnyRuntime>,
}

/// Runs the candidate until the token of its stage ends.
pub(super) fn run(stage: &Stage, mistake: Option<Mistake>) {
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
        if plain.makes(RunsThoughEnded) {
            let _written = plain.ensure();
        }
        return;
    }
    let end = (!plain.makes(EndsLate))
        .then(|| stage.token.on_end(Arc::new(EndWork(Arc::clone(&plain))).into()));
    plain.queue.add(());
    if plain.makes(LeavesItsWorker) {
        let worker = Arc::clone(&plain);
        drop(stage.world.spawn("worker", move || worker.queue.work(|()| worker.work())));
        stage.token.wait();
    } else {
        plain.queue.work(|()| plain.work());
    }
    drop(end);
    if plain.makes(LeavesItsWatch) {
        std::mem::forget(watched);
    }
}

impl Plain {
    fn makes(&self, mistake: Mistake) -> bool {
        self.mistake == Some(mistake)
    }

    fn see(&self, object: Option<Object<CandidateSpec>>) {
        if object.is_none() && self.makes(KeepsTheDeleted) {
            return;
        }
        let pinged = object.as_ref().is_some_and(|object| self.is_pinged(&object.content));
        *self.stage.world.runtime().lock(&self.shown) = object;
        if pinged && !self.makes(IgnoresPings) {
            self.queue.add(());
        }
    }

    fn is_pinged(&self, spec: &CandidateSpec) -> bool {
        match (spec.ping_time, spec.renew_time) {
            (Some(_), None) if self.makes(NeedsARenewTime) => panic!("there is no renew time"),
            (Some(ping), renewed) => renewed.is_none_or(|renewed| renewed < ping),
            (None, _) => false,
        }
    }

    fn work(&self) -> Outcome {
        if self.makes(EndsLate) && self.stage.token.is_cancelled() {
            self.queue.shut_down();
            return Outcome::Success;
        }
        let again = if self.makes(RenewsLate) { RENEW_EVERY * 2 } else { RENEW_EVERY };
        match self.ensure() {
            Ok(()) => {
                if !self.makes(RenewsOnce) {
                    self.queue.add_after((), again);
                }
                Outcome::Success
            }
            Err(_) if self.makes(GivesUp) => Outcome::GiveUp,
            Err(_) if self.makes(RetriesAtOnce) => Outcome::RequeueAfter(Duration::ZERO),
            Err(_) => Outcome::Retry,
        }
    }

    fn ensure(&self) -> Result<(), StoreError> {
        let runtime = self.stage.world.runtime();
        let renew_time = Some(Timestamp::from(runtime.wall()));
        let mut shown = runtime.lock(&self.shown);
        let serve = match &mut *shown {
            Some(Object { meta, content, .. }) if !self.makes(AlwaysCreates) => {
                let renewed = self.renewed(content, renew_time);
                if self.makes(ChangesWhatItWasShown) {
                    content.clone_from(&renewed);
                }
                let Version::Number(seen) = meta.version else { return Err(StoreError::Conflict) };
                Serve::Update(renewed, seen)
            }
            _ if self.makes(CreatesWithoutATime) => Serve::Create(itself()),
            _ => Serve::Create(itself().renew_time(renew_time)),
        };
        drop(shown);
        self.stage.server.call(serve).map(drop)
    }

    fn renewed(&self, shown: &CandidateSpec, now: Option<Timestamp>) -> CandidateSpec {
        let mut spec = shown.clone().renew_time(now);
        match self.mistake {
            Some(ClearsThePing) => spec.ping_time = None,
            Some(ClearsTheAnsweredPing) if !self.is_pinged(shown) => spec.ping_time = None,
            Some(KeepsTheRenewTime) => spec.renew_time = shown.renew_time,
            Some(ForgetsItself) => spec.emulation_version = CandidateSpec::default().lease,
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
