//! The invariants of every simulated run (`election` section 8).

mod calls;
mod leaders;
mod records;
mod telling;

pub(crate) mod tests;

use std::time::Duration;

use seatrial_core::elector::Config;

use super::run::Run;
use crate::election::plain;

/// A broken promise.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Breach {
    /// The invariant.
    pub invariant: &'static str,
    /// When the breach shows.
    pub at: u64,
    /// The error, as a fragment of a sentence.
    pub because: String,
}

/// The assumptions that an invariant may make about a run.
#[derive(Clone, Debug)]
pub struct Terms {
    /// The set-up of the electors.
    pub config: Config,
    /// The largest error of a clock, in millionths.
    pub drift_ppm: u32,
}

impl Terms {
    pub(super) fn is_strict(&self) -> bool {
        !plain::is_reference(&self.config)
    }

    /// Returns how long a follower with the fastest clock waits, at least, before it may take a
    /// lease of this many seconds.
    pub(super) fn shortest_wait(&self, seconds: i64) -> u64 {
        let nanos = u128::try_from(seconds).unwrap_or(0) * 1_000_000_000;
        let shortest = nanos * 1_000_000 / (1_000_000 + u128::from(self.drift_ppm));
        u64::try_from(shortest).unwrap_or(u64::MAX)
    }
}

pub(super) fn nanos(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

/// The profile in which, and the faults under which, an invariant is promised.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Promised {
    /// Always.
    Always,
    /// Always in the strict profile.
    Strict,
    /// As `Safety`, only in the strict profile.
    StrictSafety,
    /// In the strict profile: as long as nothing pauses, nothing outside the election touches the
    /// lock object, and identities are unique. In the classic profile also only within the bound of
    /// `election:SF-9`.
    Safety,
}

impl Promised {
    /// Tells whether it is promised in a profile; `safety` says whether the faults leave the
    /// safety invariants promised.
    #[must_use]
    pub fn holds(self, strict: bool, safety: bool) -> bool {
        match self {
            Self::Always => true,
            Self::Strict => strict,
            Self::StrictSafety => safety && strict,
            Self::Safety => safety,
        }
    }
}

/// A promise as a check of one run.
#[derive(Clone, Copy, Debug)]
pub struct Invariant {
    /// Its name: a promise in snake case.
    pub name: &'static str,
    /// The promise in words.
    pub says: &'static str,
    /// The rules that it states.
    pub rules: &'static [&'static str],
    /// When it is promised.
    pub promised: Promised,
    check: fn(&Run, &Terms) -> Found,
}

/// When and why a run breaks a promise.
type Found = Result<(), (u64, String)>;

impl Invariant {
    /// Checks one run.
    ///
    /// # Errors
    /// The first breach.
    pub fn check(&self, run: &Run, terms: &Terms) -> Result<(), Breach> {
        (self.check)(run, terms).map_err(|(at, because)| Breach {
            invariant: self.name,
            at,
            because,
        })
    }
}

macro_rules! invariants {
    ($($promised:ident $name:ident [$($rule:literal),+] $says:literal: $check:path;)+) => {
        /// Every invariant; the main one is the first.
        pub const INVARIANTS: &[Invariant] = &[$(Invariant {
            name: stringify!($name),
            says: $says,
            rules: &[$($rule),+],
            promised: Promised::$promised,
            check: $check,
        }),+];
    };
}

