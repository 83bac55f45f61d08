//! The boundary at every safe drift: the limit that the formula gives, and the limit that was
//! found.

use std::time::Duration;

use seatrial_core::elector::{Bounds, Config, ConfigError, JITTER, Timing};

use super::{Boundary, Question, classic_largest_drift, strict_longest_acting};
use crate::cluster::invariants::Terms;
use crate::cluster::run::Run;
use crate::election::plain;

/// The region to survey.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Region {
    /// The durations.
    pub timing: Timing,
    /// Whether the strict profile is surveyed.
    pub strict: bool,
    /// Seeds the choices of the adversary.
    pub seed: u64,
}

/// How far the found and the computed limit may differ.
pub const TOLERANCE: f64 = 0.01;

/// How many drifts are searched, from none to nearly the largest that is safe.
const SEARCHED: u32 = 4;

/// The boundary at one drift.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Point {
    /// The drift, in millionths.
    pub drift_ppm: u32,
    /// The computed and the found limit.
    pub boundary: Boundary,
}

/// The largest safe drift, in millionths, for a given value of the other quantity.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Drift {
    /// The latest answer, or the acting time, for which the drift was searched.
    pub value: Duration,
    /// The drift by the formula; `None` if no drift is safe.
    pub computed: Option<u32>,
    /// The smallest drift at which two leaders were found.
    pub unsafe_at: Option<u32>,
}

/// The result of a survey.
#[derive(Clone, Debug)]
pub struct Survey {
    /// The region that was surveyed.
    pub region: Region,
    /// The largest drift at which any value is safe.
    pub largest_drift_ppm: u32,
    /// The largest safe drift, searched on its own.
    pub drift: Drift,
    /// The boundary at some drifts.
    pub points: Vec<Point>,
    /// A run with two leaders, a hundredth beyond the boundary without drift.
    pub worst: Option<Run>,
    /// The terms by which that run is judged.
    pub terms: Terms,
}

impl Region {
    /// Refuses durations that no elector accepts, or that take too long to simulate.
    ///
    /// # Errors
    /// The mistake and its remedy, in one line.
    pub fn validate(&self) -> Result<(), String> {
        const MOST_PERIODS: u128 = 1_000;
        let config = Config::new("a").timing(self.timing);
        let config = if self.strict { config } else { plain::by_reference(config) };
        let advice = |error: ConfigError| {
            format!("{error}: give --lease longer than --renew, and --renew than 1.2 times --retry")
        };
        plain::validate(&config).map_err(advice)?;
        let Timing { lease, retry, .. } = self.timing;
        if lease.as_secs() == 0 {
            return Err("a lease is stored in whole seconds: give --lease of 1s or more".to_owned());
        }
        if lease.as_nanos() / retry.as_nanos().max(1) > MOST_PERIODS {
            return Err(format!(
                "the lease is more than {MOST_PERIODS} retry periods: give a longer --retry"
            ));
        }
        Ok(())
    }

    /// The bounds of everything except the drift: the default bounds in the strict profile, and
    /// none in the classic profile, which has no bounds.
    fn bounds(&self, drift_ppm: u32) -> Bounds {
        if self.strict {
            return Bounds::default().drift_ppm(drift_ppm);
        }
        Bounds::PERFECT.drift_ppm(drift_ppm)
    }

    /// The question of the boundary at one drift.
    #[must_use]
    pub fn question(&self, drift_ppm: u32) -> Question {
        let Self { timing, strict, seed } = *self;
        Question { timing, bounds: self.bounds(drift_ppm), seed, ..Question::new(strict) }
    }

    /// The largest drift at which some value is safe. A strict elector must be able to renew
    /// before its acting time is over (`election:LE-4`).
    #[must_use]
    pub fn largest_drift_ppm(&self) -> u32 {
        if !self.strict {
            return classic_largest_drift(&self.timing);
        }
        let poll = self.timing.retry.mul_f64(JITTER);
        let safe = |ppm| strict_longest_acting(&self.timing, &self.bounds(ppm)) > poll;
        let (mut low, mut high) = (0, 1_000_000);
        while high - low > 1 {
            let middle = low + (high - low) / 2;
            if safe(middle) { low = middle } else { high = middle }
        }
        low
    }

    /// Computes the boundary, searches it, and compares.
    #[must_use]
    pub fn survey(&self) -> Survey {
        let largest = self.largest_drift_ppm();
        let drifts = (0..SEARCHED).map(|number| largest / SEARCHED * number);
        let mut points: Vec<Point> = Vec::new();
        for drift_ppm in drifts {
            if points.iter().all(|point| point.drift_ppm != drift_ppm) {
                points.push(Point { drift_ppm, boundary: self.question(drift_ppm).answer() });
            }
        }
        let question = self.question(0);
        let beyond = points[0].boundary.unsafe_at.unwrap_or_default().mul_f64(1.01);
        let worst = question.worst_run_at(beyond);
        let terms = Terms { config: question.config(beyond), drift_ppm: 0 };
        let drift = self.drift();
        Survey { region: *self, largest_drift_ppm: largest, drift, points, worst, terms }
    }

    /// Searches the largest drift that is safe with instant answers, or with the acting time that
    /// the default bounds allow.
    fn drift(&self) -> Drift {
        let vouched = Bounds::default().drift_ppm;
        let (value, computed) = if self.strict {
            (strict_longest_acting(&self.timing, &self.bounds(vouched)), Some(vouched))
        } else {
            let computed = classic_largest_drift(&self.timing);
            let any = self.question(0).computed().is_some();
            (Duration::ZERO, any.then_some(computed))
        };
        const RUNS: u32 = 40;
        let two = |ppm| self.question(ppm).two_leaders_at(value, RUNS).is_some();
        let (mut low, mut high) = (0, 950_000);
        let unsafe_at = two(high).then(|| {
            while high - low > 10 {
                let middle = low + (high - low) / 2;
                if two(middle) { high = middle } else { low = middle }
            }
            high
        });
        Drift { value, computed, unsafe_at }
    }
}

impl Boundary {
    /// Tells whether the found and the computed drift agree: within one percent, or both say that
    /// no drift is safe.
    #[must_use]
    pub fn agrees(&self) -> bool {
        match (self.computed, self.unsafe_at) {
            (Some(_), Some(_)) => self.gap().is_some_and(|gap| gap.abs() <= TOLERANCE),
            (None, Some(_)) => self.safe_at.is_zero(),
            (_, None) => false,
        }
    }
}

impl Drift {
    /// Tells whether the found and the computed limit agree.
    #[must_use]
    pub fn agrees(&self) -> bool {
        match (self.computed, self.unsafe_at) {
            (Some(computed), Some(found)) => {
                let apart = f64::from(found.abs_diff(computed));
                apart <= (f64::from(computed) * TOLERANCE).max(20.0)
            }
            (None, Some(found)) => found <= 10,
            (_, None) => false,
        }
    }
}

impl Survey {
    /// Tells whether everything that was found agrees with the formula.
    #[must_use]
    pub fn agrees(&self) -> bool {
        self.drift.agrees() && self.points.iter().all(|point| point.boundary.agrees())
    }

    /// Tells whether two leaders were found inside the region that the formula calls safe.
    #[must_use]
    pub fn is_violated(&self) -> bool {
        let inside = |point: &Point| point.boundary.gap().is_some_and(|gap| gap < -TOLERANCE);
        self.points.iter().any(inside)
    }
}
