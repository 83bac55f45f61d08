//! The settings that are refused, and the order of the checks.

use std::time::Duration;

use crate::elector::{Bounds, Config, ConfigError, Timing, validate_nanos};

const S: i64 = 1_000_000_000;

#[test]
fn durations_are_checked_in_the_order_of_the_reference() {
    use ConfigError::*;
    for (lease, renew, retry, expected) in [
        (15 * S, 10 * S, 2 * S, Ok(())),
        (0, 0, 0, Err(LeaseNotGreaterThanRenew)),
        (10 * S, 10 * S, 2 * S, Err(LeaseNotGreaterThanRenew)),
        (15 * S, 12 * S, 10 * S, Err(RenewNotGreaterThanJitteredRetry)),
        (15 * S, 12 * S + 1, 10 * S, Ok(())),
        (-1, -2, -10, Err(LeaseNotPositive)),
        (0, -2, -10, Err(LeaseNotPositive)),
        (1, 0, -10, Err(RenewNotPositive)),
        (2, 1, -10, Err(RetryNotPositive)),
        (2, 1, 0, Err(RetryNotPositive)),
        (i64::MAX, i64::MAX - 1, i64::MAX, Err(RenewNotGreaterThanJitteredRetry)),
        (i64::MAX, i64::MIN, i64::MIN, Err(RenewNotGreaterThanJitteredRetry)),
    ] {
        assert_eq!(validate_nanos(lease, renew, retry), expected, "{lease} {renew} {retry}");
    }
}

#[test]
fn an_empty_identity_is_refused_last() {
    assert_eq!(Config::new("").validate(), Err(ConfigError::EmptyIdentity));
    let both = Config { timing: Timing::seconds(1, 1, 1), ..Config::new("") };
    assert_eq!(both.validate(), Err(ConfigError::LeaseNotGreaterThanRenew));
}

fn refused(timing: Timing, bounds: Bounds) -> Result<(), ConfigError> {
    Config { timing, bounds, ..Config::new("me") }.validate()
}

#[test]
fn fractions_of_a_second_are_refused() {
    let timing = Timing {
        lease: Duration::from_millis(1_900),
        renew: Duration::from_millis(1_400),
        retry: Duration::from_millis(400),
    };
    assert_eq!(refused(timing, Bounds::default()), Err(ConfigError::LeaseNotWholeSeconds));
    let lease = Timing::DEFAULT.lease + Duration::from_nanos(1);
    let timing = Timing { lease, ..Timing::DEFAULT };
    assert_eq!(refused(timing, Bounds::default()), Err(ConfigError::LeaseNotWholeSeconds));
}

#[test]
fn a_lease_may_last_for_ever() {
    let timing = Timing { lease: Duration::from_secs(u64::MAX), ..Timing::DEFAULT };
    assert!(Config { timing, ..Config::new("me") }.validate().is_ok());
}

#[test]
fn the_longest_acting_time_is_that_of_the_formula() {
    let bounds = Bounds::default();
    let longest = bounds.longest_acting(Duration::from_secs(15));
    let formula = 0.99 * (15.0 / 1.01 - 1.0);
    assert!((longest.as_secs_f64() - formula).abs() < 1e-8, "{longest:?} {formula}");
    // 14,851,485,148.51 until another may take over, and 0.99 of the rest after that: rounded down.
    assert_eq!(longest, Duration::from_nanos(13_712_970_296));
}

#[test]
fn an_acting_time_beyond_the_bound_is_refused() {
    let timing = Timing::DEFAULT;
    let longest = Bounds::default().longest_acting(timing.lease);
    let with = |acting| refused(timing, Bounds { acting: Some(acting), ..Bounds::default() });
    assert_eq!(with(longest), Ok(()));
    let Err(ConfigError::UnsafeTiming { needed, given }) = with(longest + Duration::from_nanos(2))
    else {
        panic!("two nanoseconds too many")
    };
    assert!(needed > given, "{needed:?} {given:?}");
    let Err(ConfigError::UnsafeTiming { needed, .. }) = with(Duration::from_secs(15)) else {
        panic!("as long as the lease")
    };
    // 15 s by a clock that runs 1 % slow, the work, and a late timer, 1 % slow again.
    assert_eq!(needed, Duration::from_nanos(16_151_515_152));
}

#[test]
fn an_acting_time_that_leaves_none_to_renew_is_refused() {
    let with = |nanos| {
        let acting = Some(Duration::from_nanos(nanos));
        refused(Timing::DEFAULT, Bounds { acting, ..Bounds::default() })
    };
    assert_eq!(with(2_400_000_001), Ok(()));
    let needed = Duration::from_millis(2_400);
    assert_eq!(with(2_400_000_000), Err(ConfigError::UnsafeTiming { needed, given: needed }));
}

#[test]
fn bounds_that_leave_no_time_at_all_are_refused() {
    let slow_work = Bounds { work: Duration::from_secs(20), ..Bounds::default() };
    let wild_clock = Bounds { drift_ppm: u32::MAX, ..Bounds::default() };
    for bounds in [slow_work, wild_clock] {
        let error = refused(Timing::DEFAULT, bounds);
        assert!(matches!(error, Err(ConfigError::UnsafeTiming { .. })), "{error:?}");
    }
}
