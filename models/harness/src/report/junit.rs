//! JUnit XML, as CI systems read it: a suite per component, a case per row.

use quick_junit::{NonSuccessKind, Report as Xml, TestCase, TestCaseStatus, TestSuite};

use super::{MutantRow, NOT_HELD, Report, Row, Verdict};
use crate::outcome::Expect;

/// Renders a report as JUnit XML.
pub fn junit(report: &Report) -> String {
    let mut xml = Xml::new("seatrial");
    let mut components: Vec<&str> = Vec::new();
    let named = report.rows.iter().map(|row| row.component.as_str());
    let named = named.chain(report.mutants.iter().map(|row| row.component.as_str()));
    for component in named {
        if !components.contains(&component) {
            components.push(component);
        }
    }
    for component in components {
        let mut suite = TestSuite::new(component);
        for row in report.rows.iter().filter(|row| row.component == component) {
            suite.add_test_case(case_of_row(row, &report.program));
        }
        for row in report.mutants.iter().filter(|row| row.component == component) {
            suite.add_test_case(case_of_mutant(row));
        }
        xml.add_test_suite(suite);
    }
    if !report.conformance.is_empty() {
        let mut suite = TestSuite::new("conformance");
        for row in &report.conformance {
            let status = match row.failures.first() {
                None => TestCaseStatus::success(),
                Some(failure) => failed("traces differ", failure),
            };
            suite.add_test_case(TestCase::new(row.component.as_str(), status));
        }
        xml.add_test_suite(suite);
    }
    let lacks = report.lacks();
    if !lacks.is_empty() {
        let mut suite = TestSuite::new("report");
        let says = lacks.join("\n");
        suite.add_test_case(TestCase::new("complete", failed("not all was run", &says)));
        xml.add_test_suite(suite);
    }
    xml.to_string().expect("a report has no text that XML cannot hold")
}

fn failed(message: &str, description: &str) -> TestCaseStatus {
    let mut status = TestCaseStatus::non_success(NonSuccessKind::Failure);
    status.set_message(message).set_description(description);
    status
}

/// Nothing was found, and nothing is known. A reader of this line alone must not take it for green.
fn undecided(message: &str) -> TestCaseStatus {
    let mut status = TestCaseStatus::non_success(NonSuccessKind::Error);
    status.set_message(message);
    status
}

fn skipped(message: &str) -> TestCaseStatus {
    let mut status = TestCaseStatus::skipped();
    status.set_message(message);
    status
}

fn case_of_row(row: &Row, program: &str) -> TestCase {
    let subject = match &row.exhibit {
        Some(exhibit) => format!("{}+{exhibit}", row.scenario),
        None => row.scenario.clone(),
    };
    let status = match row.expect {
        _ if row.invariant == NOT_HELD => skipped(row.because.as_deref().unwrap_or("left out")),
        _ if row.is_undecided() => undecided(&row.doubt()),
        _ if row.verdict == Verdict::Inadmissible => {
            undecided(row.because.as_deref().unwrap_or("inadmissible"))
        }
        _ if row.as_expected() => TestCaseStatus::success(),
        Expect::Violated => failed("blind", "a violation was expected and none was found"),
        Expect::Holds => {
            let because = row.because.as_deref().unwrap_or("violated");
            let witness = row.witness.as_deref();
            let replay = witness.map(|text| format!("\n{program} replay {text}"));
            failed(because, &format!("{because}{}", replay.unwrap_or_default()))
        }
    };
    let mut case = TestCase::new(format!("{subject}/{}", row.invariant), status);
    case.set_classname(format!("{}.{}", row.component, row.engine));
    case
}

fn case_of_mutant(row: &MutantRow) -> TestCase {
    let status = if row.as_expected() {
        TestCaseStatus::success()
    } else {
        failed("not as expected", &format!("mutant {}: {:?}", row.name, row.outcome))
    };
    let mut case = TestCase::new(row.name.as_str(), status);
    case.set_classname(format!("{}.mutants", row.component));
    case
}
