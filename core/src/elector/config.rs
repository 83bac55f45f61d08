//! The settings of an elector, and the settings that are refused.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use super::record::Name;

/// The jitter factor of the acquire loop: a candidate polls every `retry` to `(1 + J) * retry`.
pub const JITTER: f64 = 1.2;

/// The three durations of an election (`election:LE-1`).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Timing {
    /// How long others wait after they last saw the holder renew the lease (L).
    pub lease: Duration,
    /// How long a leader tries to renew before it gives up (D).
    pub renew: Duration,
    /// How long to wait between attempts (R).
    pub retry: Duration,
}

impl Timing {
    /// The recommended 15, 10 and 2 seconds (`election:LE-5`).
    pub const DEFAULT: Self = Self::seconds(15, 10, 2);

    /// Makes a triple of whole seconds.
    #[must_use]
    pub const fn seconds(lease: u64, renew: u64, retry: u64) -> Self {
        Self {
            lease: Duration::from_secs(lease),
            renew: Duration::from_secs(renew),
            retry: Duration::from_secs(retry),
        }
    }

    /// Returns when a separate client for the lock gives up a request: after half the renew
    /// deadline, but not before a second (`election:LK-6`, `LK-28`).
    #[must_use]
    pub fn request_timeout(&self) -> Duration {
        (self.renew / 2).max(Duration::from_secs(1))
    }

    /// Returns the whole seconds of the lease, which are stored and obeyed.
    #[must_use]
    pub const fn stored_lease(&self) -> Duration {
        Duration::from_secs(self.lease.as_secs())
    }
}

/// The bounds that a user guarantees (`election:LE-4`).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Bounds {
    /// By how many millionths a clock may run too fast or too slow (ρ).
    pub drift_ppm: u32,
    /// How long protected work goes on after its leadership was cancelled, at most (γ).
    pub work: Duration,
    /// By how much a timer may be late, at most (ε).
    pub scheduling: Duration,
    /// How long a leader acts after the start of its last successful attempt (A); `None` for the
    /// longest time that is safe.
    pub acting: Option<Duration>,
}

impl Default for Bounds {
    /// One percent of drift, and one second for work and scheduling together.
    fn default() -> Self {
        Self {
            drift_ppm: 10_000,
            work: Duration::from_millis(900),
            scheduling: Duration::from_millis(100),
            acting: None,
        }
    }
}

setters! {
    Bounds {
        drift_ppm: u32,
        work: Duration,
        scheduling: Duration,
        acting: Option<Duration>,
    }
}

impl Bounds {
    /// Perfect clocks, and nothing takes time: a starting point for simulations.
    pub const PERFECT: Self =
        Self { drift_ppm: 0, work: Duration::ZERO, scheduling: Duration::ZERO, acting: None };

    /// Returns the longest acting time that is safe for a lease,
    /// `(1-ρ) * (L/(1+ρ) - ε - γ)` (`election:SF-10`), rounded down; zero if there is none.
    #[must_use]
    pub fn longest_acting(&self, stored_lease: Duration) -> Duration {
        const MILLION: u128 = 1_000_000;
        let drift = u128::from(self.drift_ppm);
        let shortest_wait = stored_lease.as_nanos().saturating_mul(MILLION) / (MILLION + drift);
        let lost = self.work.saturating_add(self.scheduling).as_nanos();
        let left = shortest_wait.saturating_sub(lost);
        let acting = left.saturating_mul(MILLION.saturating_sub(drift)) / MILLION;
        Duration::from_nanos(u64::try_from(acting).unwrap_or(u64::MAX))
    }
}

/// How the versions of an object may be compared (`election:CX-12`).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Versions {
    /// Only for equality.
    #[default]
    Opaque,
    /// As numbers that grow with every write to the store. The store must never be reset to an
    /// older state while an elector lives.
    Ordered,
}

