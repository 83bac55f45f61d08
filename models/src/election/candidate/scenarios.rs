//! Small concurrent programs with a candidate, each named by the case that it must reach.

use std::time::Duration;

use seatrial_core::elector::{StoreError, Timestamp};
use seatrial_core::runtime::Runtime;

use super::deleted::Deleted;
use super::invariants::CandidateLedger;
use super::server::{Answer, Call, Ping, Place, Refuse, Serve};
use super::stage::{CANCELS, Stage, itself};
use super::{Candidate, Event, History};
use crate::engine::Engine;
use crate::queues::fixtures::millis;
use crate::trial::{DynScenario, Ledger as _, Scenario, World, sleeps};

pub(super) fn all() -> Vec<Box<dyn DynScenario<Candidate>>> {
    vec![
        Box::new(RenewsAndIsPinged),
        Box::new(PingedAtOnce),
        Box::new(StrangeObject),
        Box::new(Deleted),
        Box::new(WritesAreRefused),
        Box::new(CancelledAnywhere),
        Box::new(CancelledBeforeItBegan),
    ]
}

pub(super) fn is_write(
    event: &Event,
    wanted: impl Fn(&Serve, Result<(), &StoreError>) -> bool,
) -> bool {
    match event.returned() {
        Some((Call::Serve(serve), Answer::Serve(answer))) => {
            wanted(serve, answer.as_ref().map(|_| ()))
        }
        _ => false,
    }
}

/// A candidate runs for more than two renewals, and is pinged between two of them.
struct RenewsAndIsPinged;

impl Scenario<Candidate> for RenewsAndIsPinged {
    const NAME: &'static str = "renews_and_is_pinged";
    const SAYS: &'static str = "a candidate renews for twelve minutes and is pinged once";

    fn run<R: Runtime>(&self, world: &World<R, Candidate>) {
        let stage = Stage::new(world).lagging(millis(10));
        let candidate = stage.start();
        stage.sleep(Duration::from_secs(100));
        stage.server.call(Ping);
        stage.sleep(Duration::from_secs(620));
        stage.cancel();
        world.join(candidate);
    }

    /// It has renewed by itself, long after the ping.
    fn reaches(history: &History) -> bool {
        history.events.iter().filter(|event| is_write(event, |_, won| won.is_ok())).count() >= 4
    }

    fn cannot_run_on(engine: Engine) -> Option<&'static str> {
        sleeps(engine)
    }
}

/// The server pings while the candidate still publishes itself, and then again.
struct PingedAtOnce;

impl Scenario<Candidate> for PingedAtOnce {
    const NAME: &'static str = "pinged_at_once";
    const SAYS: &'static str =
        "the server pings twice while the candidate begins, and its watch lags behind";

    fn run<R: Runtime>(&self, world: &World<R, Candidate>) {
        let stage = Stage::new(world).lagging(millis(3));
        let candidate = stage.start();
        stage.sleep(millis(1));
        stage.server.call(Ping);
        stage.sleep(millis(4));
        stage.server.call(Ping);
        stage.sleep(Duration::from_secs(5));
        stage.cancel();
        world.join(candidate);
    }

    /// The watch showed an object that was already old.
    fn reaches(history: &History) -> bool {
        let conflict = |event: &Event| is_write(event, |_, won| won == Err(&StoreError::Conflict));
        history.events.iter().any(conflict)
    }

    fn cannot_run_on(engine: Engine) -> Option<&'static str> {
        sleeps(engine)
    }
}

/// Another program has stored the object without a renew time, and the server has pinged.
struct StrangeObject;

impl Scenario<Candidate> for StrangeObject {
    const NAME: &'static str = "strange_object";
    const SAYS: &'static str = "the object already exists and is pinged, but has no renew time";

    fn run<R: Runtime>(&self, world: &World<R, Candidate>) {
        let stage = Stage::new(world);
        let ping_time = Some(Timestamp::from_micros(1));
        stage.server.call(Place(itself().ping_time(ping_time)));
        let candidate = stage.start();
        stage.sleep(Duration::from_secs(5));
        stage.cancel();
        world.join(candidate);
    }

    fn reaches(history: &History) -> bool {
        let renewed = |event: &Event| {
            is_write(event, |serve, won| won.is_ok() && matches!(serve, Serve::Update(..)))
        };
        history.events.iter().any(renewed)
    }

    fn cannot_run_on(engine: Engine) -> Option<&'static str> {
        sleeps(engine)
    }
}

/// The server refuses some writes: first ones and later ones.
struct WritesAreRefused;

impl Scenario<Candidate> for WritesAreRefused {
    const NAME: &'static str = "writes_are_refused";
    const SAYS: &'static str =
        "the server refuses the first three writes, and two writes after a ping";

    fn run<R: Runtime>(&self, world: &World<R, Candidate>) {
        let stage = Stage::new(world);
        stage.server.call(Refuse(3));
        let candidate = stage.start();
        stage.sleep(Duration::from_secs(5));
        stage.server.call(Refuse(2));
        stage.server.call(Ping);
        stage.sleep(Duration::from_secs(5));
        stage.cancel();
        world.join(candidate);
    }

    fn reaches(history: &History) -> bool {
        let refused = |event: &&Event| is_write(event, |_, won| won == Err(&StoreError::Timeout));
        history.events.iter().filter(refused).count() == 5
    }

    fn cannot_run_on(engine: Engine) -> Option<&'static str> {
        sleeps(engine)
    }
}

/// A candidate is cancelled while it begins, at any point.
struct CancelledAnywhere;

impl Scenario<Candidate> for CancelledAnywhere {
    const NAME: &'static str = "cancelled_anywhere";
    const SAYS: &'static str = "a candidate is cancelled while it begins, renews or returns";

    fn run<R: Runtime>(&self, world: &World<R, Candidate>) {
        let stage = Stage::new(world);
        let candidate = stage.start();
        stage.cancel();
        world.join(candidate);
        world.quiesce();
    }

    /// A write that was under way comes after the cancellation.
    fn reaches(history: &History) -> bool {
        CandidateLedger::some(history, |before, event| {
            is_write(event, |_, _| true) && !before.runs() && before.object.is_none()
        })
    }
}

/// The token has ended before the candidate begins.
struct CancelledBeforeItBegan;

impl Scenario<Candidate> for CancelledBeforeItBegan {
    const NAME: &'static str = "cancelled_before_it_began";
    const SAYS: &'static str = "the token of a candidate has ended before it begins";

    fn run<R: Runtime>(&self, world: &World<R, Candidate>) {
        let stage = Stage::new(world);
        stage.cancel();
        stage.run();
        world.quiesce();
    }

    fn reaches(history: &History) -> bool {
        history.notes(CANCELS).count() == 1
    }
}
