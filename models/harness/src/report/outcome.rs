//! The overall result of a report.

use super::{NOT_HELD, Report, Row, Summary, Verdict};
use crate::outcome::Expect;

impl Row {
    /// Tells whether the verdict rests on nothing: an engine that ran no execution holds nothing.
    pub(super) fn is_hollow(&self) -> bool {
        (self.expect, self.verdict) == (Expect::Holds, Verdict::Holds)
            && self.executions == Some(0)
            && self.invariant != NOT_HELD
    }

    /// Tells whether nothing was decided.
    pub(super) fn is_undecided(&self) -> bool {
        self.verdict == Verdict::Undecided || self.is_hollow()
    }

    /// Says why nothing was decided.
    pub(super) fn doubt(&self) -> String {
        match &self.because {
            _ if self.is_hollow() => {
                format!("{} ran nothing: report this with the command", self.engine)
            }
            Some(because) => because.clone(),
            None => "undecided".to_owned(),
        }
    }
}

impl Report {
    /// Computes the overall result.
    pub fn conclude(&mut self) {
        self.outcome = self.summarise();
    }

    /// Returns the overall result: the worst result in the report.
    pub(super) fn summarise(&self) -> Summary {
        let unexpected = |expect: Expect, verdict: Verdict| {
            self.rows.iter().any(|row| row.expect == expect && row.verdict == verdict)
        };
        let innocent_convicted =
            self.mutants.iter().any(|row| row.kind == "equivalent" && !row.as_expected());
        let trace_failed = self.conformance.iter().any(|row| !row.failures.is_empty());
        let undecided = self.rows.iter().any(Row::is_undecided);
        if unexpected(Expect::Holds, Verdict::Violated) || innocent_convicted || trace_failed {
            Summary::Violated
        } else if self.rows.iter().any(|row| row.verdict == Verdict::Inadmissible) {
            Summary::Inadmissible
        } else if unexpected(Expect::Violated, Verdict::Holds)
            || self.mutants.iter().any(|row| !row.as_expected())
        {
            Summary::Blind
        } else if undecided || !self.lacks().is_empty() {
            Summary::Inconclusive
        } else if self.ran() {
            Summary::Holds
        } else {
            Summary::Empty
        }
    }
}