invariants! {
    Safety one_leader_per_lease_window ["election:SF-3", "election:SF-5", "election:INV-5", "election:SF-9"]
        "while one participant holds the lease, no other acts as leader":
        leaders::one_leader_per_lease_window;
    Safety one_leader ["election:SF-1", "election:INV-5"]
        "no two participants believe at the same time that they lead": leaders::one_leader;
    Safety one_actor ["election:SF-2", "election:SF-5"]
        "no two participants act as leader at the same time": leaders::one_actor;
    Strict fenced_effects_never_interleave ["election:INV-6", "election:SF-14", "election:SF-13"]
        "a resource that checks tokens never goes back to an earlier term":
        leaders::fenced_effects_never_interleave;
    Safety takeover_waits ["election:INV-3", "election:SF-6", "election:LE-13", "election:LE-22"]
        "a lease is taken only after its duration has passed on the taker's clock":
        leaders::takeover_waits;
    StrictSafety takeover_waits_in_real_time ["election:INV-4", "election:SF-6"]
        "a lease is taken only after its duration, less the drift, has passed in real time":
        leaders::takeover_waits_in_real_time;
    Always versions_form_a_chain ["election:INV-1", "election:INV-25", "election:ENV-3", "election:LK-4"]
        "every write replaces the version that it names": records::versions_form_a_chain;
    Safety transitions_count_terms ["election:INV-7", "election:LE-38", "election:LE-20", "election:LE-27", "election:LK-10"]
        "the count of transitions rises with every change of holder, and only then":
        records::transitions_count_terms;
    Safety acquire_time_names_the_term ["election:INV-8", "election:LE-17"]
        "the time of acquisition stays the same within a term":
        records::acquire_time_names_the_term;
    Always releases_free_the_lease ["election:INV-9", "election:LE-43"]
        "a released lease names no holder, lasts a second and keeps the transition count":
        records::releases_free_the_lease;
    Strict releases_are_of_the_own_lease ["election:INV-10", "election:LE-42"]
        "no elector frees the lease of another": records::releases_are_of_the_own_lease;
    Strict work_ends_before_release ["election:INV-11", "election:LE-50"]
        "a lease is freed only after its work was cancelled": records::work_ends_before_release;
    Always updates_name_what_was_received ["election:INV-2", "election:INV-23", "election:LK-2", "election:LK-3"]
        "an update carries the version that was received last":
        calls::updates_name_what_was_received;
    Always one_call_at_a_time ["election:INV-14", "election:LE-53"]
        "an elector has at most one call in flight, and none after its run":
        calls::one_call_at_a_time;
    Always no_attempt_after_cancellation ["election:INV-13", "election:ENV-7"]
        "a run makes no attempt after its cancellation": calls::no_attempt_after_cancellation;
    Safety cancellation_is_prompt ["election:ENV-6", "election:LE-39"]
        "a cancelled run that sleeps ends at once": calls::cancellation_is_prompt;
    Always renewals_keep_their_distance ["election:INV-21", "election:LE-35"]
        "renewals are at least a retry period apart": calls::renewals_keep_their_distance;
    Always rounds_are_bounded ["election:INV-22", "election:LV-6"]
        "a round makes no more attempts than fit into its deadline": calls::rounds_are_bounded;
    Always observations_have_a_reason ["election:INV-15", "election:LE-10", "election:LE-21", "election:LE-24", "election:LE-25"]
        "the observed record changes only with an answer": calls::observations_have_a_reason;
    Always stopping_follows_leading ["election:INV-12"]
        "a run leads at most once, and stops once, after its token was cancelled":
        telling::stopping_follows_leading;
    Strict metrics_alternate ["election:INV-19", "election:LE-60"]
        "the leader metric goes on and off alternately": telling::metrics_alternate;
    Always reports_differ ["election:INV-20", "election:LE-45"]
        "no leader is reported twice in a row": telling::reports_differ;
}

/// Checks everything that is promised of a run; `safety` says whether the faults of the run leave
/// the safety invariants promised.
#[must_use]
pub fn breaches(run: &Run, terms: &Terms, safety: bool) -> Vec<Breach> {
    let promised = |invariant: &&Invariant| invariant.promised.holds(terms.is_strict(), safety);
    INVARIANTS
        .iter()
        .filter(promised)
        .filter_map(|invariant| invariant.check(run, terms).err())
        .collect()
}

/// Returns the invariant of that name.
#[must_use]
pub fn invariant(name: &str) -> Option<&'static Invariant> {
    INVARIANTS.iter().find(|invariant| invariant.name == name)
}
