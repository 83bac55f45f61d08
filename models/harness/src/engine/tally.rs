//! Counts traces, and tells how many are left.
//!
//! Two numbers say what a sample has not seen. The *unseen mass* is the chance that one more
//! execution is a new trace: about the share of executions whose trace came only once (Good, after
//! Turing, 1953). The *number of traces* is Knuth's estimate, from executions of which the engine
//! tells how many traces each stands for: it does not matter how much likelier a sampler makes some
//! traces than others. Its interval holds the true number in about 19 of 20 samples while the sample
//! is not small for the program; where traces are beyond all counting, it is a lower bound.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Execution;

/// How much an exploration has not seen.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Left {
    /// The chance that one more execution would have been a new trace.
    pub unseen_mass: f64,
    /// How many traces there are, if that can be told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub estimated_traces: Option<f64>,
    /// The interval of that number, with a confidence of 95 %.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub estimated_traces_interval: Option<[f64; 2]>,
    /// How the number of traces was found: `counted`, or `knuth`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub estimator: Option<String>,
}

/// The numbers of traces are hashes already.
#[derive(Clone, Copy, Default, Debug)]
struct Hashed(u64);

impl Hasher for Hashed {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, _: &[u8]) {
        unreachable!("only whole numbers are hashed")
    }

    fn write_u64(&mut self, number: u64) {
        self.0 = number;
    }
}

/// Counts of the traces and executions of an exploration.
#[derive(Clone, Default, Debug)]
pub(crate) struct Tally {
    /// How often each trace came.
    seen: HashMap<u64, u32, BuildHasherDefault<Hashed>>,
    executions: u64,
    stand_for: Sum,
}

/// A sum of numbers, of their squares, and how many they are; the numbers come as logarithms.
#[derive(Clone, Copy, Default, Debug)]
struct Sum {
    count: u64,
    sum: f64,
    squares: f64,
}

impl Sum {
    fn add(&mut self, logarithm: f64) {
        let value = logarithm.exp();
        self.count += 1;
        self.sum += value;
        self.squares += value * value;
    }

    /// Returns the mean, and how far it is likely to be off, as a share of it; `None` if there is
    /// too little to say, or the numbers are too large.
    fn mean(&self) -> Option<(f64, f64)> {
        let count = self.count as f64;
        let mean = self.sum / count;
        let variance = (self.squares / count - mean * mean).max(0.0) / (count - 1.0);
        let off = variance.sqrt() / mean;
        (self.count > 1 && mean > 0.0 && mean.is_finite() && off.is_finite()).then_some((mean, off))
    }
}

impl Tally {
    pub(crate) fn count(&mut self, execution: &Execution<'_>) {
        let Some(trace) = execution.trace else { return };
        self.executions += 1;
        *self.seen.entry(trace).or_default() += 1;
        if let Some(logarithm) = execution.stands_for {
            self.stand_for.add(logarithm);
        }
    }

    /// Adds the counts of other executions of a search, which is no sample.
    #[cfg(feature = "shuttle")]
    pub(crate) fn absorb(&mut self, other: Self) {
        debug_assert_eq!(other.stand_for.count, 0);
        self.executions += other.executions;
        for (trace, count) in other.seen {
            *self.seen.entry(trace).or_default() += count;
        }
    }

    /// Returns how many distinct traces were seen, where the engine can tell.
    pub(crate) fn distinct(&self) -> Option<u64> {
        (self.executions > 0).then_some(self.seen.len() as u64)
    }

    /// Tells how much was not seen; `None` if the engine cannot tell traces apart, or the
    /// executions are not a sample.
    pub(crate) fn left(&self, exhausted: bool) -> Option<Left> {
        let distinct = self.distinct()? as f64;
        if exhausted {
            return Some(Left {
                unseen_mass: 0.0,
                estimated_traces: Some(distinct),
                estimated_traces_interval: Some([distinct, distinct]),
                estimator: Some("counted".to_owned()),
            });
        }
        if self.stand_for.count == 0 {
            return None;
        }
        let once = self.seen.values().filter(|&&count| count == 1).count() as f64;
        let estimate = self.stand_for.mean().map(|(mean, off)| {
            let factor = (1.96 * (off * off).ln_1p().sqrt()).exp();
            [mean / factor, mean, mean * factor].map(|number| number.round().max(distinct))
        });
        Some(Left {
            unseen_mass: (once / self.executions as f64 * 1e6).round() / 1e6,
            estimated_traces: estimate.map(|[_, mean, _]| mean),
            estimated_traces_interval: estimate.map(|[low, _, high]| [low, high]),
            estimator: estimate.map(|_| "knuth".to_owned()),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::End;

    fn seen(traces: &[(u64, Option<f64>)]) -> Tally {
        let mut tally = Tally::default();
        for (number, &(trace, stands_for)) in traces.iter().enumerate() {
            tally.count(&Execution {
                number: number as u64 + 1,
                end: End::Finished,
                steps: 1,
                preemptions: None,
                schedule: None,
                trace: Some(trace),
                stands_for: stands_for.map(f64::ln),
                is_only: false,
            });
        }
        tally
    }

    #[test]
    fn the_unseen_mass_is_the_share_of_what_came_once() {
        let tally = seen(&[(1, None), (2, Some(3.0)), (2, None), (3, Some(3.0))]);
        let left = tally.left(false).unwrap();
        assert_eq!(left.unseen_mass, 0.5);
        assert_eq!(left.estimated_traces, Some(3.0));
        assert_eq!(left.estimated_traces_interval, Some([3.0, 3.0]));
    }

    #[test]
    fn an_estimate_is_never_less_than_what_was_seen() {
        let tally = seen(&[(1, Some(1.0)), (2, Some(2.0)), (3, Some(0.0)), (4, None)]);
        let left = tally.left(false).unwrap();
        assert_eq!(left.estimated_traces, Some(4.0));
        assert!(left.estimated_traces_interval.unwrap()[0] >= 4.0);
    }

    #[test]
    fn what_was_exhausted_is_counted_and_not_estimated() {
        let left = seen(&[(1, None), (2, None)]).left(true).unwrap();
        assert_eq!((left.unseen_mass, left.estimated_traces), (0.0, Some(2.0)));
        assert_eq!(left.estimator.as_deref(), Some("counted"));
    }

    #[test]
    fn numbers_beyond_all_counting_are_not_given() {
        let tally = seen(&[(1, Some(f64::MAX)), (2, Some(f64::MAX))]);
        assert_eq!(tally.left(false).unwrap().estimated_traces, None);
        assert_eq!(seen(&[(1, None)]).left(false), None, "no sample of that kind");
    }
}
