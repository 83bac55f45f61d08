//! The safe region of the elector: computed from the inequalities, and searched for on the running
//! machine (`election:SF-9`, `SF-10`, `SF-20`).
//!
//! One quantity decides: the latest answer in the classic profile, and the acting time in the
//! strict profile. The formula gives its limit. The search steers an adversary and bisects, to find
//! the smallest value at which two processes act as leader at the same time. Both must agree.

mod command;
mod formula;
mod picture;
mod steer;
mod survey;

pub(crate) mod tests;

use std::sync::Arc;
use std::time::Duration;

use seatrial_core::elector::{Bounds, Config, Timing};

use super::NodeClock;
use super::invariants::nanos;
use super::run::{Run, longest_overlap};
use super::world::{NodeSetup, Setup, Simulated};
use crate::election::plain::{self, by_reference};
use crate::random::Random;
use steer::Steered;

pub use command::COMMAND;
pub use formula::{
    Condition, Liveness, Slack, Surroundings, classic_conditions, classic_largest_drift,
    classic_latest_reply, classic_slack, liveness, longest, shortest_wait, strict_longest_acting,
};
pub use picture::picture;
pub use survey::{Drift, Point, Region, Survey, TOLERANCE};

/// The region whose boundary is searched.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Question {
    /// The durations.
    pub timing: Timing,
    /// Whether the profile is strict. Then the acting time is searched; in the classic profile it
    /// is the latest answer.
    pub strict: bool,
    /// Drift, work, and lateness of timers. The lateness matters only in the strict profile: timers
    /// of the classic profile are served at once here.
    pub bounds: Bounds,
    /// How many runs the search may make.
    pub runs: u32,
    /// Seeds the choices of the adversary.
    pub seed: u64,
}

/// The boundary of a safe region.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Boundary {
    /// The limit by the formula; `None` if no value is safe.
    pub computed: Option<Duration>,
    /// The smallest value at which two leaders were found; `None` if they were found at no value.
    pub unsafe_at: Option<Duration>,
    /// The largest value below `unsafe_at` at which no two leaders were found.
    pub safe_at: Duration,
    /// How long the two leaders overlap at `unsafe_at`.
    pub overlap: Duration,
    /// How many runs were made.
    pub runs: u32,
}

impl Boundary {
    /// Returns how far beyond the computed limit two leaders were first found, as a fraction of the
    /// limit; negative if they were found below it.
    #[must_use]
    pub fn gap(&self) -> Option<f64> {
        let (computed, found) = (self.computed?.as_secs_f64(), self.unsafe_at?.as_secs_f64());
        Some((found - computed) / computed.max(1e-9))
    }
}

impl Question {
    /// Asks about the recommended durations with the default bounds.
    #[must_use]
    pub fn new(strict: bool) -> Self {
        Self { timing: Timing::DEFAULT, strict, bounds: Bounds::default(), runs: 3_000, seed: 1 }
    }

    /// Computes the limit.
    #[must_use]
    pub fn computed(&self) -> Option<Duration> {
        if self.strict {
            Some(strict_longest_acting(&self.timing, &self.bounds)).filter(|limit| !limit.is_zero())
        } else {
            classic_latest_reply(&self.timing, &self.bounds)
        }
    }

    /// Computes the limit and searches for it.
    #[must_use]
    pub fn answer(&self) -> Boundary {
        let mut search = self.search();
        let mut low = 0;
        let mut high = 2 * nanos(self.timing.lease);
        let per_value = self.runs / 40;
        let overlap = |run: Run| overlap_of_actors(&run);
        let mut found = search.two_leaders(high, per_value).map(overlap);
        if found.is_some() {
            while high - low > nanos(self.timing.lease) / 1_000_000 {
                let middle = low + (high - low) / 2;
                match search.two_leaders(middle, per_value).map(overlap) {
                    Some(overlap) => (high, found) = (middle, Some(overlap)),
                    None => low = middle,
                }
            }
        } else {
            low = high;
        }
        Boundary {
            computed: self.computed(),
            unsafe_at: found.map(|_| Duration::from_nanos(high)),
            safe_at: Duration::from_nanos(low),
            overlap: Duration::from_nanos(found.unwrap_or(0)),
            runs: search.runs,
        }
    }

