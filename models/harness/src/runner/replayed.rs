//! One execution as a report, for the formats that draw it.

use crate::catalogue::Catalogue;
use crate::report::{Part, Report, Row, Verdict};
use crate::trial::{Expect, Replayed, Subject, Witness};

use super::rows::{stated, unbounded};

/// Stands in the place of an invariant where an execution breaks none.
const NONE: &str = "nothing";

/// Makes the report of a replay: a row per broken promise, or a row that says there is none.
pub(crate) fn replay_report(
    catalogue: &Catalogue,
    witness: &Witness,
    replayed: &Replayed,
) -> Report {
    let mut report = catalogue.report(0);
    report.parts.push(Part::whole("replay", 1));
    if let Some(subject) = catalogue.subject(&witness.component) {
        report.rows = rows(subject, witness, replayed);
    }
    report.conclude();
    report
}

pub(super) fn rows(subject: &dyn Subject, witness: &Witness, replayed: &Replayed) -> Vec<Row> {
    let blank = Row {
        exhibit: witness.mutant.clone(),
        invariant: NONE.to_owned(),
        verdict: Verdict::Holds,
        history: replayed.lines.clone(),
        ..unbounded(subject, &witness.scenario, witness.engine)
    };
    if replayed.findings.is_empty() {
        return vec![blank];
    }
    let broken = |name: &str| {
        let own = subject.invariants().into_iter().find(|info| info.name == name);
        match (&witness.mutant, own) {
            (Some(_), _) => Expect::Violated,
            (None, own) => own.map_or(Expect::Holds, |info| info.expect),
        }
    };
    let row = |finding: &crate::trial::Finding| {
        let mut row = Row {
            invariant: finding.invariant.to_owned(),
            expect: broken(finding.invariant),
            verdict: Verdict::Violated,
            because: Some(finding.violation.because.clone()),
            at: finding.violation.at,
            preemptions: finding.preemptions,
            witness: Some(witness.to_string()),
            ..blank.clone()
        };
        stated(&mut row, subject);
        row
    };
    replayed.findings.iter().map(row).collect()
}
