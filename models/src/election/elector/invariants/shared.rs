//! Promises about the lease, in the words of the simulated cluster.

use crate::cluster::invariants::{Invariant as Promise, invariant};
use crate::elector::asked::is_strict;
use crate::elector::timeline::Timeline;
use crate::elector::{Elector, History};
use crate::trial::{Invariant, Violation};

const SHARED: &[&str] = &[
    "one_leader_per_lease_window",
    "one_leader",
    "takeover_waits",
    "takeover_waits_in_real_time",
    "versions_form_a_chain",
    "transitions_count_terms",
    "acquire_time_names_the_term",
    "releases_free_the_lease",
    "releases_are_of_the_own_lease",
    "work_ends_before_release",
    "updates_name_what_was_received",
    "no_attempt_after_cancellation",
    "renewals_keep_their_distance",
    "rounds_are_bounded",
    "stopping_follows_leading",
    "metrics_alternate",
    "reports_differ",
];

pub(super) fn all() -> Vec<Invariant<Elector>> {
    let shared = SHARED.iter().map(|name| {
        let of = invariant(name).expect("the cluster has this promise");
        Invariant::at_the_end(of.name, of.says, of.rules, |told, history| judge(of, told, history))
    });
    shared.collect()
}

/// Judges a history that is retold as a run.
fn judge(promise: &Promise, told: &Timeline, history: &History) -> Result<(), Violation> {
    let Some(terms) = &told.terms else { return Ok(()) };
    if !promise.promised.holds(is_strict(&terms.config), told.is_safe()) {
        return Ok(());
    }
    promise.check(&told.run, terms).map_err(|breach| {
        // An event happens a nanosecond after the one before it.
        let at = |index: usize| history.events[index].at.as_nanos() + index as u64;
        let event = (0..history.events.len()).find(|index| at(*index) >= breach.at);
        Violation { at: event, because: breach.because }
    })
}