    /// Searches for two leaders at one value of the quantity that decides; returns the longest
    /// overlap.
    #[must_use]
    pub fn two_leaders_at(&self, value: Duration, runs: u32) -> Option<Duration> {
        let run = self.search().two_leaders(nanos(value), runs)?;
        Some(Duration::from_nanos(overlap_of_actors(&run)))
    }

    /// Returns the first run with two leaders at one value of the quantity that decides.
    #[must_use]
    pub fn worst_run_at(&self, value: Duration) -> Option<Run> {
        self.search().two_leaders(nanos(value), self.runs)
    }

    /// Returns the set-up of the electors at one value of the quantity that decides.
    #[must_use]
    pub fn config(&self, value: Duration) -> Config {
        let Self { timing, strict, bounds, .. } = *self;
        let config = Config::new("").timing(timing).bounds(bounds.acting(Some(value)));
        if strict { config } else { by_reference(config) }
    }

    fn search(&self) -> Search {
        Search { question: *self, runs: 0, random: Random::new(self.seed) }
    }
}

struct Search {
    question: Question,
    runs: u32,
    random: Random,
}

impl Search {
    /// Returns the first of `runs` runs in which two processes act as leader.
    fn two_leaders(&mut self, value: u64, runs: u32) -> Option<Run> {
        for number in 0..runs.max(4) {
            // The number of the last write that succeeds: the acquisition, the first renewal, or
            // later.
            let last_write = [0, 2, 3, 1][number as usize % 4];
            // The first two runs of each kind have the extreme answers, the others have one in
            // between.
            let (earliest, latest) = self.reply_range(last_write, value);
            let reply = match number / 4 {
                0 => earliest,
                1 => latest,
                _ => earliest + self.random.up_to(latest.saturating_sub(earliest)),
            };
            self.runs += 1;
            let run = self.steered(value, last_write, reply);
            if overlap_of_actors(&run) > 0 {
                return Some(run);
            }
        }
        None
    }

    /// Returns the range of answer times to the last write that keep the leader longest. In the
    /// strict profile the term must be ended by the watchdog, not by the round, and the answer must
    /// be handled. In the classic profile the answer takes exactly as long as the value asks.
    fn reply_range(&self, last_write: u32, value: u64) -> (u64, u64) {
        let Timing { renew, retry, .. } = self.question.timing;
        let (renew, retry) = (nanos(renew), nanos(retry));
        let real = |local: u64| {
            nanos(longest(Duration::from_nanos(local), self.question.bounds.drift_ppm))
        };
        if !self.question.strict {
            return (value, value);
        }
        let (earliest, latest) = match last_write {
            0 => (value.saturating_sub(renew), value.saturating_sub(1)),
            _ => (value.saturating_sub(renew + retry), renew),
        };
        (real(earliest).min(real(latest)), real(latest))
    }

    fn steered(&self, value: u64, last_write: u32, reply: u64) -> Run {
        let Question { timing, strict, bounds, .. } = self.question;
        let drift = i64::from(bounds.drift_ppm);
        let rates = [-drift, drift];
        let clocks = rates.map(|rate| NodeClock::new(0, rate));
        let mut faults = Steered::new(timing, clocks, last_write, reply);
        faults.work = nanos(bounds.work);
        faults.scheduling = if strict { nanos(bounds.scheduling) } else { 0 };
        let node = |rate_ppm: i64, starts_at: u64| NodeSetup {
            rate_ppm,
            starts_at,
            ..NodeSetup::default()
        };
        let setup = Setup {
            config: self.question.config(Duration::from_nanos(value)),
            nodes: vec![node(rates[0], 0), node(rates[1], 1)],
            client_timeout: None,
            actions: Vec::new(),
            horizon: 6 * nanos(timing.lease) + 4 * reply,
            probe: false,
        };
        Simulated::new(setup, faults, Arc::new(plain::elector)).finish()
    }
}

fn overlap_of_actors(run: &Run) -> u64 {
    longest_overlap(&run.acting_windows())
}
