//! Small concurrent programs with a candidate, each named by the case that it must reach.

use std::time::Duration;

use seatrial_core::elector::candidate::RENEW_EVERY;
use seatrial_core::elector::{StoreError, Timestamp};

use super::invariants::CandidateLedger;
use super::server::{Answer, Call, Delete, Ping, Place, Refuse, Serve};
use super::stage::{CANCELS, Stage, itself};
use super::{Candidate, Event};
use crate::queues::fixtures::millis;
use crate::trial::{Ledger as _, Scenario, sleeps};

pub(super) fn all() -> Vec<Scenario<Candidate>> {
    vec![
        renews_and_is_pinged(),
        pinged_at_once(),
        strange_object(),
        deleted(),
        writes_are_refused(),
        cancelled_anywhere(),
        cancelled_before_it_began(),
    ]
}

fn is_write(event: &Event, wanted: impl Fn(&Serve, Result<(), &StoreError>) -> bool) -> bool {
    match event.returned() {
        Some((Call::Serve(serve), Answer::Serve(answer))) => {
            wanted(serve, answer.as_ref().map(|_| ()))
        }
        _ => false,
    }
}

/// A candidate runs for more than two renewals, and is pinged between two of them.
fn renews_and_is_pinged() -> Scenario<Candidate> {
    Scenario::<Candidate>::new(
        "renews_and_is_pinged",
        "a candidate renews for twelve minutes and is pinged once",
        |world| {
            let stage = Stage::new(world).lagging(millis(10));
            let candidate = stage.start();
            stage.sleep(Duration::from_secs(100));
            stage.server.call(Ping);
            stage.sleep(Duration::from_secs(620));
            stage.cancel();
            world.join(candidate);
        },
        // It has renewed by itself, long after the ping.
        |history| {
            history.events.iter().filter(|event| is_write(event, |_, won| won.is_ok())).count() >= 4
        },
    )
    .not_on(sleeps)
}

/// The server pings while the candidate still publishes itself, and then again.
fn pinged_at_once() -> Scenario<Candidate> {
    Scenario::<Candidate>::new(
        "pinged_at_once",
        "the server pings twice while the candidate begins, and its watch lags behind",
        |world| {
            let stage = Stage::new(world).lagging(millis(3));
            let candidate = stage.start();
            stage.sleep(millis(1));
            stage.server.call(Ping);
            stage.sleep(millis(4));
            stage.server.call(Ping);
            stage.sleep(Duration::from_secs(5));
            stage.cancel();
            world.join(candidate);
        },
        // The watch showed an object that was already old.
        |history| {
            let conflict =
                |event: &Event| is_write(event, |_, won| won == Err(&StoreError::Conflict));
            history.events.iter().any(conflict)
        },
    )
    .not_on(sleeps)
}

/// Another program has stored the object without a renew time, and the server has pinged.
fn strange_object() -> Scenario<Candidate> {
    Scenario::<Candidate>::new(
        "strange_object",
        "the object already exists and is pinged, but has no renew time",
        |world| {
            let stage = Stage::new(world);
            let ping_time = Some(Timestamp::from_micros(1));
            stage.server.call(Place(itself().ping_time(ping_time)));
            let candidate = stage.start();
            stage.sleep(Duration::from_secs(5));
            stage.cancel();
            world.join(candidate);
        },
        |history| {
            let renewed = |event: &Event| {
                is_write(event, |serve, won| won.is_ok() && matches!(serve, Serve::Update(..)))
            };
            history.events.iter().any(renewed)
        },
    )
    .not_on(sleeps)
}

/// The object is deleted between two renewals, and while a ping waits for its answer.
fn deleted() -> Scenario<Candidate> {
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

/// The server refuses some writes: first ones and later ones.
fn writes_are_refused() -> Scenario<Candidate> {
    Scenario::<Candidate>::new(
        "writes_are_refused",
        "the server refuses the first three writes, and two writes after a ping",
        |world| {
            let stage = Stage::new(world);
            stage.server.call(Refuse(3));
            let candidate = stage.start();
            stage.sleep(Duration::from_secs(5));
            stage.server.call(Refuse(2));
            stage.server.call(Ping);
            stage.sleep(Duration::from_secs(5));
            stage.cancel();
            world.join(candidate);
        },
        |history| {
            let refused =
                |event: &&Event| is_write(event, |_, won| won == Err(&StoreError::Timeout));
            history.events.iter().filter(refused).count() == 5
        },
    )
    .not_on(sleeps)
}

/// A candidate is cancelled while it begins, at any point.
fn cancelled_anywhere() -> Scenario<Candidate> {
    Scenario::new(
        "cancelled_anywhere",
        "a candidate is cancelled while it begins, renews or returns",
        |world| {
            let stage = Stage::new(world);
            let candidate = stage.start();
            stage.cancel();
            world.join(candidate);
            world.quiesce();
        },
        // A write that was under way comes after the cancellation.
        |history| {
            CandidateLedger::some(history, |before, event| {
                is_write(event, |_, _| true) && !before.runs() && before.object.is_none()
            })
        },
    )
}

/// The token has ended before the candidate begins.
fn cancelled_before_it_began() -> Scenario<Candidate> {
    Scenario::new(
        "cancelled_before_it_began",
        "the token of a candidate has ended before it begins",
        |world| {
            let stage = Stage::new(world);
            stage.cancel();
            stage.run();
            world.quiesce();
        },
        |history| history.notes(CANCELS).count() == 1,
    )
}
