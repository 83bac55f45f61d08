//! The stage of every scenario: the server, a candidate, and a watch that may lag.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use seatrial_core::cancel::CancelToken;
use seatrial_core::elector::candidate::{Candidate as Ships, CandidateSpec, Seen, WatchCandidate};
use seatrial_core::elector::{Call, Object, ObjectName, ObjectStore, StoreError, Version};
use seatrial_core::monitor::Monitor;
use seatrial_core::runtime::{Ambient as _, Runtime};

use super::server::{NAME, Serve, Server, Shown, StopWatch, Tried, Watch, Who};
use super::{Candidate, reference};
use crate::engine::AnyRuntime;
use crate::trial::{Join, World};

/// The candidate begins to run.
pub(super) const BEGINS: &str = "begins";
/// Its token is cancelled.
pub(super) const CANCELS: &str = "is cancelled";
/// Its token has ended.
pub(super) const ENDED: &str = "has no token any more";
/// It has returned.
pub(super) const RETURNS: &str = "returns";

/// The description that the candidate publishes of itself.
pub(super) fn itself() -> CandidateSpec {
    CandidateSpec::default()
        .lease("controller".into())
        .binary_version("1.33.0".into())
        .emulation_version("1.32.0".into())
}

/// A server and its candidate.
#[derive(Clone)]
pub(super) struct Stage {
    pub(super) world: World<Candidate>,
    pub(super) server: Arc<Monitor<Server, AnyRuntime>>,
    pub(super) token: CancelToken<AnyRuntime>,
    /// The lag with which the watch shows a change.
    lag: Duration,
}

impl Stage {
    pub(super) fn new(world: &World<Candidate>) -> Self {
        let server = Arc::new(Monitor::new(world.runtime(), world.machine()));
        let token = CancelToken::new(world.runtime());
        Self { world: world.clone(), server, token, lag: Duration::ZERO }
    }

    pub(super) fn lagging(self, lag: Duration) -> Self {
        Self { lag, ..self }
    }

    /// Runs the candidate on a thread of its own.
    pub(super) fn start(&self) -> Join<()> {
        let stage = self.clone();
        self.world.spawn("candidate", move || stage.run())
    }

    /// Runs the candidate until it returns.
    pub(super) fn run(&self) {
        let tried = self.server.call(Who);
        self.world.note(BEGINS, 0);
        match tried {
            Tried::Ships => {
                let store = Connection(self.clone());
                let candidate = Ships::new(self.world.runtime(), store, NAME.0, NAME.1, itself());
                candidate.run(&self.token, self);
            }
            Tried::Plain(mistake) => reference::run(self, mistake),
        }
        self.world.note(RETURNS, 0);
    }

    pub(super) fn cancel(&self) {
        self.world.note(CANCELS, 0);
        self.token.cancel();
        self.world.note(ENDED, 0);
    }

    pub(super) fn sleep(&self, time: Duration) {
        let runtime = self.world.runtime();
        runtime.sleep_until(runtime.now() + time);
    }
}

impl fmt::Debug for Stage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Stage")
    }
}

/// The watch of the object, on a thread of its own.
pub(super) struct Watching {
    stage: Stage,
    watcher: Option<Join<()>>,
}

impl WatchCandidate<AnyRuntime> for Stage {
    type Watching = Watching;

    fn watch(
        &self,
        _: &ObjectName,
        seen: Seen,
        token: &CancelToken<AnyRuntime>,
    ) -> Option<Watching> {
        if token.is_cancelled() {
            return None;
        }
        let mut shown = self.server.call(Watch { after: None })?;
        seen(shown.object());
        let stage = self.clone();
        let watcher = self.world.spawn("watch", move || {
            while let Some(next) = stage.server.call(Watch { after: Some(shown.changes) }) {
                stage.sleep(stage.lag);
                seen(next.object());
                shown = next;
            }
        });
        Some(Watching { stage: self.clone(), watcher: Some(watcher) })
    }
}

impl Drop for Watching {
    fn drop(&mut self) {
        if std::thread::panicking() {
            return; // the execution is over: nobody is left to wait for
        }
        self.stage.server.call(StopWatch);
        if let Some(watcher) = self.watcher.take() {
            self.stage.world.join(watcher);
        }
    }
}

/// The candidate's way to the server.
struct Connection(Stage);

impl Connection {
    fn carry(&self, serve: Serve) -> Result<Object<CandidateSpec>, StoreError> {
        self.0.server.call(serve).map(|shown| shown.object().expect("it was just written"))
    }
}

impl ObjectStore<CandidateSpec> for Connection {
    fn get(&self, _: &ObjectName, _: Call<'_>) -> Result<Object<CandidateSpec>, StoreError> {
        let shown: Option<Shown> = self.0.server.call(Watch { after: None });
        shown.and_then(|shown| shown.object()).ok_or(StoreError::NotFound)
    }

    fn create(
        &self,
        object: &Object<CandidateSpec>,
        _: Call<'_>,
    ) -> Result<Object<CandidateSpec>, StoreError> {
        self.carry(Serve::Create(object.content.clone()))
    }

    fn update(
        &self,
        object: &Object<CandidateSpec>,
        _: Call<'_>,
    ) -> Result<Object<CandidateSpec>, StoreError> {
        let Version::Number(seen) = object.meta.version else { return Err(StoreError::Conflict) };
        self.carry(Serve::Update(object.content.clone(), seen))
    }
}
