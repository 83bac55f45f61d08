//! A case that failed on real threads is run again by itself: there a rare race and a verdict that
//! depends on the load of the machine look alike, and how often it fails tells a reader more. It
//! stays a violation, whatever comes of it.

use crate::engine::End;
use crate::interrupt;
use crate::outcome::{Finding, Trial};

/// How often a case is run again.
const TIMES: u64 = 20;
/// After this number of runs that were stuck no more follow: their threads stay behind, and each took
/// long.
const STUCK: usize = 2;

/// What came of running a case again.
pub(crate) struct Again {
    runs: u64,
    findings: Vec<Finding>,
}

impl Again {
    /// Runs a case that has failed as often as it takes.
    pub(crate) fn run(mut run: impl FnMut() -> Trial) -> Self {
        let mut again = Self { runs: 0, findings: Vec::new() };
        let is_stuck = |finding: &&Finding| matches!(finding.end, End::Deadlock(_));
        while again.runs < TIMES && !interrupt::asked() {
            again.runs += 1;
            again.findings.extend(run().findings);
            if again.findings.iter().filter(is_stuck).count() >= STUCK {
                break;
            }
        }
        again
    }

    /// Returns the first violation of an invariant that came again.
    pub(crate) fn first(&self, invariant: &str) -> Option<&Finding> {
        self.findings.iter().find(|finding| finding.invariant == invariant)
    }

    /// Says how often an invariant was violated; `before` tells whether it was in the first run.
    pub(crate) fn says(&self, invariant: &str, before: bool) -> String {
        let again = self.findings.iter().filter(|finding| finding.invariant == invariant).count();
        format!("violated in {} of {} runs", again + usize::from(before), self.runs + 1)
    }
}
