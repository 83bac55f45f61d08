//! Promises about the lease, in the words of the simulated cluster.

use super::Checked;
use crate::cluster::invariants::invariant;
use crate::elector::timeline::{is_strict, timeline};
use crate::elector::{Elector, History};
use crate::trial::{Invariant, Violation};

/// Judges a history that is retold as a run.
fn judge(name: &str, history: &History) -> Checked {
    let invariant = invariant(name).expect("the cluster has this promise");
    let told = timeline(history);
    let strict = is_strict(&told.terms.config);
    if !invariant.promised.holds(strict, told.safety) {
        return Ok(());
    }
    invariant.check(&told.run, &told.terms).map_err(|breach| {
        // An event happens a nanosecond after the one before it.
        let at = |index: usize| history.events[index].at.as_nanos() + index as u64;
        let event = (0..history.events.len()).find(|index| at(*index) >= breach.at);
        Violation { at: event, because: breach.because }
    })
}

macro_rules! shared {
    ($($name:ident),+ $(,)?) => {
        pub(super) fn all() -> Vec<Invariant<Elector>> {
            vec![$({
                fn check(history: &History) -> Checked {
                    judge(stringify!($name), history)
                }
                let of = invariant(stringify!($name)).expect("the cluster has this promise");
                Invariant::always(of.name, of.says, of.rules, check)
            }),+]
        }
    };
}

shared![
    one_leader_per_lease_window,
    one_leader,
    takeover_waits,
    takeover_waits_in_real_time,
    versions_form_a_chain,
    transitions_count_terms,
    acquire_time_names_the_term,
    releases_free_the_lease,
    releases_are_of_the_own_lease,
    work_ends_before_release,
    updates_name_what_was_received,
    no_attempt_after_cancellation,
    renewals_keep_their_distance,
    rounds_are_bounded,
    stopping_follows_leading,
    metrics_alternate,
    reports_differ,
];
