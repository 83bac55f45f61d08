//! Another program deletes the object of a candidate.

use std::time::Duration;

use seatrial_core::elector::candidate::RENEW_EVERY;
use seatrial_core::runtime::Runtime;

use super::scenarios::is_write;
use super::server::{Delete, Ping, Serve};
use super::stage::Stage;
use super::{Candidate, History};
use crate::engine::Engine;
use crate::queues::fixtures::millis;
use crate::trial::{Scenario, World, sleeps};

/// The object is deleted between two renewals, and while a ping waits for its answer.
pub(super) struct Deleted;

impl Scenario<Candidate> for Deleted {
    const NAME: &'static str = "deleted";
    const SAYS: &'static str =
        "the object is deleted between two renewals, and again together with a ping";

    fn run<R: Runtime>(&self, world: &World<R, Candidate>) {
        let stage = Stage::new(world).lagging(millis(3));
        let candidate = stage.start();
        stage.sleep(Duration::from_secs(10));
        stage.server.call(Delete);
        stage.sleep(RENEW_EVERY + Duration::from_secs(10));
        stage.server.call(Ping);
        stage.server.call(Delete);
        stage.sleep(RENEW_EVERY + Duration::from_secs(10));
        stage.cancel();
        world.join(candidate);
    }

    /// It has published itself after each deletion.
    fn reaches(history: &History) -> bool {
        let creates = |serve: &Serve| matches!(serve, Serve::Create(_));
        let created = history
            .events
            .iter()
            .filter(|event| is_write(event, |serve, won| won.is_ok() && creates(serve)));
        created.count() == 3
    }

    fn cannot_run_on(engine: Engine) -> Option<&'static str> {
        sleeps(engine)
    }
}
