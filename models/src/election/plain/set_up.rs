//! Whose rules an elector follows: those that ship, or the reference's. The pages call the first
//! the strict profile, and the second the classic one.

use std::time::Duration;

use seatrial_core::elector::{Bounds, Config, ConfigError, Election};
use seatrial_core::machine::Boxed;

use super::{Plain, REFERENCE, Rules};

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
