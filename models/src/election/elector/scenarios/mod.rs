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

use super::asked::Asked;
use super::ledger::{Elector as Known, ElectorLedger};
use super::{Elector, Event, History};
use crate::trial::{Ledger as _, Scenario};

pub(super) fn all() -> Vec<Scenario<Elector>> {
    vec![
        races::race_for_a_free_lease(),
        races::classic_race(),
        races::single_attempts(),
        renewals::leader_is_asked(),
        renewals::leader_hangs(),
        renewals::loses_to_another(),
        renewals::renewals_are_refused(),
        endings::cancelled_anywhere(),
        endings::release_races_a_renewal(),
        endings::contested_release(),
        endings::abandoned_acquisition(),
        endings::client_breaks(),
        endings::attempt_breaks(),
        awaited::awaited_run(),
        awaited::dropped_run(),
        awaited::work_hangs(),
        awaited::work_breaks(),
        given_up::dropped_attempt(),
        given_up::cancelled_during_a_call(),
        given_up::cancelled_before(),
        given_up::tokens_of_ones_own(),
        given_up::token_at_the_end(),
        given_up::used_at_the_end(),
        works::work_ends_early(),
        works::earlier_work_ends_late(),
        corners::checked_while_it_acquires(),
        corners::lost_at_once(),
        corners::namesake(),
        corners::late_renewal(),
        losses::lease_is_taken_away(),
        losses::late_release(),
        losses::late_acquisition(),
        strangers::strange_lease(),
        strangers::leases_differ(),
        strangers::same_identity(),
        strangers::leaders_are_reported(),
        strangers::refused_set_ups(),
        slow::slow_release(),
        slow::slow_reports(),
        chosen::coordinated_election(),
        memory::two_writers_in_memory(),
        memory::pair_of_locks(),
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
    let mut ledger = ElectorLedger::default();
    history.events.iter().for_each(|event| ledger.apply(event));
    history.finished() && ledger.electors.iter().all(|elector| !elector.running)
}