/// The settings of an elector (`election:LE-1`): call [`new`](Self::new), then change single
/// settings.
///
/// ```
/// use std::time::Duration;
/// use seatrial_core::elector::{Bounds, Config, Timing};
///
/// let config = Config::new("pod-1_4711")
///     .timing(Timing::seconds(30, 20, 4))
///     .bounds(Bounds::default().work(Duration::from_millis(300)))
///     .release_on_cancel(true);
/// assert!(config.validate().is_ok());
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Config {
    /// The identity of the participant; unique per incarnation of the process.
    pub identity: Name,
    /// Lease, renew and retry durations.
    pub timing: Timing,
    /// What the program guarantees: within these bounds there is at most one leader, whatever the
    /// latency (`election:SF-10`).
    pub bounds: Bounds,
    /// Whether to free the lease when a term ends.
    pub release_on_cancel: bool,
    /// Whether work that returns ends its term, so that another participant can lead. Work that
    /// panics always does. If false, a leader that has nothing left to do renews its lease until it
    /// is cancelled.
    pub work_ends_term: bool,
    /// Whether the server chooses the holder, and electors only renew (`election:LC-1`).
    pub coordinated: bool,
    /// How the store's versions may be compared.
    pub versions: Versions,
    /// The name of the elector in metrics and health messages.
    pub name: Arc<str>,
}

setters! {
    Config {
        identity: Name,
        timing: Timing,
        bounds: Bounds,
        release_on_cancel: bool,
        work_ends_term: bool,
        coordinated: bool,
        versions: Versions,
        name: Arc<str>,
    }
}

impl Config {
    /// Makes the recommended settings: the default bounds, 15/10/2 seconds.
    #[must_use]
    pub fn new(identity: &str) -> Self {
        Self {
            identity: Name::new(identity),
            timing: Timing::DEFAULT,
            bounds: Bounds::default(),
            release_on_cancel: false,
            work_ends_term: true,
            coordinated: false,
            versions: Versions::default(),
            name: Arc::from(""),
        }
    }

    /// Checks the settings (`election:LE-2`, `LE-4`).
    ///
    /// # Errors
    /// The first rule that is violated.
    pub fn validate(&self) -> Result<(), ConfigError> {
        let Timing { lease, renew, retry } = self.timing;
        validate_nanos(nanos(lease), nanos(renew), nanos(retry))?;
        if self.identity.is_empty() {
            return Err(ConfigError::EmptyIdentity);
        }
        validate_bounds(&self.timing, &self.bounds)
    }

    /// Returns how long a leader may act after the start of its last successful attempt (A).
    #[must_use]
    pub fn acting(&self) -> Duration {
        let Self { timing, bounds, .. } = self;
        bounds.acting.unwrap_or_else(|| bounds.longest_acting(timing.stored_lease()))
    }
}

/// Checks durations given in signed nanoseconds, as configuration files may hold them
/// (`election:LE-2`, 1 to 5).
///
/// # Errors
/// The first rule that is violated.
pub fn validate_nanos(lease: i64, renew: i64, retry: i64) -> Result<(), ConfigError> {
    if lease <= renew {
        return Err(ConfigError::LeaseNotGreaterThanRenew);
    }
    if renew <= jittered(retry) {
        return Err(ConfigError::RenewNotGreaterThanJitteredRetry);
    }
    if lease < 1 {
        return Err(ConfigError::LeaseNotPositive);
    }
    if renew < 1 {
        return Err(ConfigError::RenewNotPositive);
    }
    if retry < 1 {
        return Err(ConfigError::RetryNotPositive);
    }
    Ok(())
}

fn validate_bounds(timing: &Timing, bounds: &Bounds) -> Result<(), ConfigError> {
    if timing.lease.as_secs() == 0 || timing.lease.subsec_nanos() != 0 {
        return Err(ConfigError::LeaseNotWholeSeconds);
    }
    let longest = bounds.longest_acting(timing.stored_lease());
    let acting = bounds.acting.unwrap_or(longest);
    if acting > longest || longest.is_zero() {
        let (needed, given) = sides_of_the_bound(acting, timing.stored_lease(), bounds);
        return Err(ConfigError::UnsafeTiming { needed, given });
    }
    let needed = duration(jittered(nanos(timing.retry)));
    if acting <= needed {
        return Err(ConfigError::UnsafeTiming { needed, given: acting });
    }
    Ok(())
}

