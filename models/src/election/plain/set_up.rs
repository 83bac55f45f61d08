//! Whose rules an elector follows: those that ship, or the reference's. The pages call the first
//! the strict profile, and the second the classic one.

use std::time::Duration;

use seatrial_core::elector::{Bounds, Config, ConfigError, Election};
use seatrial_core::machine::Boxed;

use super::{Plain, Rules};
use crate::shared::Mistake;

/// The mistakes that the reference makes to this day: with all of them the rules replay its recorded
/// traces. Those that no mutant describes (`elector/mutants/rewritten.rs`) are described here.
const REFERENCE: &[Mistake] = &[
    "work_outlives_the_lease",
    "release_retries_at_once",
    "abandons_an_acquisition",
    "no_duration_is_over",
    "leader_without_time",
    // Two states of the lock are the same if their texts are, which have whole seconds.
    "compares_the_text",
    // A term does not end by itself, however late the answer that prolongs it.
    "acts_without_limit",
    // A record with the own name is renewed, whichever term wrote it, and no other record ends a
    // term. A lease that is taken from another keeps the time at which this elector acquired its own.
    "trusts_its_name",
    // A creation that fails makes it forget the version that it knew.
    "forgets_at_create",
    // A release frees the lease that is read if the record observed before it has the own name.
    "releases_by_memory",
    // The metric stays on if a run is cancelled, or breaks down, while it leads.
    "metric_stays_on",
    "fast_path_in_another_run",
    "counts_from_the_old_sighting",
    "own_is_own_for_ever",
    "creates_at_once",
    "release_does_not_observe",
];

/// Makes a set-up one by the reference's rules: its leader acts without limit.
#[must_use]
pub fn by_reference(config: Config) -> Config {
    config.bounds(no_bounds())
}

/// The bounds that mark a set-up by the reference's rules, which know none.
fn no_bounds() -> Bounds {
    Bounds::default().acting(Some(Duration::MAX))
}

/// Makes the usual set-up of the reference, in which work that returns does not end its term.
#[must_use]
pub fn reference(identity: &str) -> Config {
    by_reference(Config::new(identity)).work_ends_term(false)
}

/// Tells whether a set-up is one by the reference's rules.
#[must_use]
pub fn is_reference(config: &Config) -> bool {
    config.bounds.acting == Some(Duration::MAX)
}

/// Checks a set-up. The reference refuses none because it is not safe.
///
/// # Errors
/// The first rule that is violated.
pub fn validate(config: &Config) -> Result<(), ConfigError> {
    use ConfigError::{LeaseNotWholeSeconds, UnsafeTiming};
    match config.validate() {
        Err(LeaseNotWholeSeconds | UnsafeTiming { .. }) if is_reference(config) => Ok(()),
        checked => checked,
    }
}

/// Makes the elector that ships, or the reference's if the set-up is one by its rules.
#[must_use]
pub fn elector(config: Config) -> Boxed<Election> {
    Boxed(rules(config))
}

pub(crate) fn rules(config: Config) -> Rules {
    if is_reference(&config) {
        assert_eq!(
            config.bounds,
            no_bounds(),
            "the acting time marks the reference, which has no bounds"
        );
        Box::new(Plain::new(REFERENCE, config))
    } else {
        Box::new(Election::unchecked(config))
    }
}
