//! Electors with one mistake each, which show what the checks can find.
//!
//! A mutant is a value: a name, an origin, and constructors. Some mutants wrap the machine that
//! ships and change its answers, its orders, or the sleepers that it wakes (`wrapped.rs`). Mistakes
//! inside the rules are lines of a second implementation of the rules (`rewritten.rs`). One mistake
//! is not in the elector but in the use of the store (`store.rs`).

mod mutated;
mod rewritten;
mod store;
mod wrapped;

use seatrial_core::elector::{Config, Election};
use seatrial_core::machine::Boxed;

use super::Elector;
use crate::trial::{self, MachineOf, MutantKind};

/// Makes a broken elector of a set-up.
pub type Make = fn(Config) -> Boxed<Election>;

/// An elector with a mistake.
#[derive(Clone, Copy, Debug)]
pub struct Mutant {
    /// Its name: the mistake, in snake case.
    pub name: &'static str,
    /// The origin of the mistake.
    pub origin: &'static str,
    /// The promises that it breaks, on threads or in a cluster.
    pub breaks: &'static [&'static str],
    /// The expectation about it.
    pub kind: MutantKind,
    /// Makes the broken elector.
    pub make: Make,
    /// Makes the same mutant in place of the page's machines.
    pub(super) part: fn() -> MachineOf<Elector>,
}

/// Mutants that no scenario on threads shows: they need time, drift or rare faults.
const NEED_A_CLUSTER: &[&str] = &[
    "renewals_do_not_restart_the_wait",
    "renewal_keeps_the_renew_time",
    "acting_time_from_the_reply",
    "metric_stays_on",
    "refusals_are_no_news",
    "own_is_own_for_ever",
];

/// Mutants that no simulation shows: they answer wrongly, or need two threads.
const NEED_THREADS: &[&str] = &[
    "expiry_by_own_lease",
    "healthy_whatever_happens",
    "tolerance_is_ignored",
    "end_of_work_wakes_nobody",
    "cancelled_run_sleeps_for_ever",
    "reports_what_was_read",
    "release_retries_at_once",
    "leader_without_time",
    "breaks_and_forgets",
    "release_without_deadline",
    "fast_path_in_another_run",
    "leads_before_the_reply",
    "needs_times",
    "round_without_deadline",
    "polls_twice_as_often",
    "token_of_the_read",
    "waits_for_the_work_for_ever",
    "leads_though_cancelled",
    "holds_any_term",
    "release_does_not_observe",
    "writes_without_comparing",
    "takes_though_coordinated",
    "renews_against_a_preferred",
    "renews_what_names_another",
    "creates_though_coordinated",
    "leads_too_late",
    "takes_back_what_it_lost",
    "waits_where_nobody_calls",
    "reports_with_the_attempt",
    "abandons_between_attempts",
    "single_release_without_deadline",
    "release_gives_up",
    "frees_a_namesakes",
    "late_renewal_prolongs",
    "check_waits",
    "check_reads_apart",
    "leads_idly",
    "panic_is_a_return",
    "any_work_ends_the_term",
];

/// Tells whether the simulations, or else the scenarios, are asked to convict a mutant.
pub(super) fn is_shown_by(mutant: &str, simulations: bool) -> bool {
    let elsewhere = if simulations { NEED_THREADS } else { NEED_A_CLUSTER };
    !elsewhere.contains(&mutant)
}

/// Lists every mutant.
#[must_use]
pub fn all() -> Vec<Mutant> {
    [of_the_rules().as_slice(), store::STORE].concat()
}

/// Lists the mutants that are electors with changed rules.
pub(super) fn of_the_rules() -> Vec<Mutant> {
    [wrapped::WRAPPED, rewritten::REWRITTEN].concat()
}

/// Lists every mutant, in the form that the page tries.
pub(super) fn of_the_page() -> Vec<trial::Mutant<Elector>> {
    let of_the_page = |mutant: Mutant| trial::Mutant {
        name: mutant.name,
        origin: mutant.origin,
        breaks: mutant.breaks,
        kind: mutant.kind,
        make: mutant.part,
    };
    all().into_iter().map(of_the_page).collect()
}