/// Returns both sides of `A/(1-ρ) + ε + γ <= L/(1+ρ)`, the left one rounded up.
fn sides_of_the_bound(acting: Duration, lease: Duration, bounds: &Bounds) -> (Duration, Duration) {
    const MILLION: u128 = 1_000_000;
    let drift = u128::from(bounds.drift_ppm);
    let slowest = MILLION.saturating_sub(drift).max(1);
    let acting = acting.as_nanos().saturating_mul(MILLION).div_ceil(slowest);
    let needed = u64::try_from(acting).map_or(Duration::MAX, Duration::from_nanos);
    let given = lease.as_nanos().saturating_mul(MILLION) / (MILLION + drift);
    (
        needed.saturating_add(bounds.scheduling).saturating_add(bounds.work),
        Duration::from_nanos(u64::try_from(given).unwrap_or(u64::MAX)),
    )
}

/// Returns J times a number of nanoseconds, rounded down.
fn jittered(retry: i64) -> i64 {
    (JITTER * retry as f64) as i64
}

fn nanos(duration: Duration) -> i64 {
    i64::try_from(duration.as_nanos()).unwrap_or(i64::MAX)
}

fn duration(nanos: i64) -> Duration {
    Duration::from_nanos(u64::try_from(nanos).unwrap_or(0))
}

/// Why settings are refused (`election:LE-2`, `LE-4`).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum ConfigError {
    /// The lease must be longer than the renew deadline.
    LeaseNotGreaterThanRenew,
    /// The renew deadline must be longer than the retry period with its jitter.
    RenewNotGreaterThanJitteredRetry,
    /// The lease must be positive.
    LeaseNotPositive,
    /// The renew deadline must be positive.
    RenewNotPositive,
    /// The retry period must be positive.
    RetryNotPositive,
    /// With an empty identity it would take itself for the leader of a free lease.
    EmptyIdentity,
    /// The stored lease must be at least one whole second.
    LeaseNotWholeSeconds,
    /// Within these bounds two leaders would be possible, or no time would be left to renew.
    UnsafeTiming {
        /// How much time is needed.
        needed: Duration,
        /// How much time there is.
        given: Duration,
    },
}

/// The messages about durations and the identity are the reference's, with its names for the
/// settings.
impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::LeaseNotGreaterThanRenew => "leaseDuration must be greater than renewDeadline",
            Self::RenewNotGreaterThanJitteredRetry => {
                "renewDeadline must be greater than retryPeriod*JitterFactor"
            }
            Self::LeaseNotPositive => "leaseDuration must be greater than zero",
            Self::RenewNotPositive => "renewDeadline must be greater than zero",
            Self::RetryNotPositive => "retryPeriod must be greater than zero",
            Self::EmptyIdentity => "Lock identity is empty",
            Self::LeaseNotWholeSeconds => {
                "`timing.lease` must be a whole number of seconds, at least one: that is stored"
            }
            Self::UnsafeTiming { needed, given } => return unsafe_timing(f, *needed, *given),
        })
    }
}

/// Tells how to mend unsafe timing. It cannot tell which time is too short: the time until others
/// may take over, or the time that is left to renew.
fn unsafe_timing(f: &mut fmt::Formatter<'_>, needed: Duration, given: Duration) -> fmt::Result {
    write!(
        f,
        "`timing` is not safe within `bounds`: {needed:?} needed, {given:?} given; \
         lengthen `timing.lease` or vouch for less `drift_ppm`, `work` and `scheduling`; if `acting` \
         is your own and too short, lengthen it or shorten `timing.retry`"
    )
}

impl std::error::Error for ConfigError {}
