//! The unexpected results: the same list for every format.

use super::{Fate, MutantRow, Place, Report, Row, Verdict};
use crate::outcome::Expect;

/// How bad a problem is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Severity {
    /// Something is wrong.
    Failure,
    /// Something is not known.
    Doubt,
}

/// One thing that is not as expected.
#[derive(Clone, Debug)]
pub struct Problem<'a> {
    /// A name that stays the same from run to run.
    pub id: String,
    /// The kind of problem: the rule of a code scanner.
    pub rule: String,
    /// The kind in words.
    pub says: String,
    /// The reason.
    pub because: String,
    /// How bad the problem is.
    pub severity: Severity,
    /// The verdict that it is about, if it is about one.
    pub row: Option<&'a Row>,
}

impl Problem<'_> {
    /// Returns where the broken promise is stated.
    pub fn place(&self) -> Option<&Place> {
        self.row?.stated.as_ref()
    }
}

impl Row {
    /// Returns `component/scenario`, with the exhibit that stood in the place of the machine.
    pub fn case(&self) -> String {
        let exhibit = self.exhibit.as_ref().map_or(String::new(), |name| format!("+{name}"));
        format!("{}/{}{exhibit}", self.component, self.scenario)
    }

    /// Tells whether two verdicts are of one scenario on one engine.
    pub(super) fn same_case(&self, other: &Self) -> bool {
        let case = |row: &Self| (row.case(), row.engine);
        case(self) == case(other)
    }

    fn problem(&self) -> Option<Problem<'_>> {
        if self.is_undecided() {
            return Some(Problem { row: Some(self), ..undecided(self.case(), self.doubt()) });
        }
        if self.as_expected() {
            return None;
        }
        let because = self.because.clone();
        if self.verdict == Verdict::Inadmissible {
            let because = because.unwrap_or_else(|| "inadmissible".to_owned());
            return Some(Problem { row: Some(self), ..inadmissible(self.case(), because) });
        }
        let (rule, says, because) = match self.expect {
            Expect::Violated => (
                "blind".to_owned(),
                "every engine finds what is known to be broken".to_owned(),
                "a violation was expected and none was found".to_owned(),
            ),
            Expect::Holds => (
                format!("{}/{}", self.component, self.invariant),
                self.says.clone().unwrap_or_else(|| self.invariant.replace('_', " ")),
                because.unwrap_or_else(|| "violated".to_owned()),
            ),
        };
        let id = format!("{}/{}", self.case(), self.invariant);
        Some(Problem { id, rule, says, because, severity: Severity::Failure, row: Some(self) })
    }
}

/// Makes a doubt: something has no verdict.
fn undecided<'a>(id: String, because: String) -> Problem<'a> {
    Problem {
        id,
        rule: "undecided".to_owned(),
        says: "every verdict is decided".to_owned(),
        because,
        severity: Severity::Doubt,
        row: None,
    }
}

/// Makes a failure: something was not the same again.
fn inadmissible<'a>(id: String, because: String) -> Problem<'a> {
    Problem {
        id,
        rule: "inadmissible".to_owned(),
        says: "what is led the same way does the same again".to_owned(),
        because,
        severity: Severity::Failure,
        row: None,
    }
}

/// Lists what is wrong with the verdicts of one scenario on one engine. An engine that did not get
/// far enough, or whose executions are not repeatable, decided none of them, which is one problem and
/// not one per invariant.
fn of_case(rows: &[Row]) -> Vec<Problem<'_>> {
    let mut problems: Vec<Problem<'_>> = Vec::new();
    for problem in rows.iter().filter_map(Row::problem) {
        let is_of_all = problem.rule == "inadmissible" || problem.severity == Severity::Doubt;
        let is_known = is_of_all && problems.iter().any(|known| known.because == problem.because);
        if !is_known {
            problems.push(problem);
        }
    }
    problems
}

impl MutantRow {
    fn problem(&self) -> Option<Problem<'_>> {
        if self.as_expected() {
            return None;
        }
        let (rule, says, because) = match self.outcome {
            Fate::Survived => (
                "survived",
                "every seeded bug is convicted",
                format!("no engine convicts this bug ({})", self.origin),
            ),
            _ => (
                "equivalent_convicted",
                "nothing that is listed as harmless is convicted",
                "it is listed as equivalent, and was convicted".to_owned(),
            ),
        };
        Some(Problem {
            id: format!("{}+{}/{rule}", self.component, self.name),
            rule: rule.to_owned(),
            says: says.to_owned(),
            because,
            severity: Severity::Failure,
            row: None,
        })
    }
}

impl Report {
    /// Lists what is not as expected, failures first.
    pub fn problems(&self) -> Vec<Problem<'_>> {
        let rows = self.rows.chunk_by(Row::same_case).flat_map(of_case);
        let mutants = self.mutants.iter().filter_map(MutantRow::problem);
        let traces = self.conformance.iter().filter_map(|row| {
            let first = row.failures.first()?;
            Some(Problem {
                id: format!("{}/recorded_traces", row.component),
                rule: "recorded_traces".to_owned(),
                says: "every recorded trace of the reference replays".to_owned(),
                because: match row.failures.len() {
                    1 => format!("one trace differs: {first}"),
                    count => format!("{count} traces differ, the first is {first}"),
                },
                severity: Severity::Failure,
                row: None,
            })
        });
        let lacks = self.lacks().into_iter().map(|lack| Problem {
            id: "report/incomplete".to_owned(),
            rule: "incomplete".to_owned(),
            says: "everything that was asked for was run".to_owned(),
            because: lack,
            severity: Severity::Doubt,
            row: None,
        });
        let mut problems: Vec<_> = rows.chain(mutants).chain(traces).chain(lacks).collect();
        if problems.is_empty() && !self.ran() {
            let because = "nothing was run: no engine of this build can hold what was asked for";
            problems.push(undecided("report/empty".to_owned(), because.to_owned()));
        }
        problems.sort_by_key(|problem| problem.severity == Severity::Doubt);
        problems
    }
}
