//! Another program deletes the object of a candidate.

use std::time::Duration;

use seatrial_core::elector::candidate::RENEW_EVERY;

use super::Candidate;
use super::scenarios::is_write;
use super::server::{Delete, Ping, Serve};
use super::stage::Stage;
use crate::queues::fixtures::millis;
use crate::trial::{Scenario, sleeps};

/// The object is deleted between two renewals, and while a ping waits for its answer.
pub(super) fn deleted() -> Scenario<Candidate> {
    Scenario::new(
        "deleted",
        "the object is deleted between two renewals, and again together with a ping",
        |world| {
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
        },
        // It has published itself after each deletion.
        |history| {
            let creates = |serve: &Serve| matches!(serve, Serve::Create(_));
            let created = history
                .events
                .iter()
                .filter(|event| is_write(event, |serve, won| won.is_ok() && creates(serve)));
            created.count() == 3
        },
    )
    .not_on(sleeps)
}
