//! Small concurrent programs on electors, each named by the case that it must reach.

mod awaited;
mod chosen;
mod corners;
mod endings;
mod given_up;
mod losses;
mod memory;
mod races;
mod renewals;
mod slow;
mod strangers;
mod works;

use std::time::Duration;

use seatrial_core::elector::{Next, StoreError};

use super::ledger::{Elector as Known, ElectorLedger, at_the_end};
use super::timeline::Asked;
use super::{Elector, Event, History};
use crate::trial::{DynScenario, Ledger as _};

pub(super) fn all() -> Vec<Box<dyn DynScenario<Elector>>> {
    vec![
        Box::new(races::RaceForAFreeLease),
        Box::new(races::ClassicRace),
        Box::new(races::SingleAttempts),
        Box::new(renewals::LeaderIsAsked),
        Box::new(renewals::LeaderHangs),
        Box::new(renewals::LosesToAnother),
        Box::new(renewals::RenewalsAreRefused),
        Box::new(endings::CancelledAnywhere),
        Box::new(endings::ReleaseRacesARenewal),
        Box::new(endings::ContestedRelease),
        Box::new(endings::AbandonedAcquisition),
        Box::new(endings::ClientBreaks),
        Box::new(endings::AttemptBreaks),
        Box::new(awaited::AwaitedRun),
        Box::new(awaited::DroppedRun),
        Box::new(awaited::WorkHangs),
        Box::new(awaited::WorkBreaks),
        Box::new(given_up::DroppedAttempt),
        Box::new(given_up::CancelledDuringACall),
        Box::new(given_up::CancelledBefore),
        Box::new(given_up::TokensOfOnesOwn),
        Box::new(given_up::TokenAtTheEnd),
        Box::new(given_up::UsedAtTheEnd),
        Box::new(works::WorkEndsEarly),
        Box::new(works::EarlierWorkEndsLate),
        Box::new(corners::CheckedWhileItAcquires),
        Box::new(corners::LostAtOnce),
        Box::new(corners::Namesake),
        Box::new(corners::LateRenewal),
        Box::new(losses::LeaseIsTakenAway),
        Box::new(losses::LateRelease),
        Box::new(losses::LateAcquisition),
        Box::new(strangers::StrangeLease),
        Box::new(strangers::LeasesDiffer),
        Box::new(strangers::SameIdentity),
        Box::new(strangers::LeadersAreReported),
        Box::new(strangers::RefusedSetUps),
        Box::new(slow::SlowRelease),
        Box::new(slow::SlowReports),
        Box::new(chosen::CoordinatedElection),
        Box::new(memory::TwoWriters),
        Box::new(memory::PairOfLocks),
    ]
}

const fn millis(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

/// Tells whether an event meets a condition that also sees the state before it.
fn some(history: &History, wanted: impl Fn(&ElectorLedger, &Event) -> bool) -> bool {
    ElectorLedger::some(history, wanted)
}

/// As [`some`], for the steps of electors.
fn some_step(history: &History, wanted: impl Fn(&Known, &Asked<'_>, &Event) -> bool) -> bool {
    some(history, |before, event| {
        before.asked(event).is_some_and(|(elector, asked)| wanted(elector, &asked, event))
    })
}

/// Tells whether a call was answered with such an error.
fn learns(history: &History, wanted: impl Fn(&StoreError) -> bool) -> bool {
    some_step(history, |_, asked, _| matches!(asked.learned(), Some(Err(error)) if wanted(error)))
}

/// Tells whether a renewal was answered when the term had run out.
fn learns_late(history: &History) -> bool {
    some_step(history, |before, asked, event| {
        let succeeds = matches!(asked.learned(), Some(Ok(_)));
        before.led && succeeds && before.valid_until.is_some_and(|until| until <= event.at)
    })
}

fn orders_to_lead(asked: &Asked<'_>) -> bool {
    matches!(asked.turn().map(|turn| &turn.next), Some(Next::Lead { .. }))
}

/// Counts how often the elector of that number was ordered to lead.
fn terms(history: &History, number: u8) -> usize {
    let mut ledger = ElectorLedger::default();
    let mut count = 0;
    for event in &history.events {
        let asked = ledger.asked(event).map(|(_, asked)| asked);
        count += usize::from(
            asked.is_some_and(|asked| asked.number == number && orders_to_lead(&asked)),
        );
        ledger.apply(event);
    }
    count
}

/// Tells whether the execution came to its end and no elector runs any more.
fn everybody_returned(history: &History) -> bool {
    history.finished() && at_the_end(history).electors.iter().all(|elector| !elector.running)
}
