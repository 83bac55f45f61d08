//! The safety inequalities, solved.

use std::time::Duration;

use seatrial_core::elector::{Bounds, Timing};

const MILLION: u128 = 1_000_000;

/// How long a follower with the fastest clock waits, at least, after an applied write before it
/// takes the lease: `L/(1+ρ)`, rounded down.
#[must_use]
pub fn shortest_wait(timing: &Timing, drift_ppm: u32) -> Duration {
    let lease = timing.stored_lease().as_nanos();
    from_nanos(lease * MILLION / (MILLION + u128::from(drift_ppm)))
}

/// Returns how long a time on the slowest clock lasts: `t/(1-ρ)`, rounded up.
#[must_use]
pub fn longest(time: Duration, drift_ppm: u32) -> Duration {
    let slowest = MILLION.saturating_sub(u128::from(drift_ppm)).max(1);
    from_nanos((time.as_nanos() * MILLION).div_ceil(slowest))
}

fn from_nanos(nanos: u128) -> Duration {
    u64::try_from(nanos).map_or(Duration::MAX, Duration::from_nanos)
}

/// A difference that may be negative: the room that an inequality leaves, or the amount by which it
/// is violated.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Slack {
    /// It is violated by this much.
    Short(Duration),
    /// It leaves this much room.
    Room(Duration),
}

impl Slack {
    /// Returns `have - need`.
    #[must_use]
    pub fn between(need: Duration, have: Duration) -> Self {
        match have.checked_sub(need) {
            Some(room) => Self::Room(room),
            None => Self::Short(need - have),
        }
    }

    /// Tells whether the inequality holds.
    #[must_use]
    pub fn holds(self) -> bool {
        matches!(self, Self::Room(_))
    }

    /// Returns the slack as seconds, negative if violated.
    #[must_use]
    pub fn as_secs_f64(self) -> f64 {
        match self {
            Self::Short(by) => -by.as_secs_f64(),
            Self::Room(room) => room.as_secs_f64(),
        }
    }
}

/// The values besides its durations on which the safety of the classic profile depends
/// (`election:SF-9`).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Surroundings {
    /// How late an answer may be (ℓ).
    pub reply: Duration,
    /// How much of the wait is lost because renewals look alike (κ).
    pub collision: Duration,
    /// Drift, lateness of timers, winding down of work (ρ, ε, γ).
    pub bounds: Bounds,
}

/// Returns the room that `ℓ + κ + (R+D)/(1-ρ) + ε + γ <= L/(1+ρ)` leaves (`election:SF-9`).
#[must_use]
pub fn classic_slack(timing: &Timing, around: &Surroundings) -> Slack {
    let bounds = &around.bounds;
    let stops = longest(timing.retry.saturating_add(timing.renew), bounds.drift_ppm);
    let need = [around.reply, around.collision, stops, bounds.scheduling, bounds.work]
        .into_iter()
        .fold(Duration::ZERO, Duration::saturating_add);
    Slack::between(need, shortest_wait(timing, bounds.drift_ppm))
}

/// Returns the latest answer that is safe under the classic rules, `None` if none is safe. It is
/// the value for which both sides of the inequality of `election:SF-9` are equal.
///
/// Up to the renew deadline, the answer to a renewal decides. A renewal's answer that comes later
/// is not handled, so beyond the deadline only the answer to an acquisition matters. An acquisition
/// needs no retry period, so its limit is higher by that period.
#[must_use]
pub fn classic_latest_reply(timing: &Timing, bounds: &Bounds) -> Option<Duration> {
    let instant =
        Surroundings { reply: Duration::ZERO, collision: Duration::ZERO, bounds: *bounds };
    let Slack::Room(room) = classic_slack(timing, &instant) else { return None };
    let deadline = longest(timing.renew, bounds.drift_ppm);
    if room < deadline {
        return Some(room);
    }
    let acquisition = room + longest(timing.retry, bounds.drift_ppm);
    Some(acquisition.max(deadline))
}

/// Returns the largest drift, in millionths, that the classic rules tolerate with instant answers
/// and instant work: `(1+ρ)/(1-ρ) < L/(R+D)`; zero if they tolerate none.
#[must_use]
pub fn classic_largest_drift(timing: &Timing) -> u32 {
    let stops = timing.retry.saturating_add(timing.renew).as_nanos();
    let lease = timing.stored_lease().as_nanos();
    let Some(room) = lease.checked_sub(stops) else { return 0 };
    u32::try_from(room * MILLION / (lease + stops).max(1)).unwrap_or(u32::MAX)
}

/// Returns the longest acting time that is safe in the strict profile (`election:SF-10`).
#[must_use]
pub fn strict_longest_acting(timing: &Timing, bounds: &Bounds) -> Duration {
    bounds.longest_acting(timing.stored_lease())
}

/// A condition of the table in `election:SF-9`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Condition {
    /// The situation.
    pub situation: &'static str,
    /// The condition.
    pub condition: &'static str,
    /// How much room it leaves.
    pub slack: Slack,
}

/// Returns the conditions of the classic profile's safety in some situations, for a client that
/// gives up a call after `client_timeout`.
#[must_use]
pub fn classic_conditions(timing: &Timing, client_timeout: Duration) -> Vec<Condition> {
    let Timing { renew, retry, .. } = *timing;
    let lease = timing.stored_lease();
    let condition = |situation, condition, need: Duration| Condition {
        situation,
        condition,
        slack: Slack::between(need, lease),
    };
    vec![
        condition("perfect clocks, instant answers", "R + D <= L", retry.saturating_add(renew)),
        condition(
            "perfect clocks, renewals as late as the client allows",
            "min(T, D) + R + D <= L",
            client_timeout.min(renew).saturating_add(retry).saturating_add(renew),
        ),
        condition(
            "perfect clocks, renewals without a client timeout",
            "D + R + D <= L",
            renew.saturating_add(retry).saturating_add(renew),
        ),
        condition(
            "perfect clocks, an acquisition as late as the client allows",
            "T + D <= L",
            client_timeout.saturating_add(renew),
        ),
    ]
}

/// How long the cluster may be without a leader (`election` section 7), if calls succeed within
/// `call`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Liveness {
    /// After a crash (`election:LV-1`).
    pub after_crash: Duration,
    /// After a release was applied (`election:LV-2`).
    pub after_release: Duration,
    /// Without a lock object (`election:LV-3`).
    pub without_object: Duration,
}

/// Returns the bounds on the time without a leader.
#[must_use]
pub fn liveness(timing: &Timing, drift_ppm: u32, call: Duration) -> Liveness {
    let poll = timing.retry.mul_f64(1.0 + seatrial_core::elector::JITTER);
    let waits = timing.stored_lease().saturating_add(poll).saturating_add(poll);
    Liveness {
        after_crash: longest(waits, drift_ppm).saturating_add(call.saturating_mul(6)),
        after_release: longest(poll, drift_ppm).saturating_add(call.saturating_mul(3)),
        without_object: call.saturating_mul(2),
    }
}
