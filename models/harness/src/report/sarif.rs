//! SARIF 2.1.0: a result per broken promise, its execution as one flow per thread.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::{Place, Problem, Report, Row, Severity, Summary};
use crate::outcome::digest;
use crate::picture::conflict;

const FORM: &str =
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json";

/// Renders what is not as expected as a SARIF log.
pub fn sarif(report: &Report) -> Value {
    let problems = report.problems();
    let (failures, doubts): (Vec<_>, Vec<_>) =
        problems.iter().partition(|problem| problem.severity == Severity::Failure);
    let failures = once_each(failures);
    let mut rules: Vec<_> =
        failures.iter().map(|(problem, _)| (&problem.rule, &problem.says)).collect();
    rules.sort();
    rules.dedup_by_key(|(rule, _)| *rule);
    let results: Vec<_> =
        failures.iter().map(|(problem, engines)| result(problem, engines, report)).collect();
    let rules: Vec<_> = rules
        .into_iter()
        .map(|(id, says)| json!({"id": id, "shortDescription": {"text": says}}))
        .collect();
    let doubts: Vec<_> = doubts
        .iter()
        .map(|problem| {
            let text = format!("{}: {}", problem.id, problem.because);
            json!({"level": "warning", "message": {"text": text}})
        })
        .collect();
    let decided = !matches!(report.outcome, Summary::Inconclusive | Summary::Empty);
    json!({
        "$schema": FORM,
        "version": "2.1.0",
        "runs": [{
            "tool": {"driver": {
                "name": "seatrial",
                "semanticVersion": env!("CARGO_PKG_VERSION"),
                "informationUri": env!("CARGO_PKG_REPOSITORY"),
                "rules": rules,
            }},
            "automationDetails": {"id": format!("{}/", report.program)},
            "invocations": [{
                "executionSuccessful": decided,
                "exitCode": report.outcome.exit_code(),
                "toolExecutionNotifications": doubts,
            }],
            "columnKind": "unicodeCodePoints",
            "results": results,
            "properties": {"commit": report.commit, "toolchain": report.toolchain},
        }],
    })
}

/// Keeps the shortest execution of each problem, with the engines that found it: a bug is the same
/// bug whichever engine finds it, and a code scanner wants it once.
fn once_each<'a>(problems: Vec<&'a Problem<'a>>) -> Vec<(&'a Problem<'a>, Vec<&'static str>)> {
    let mut kept: BTreeMap<&str, (&Problem<'_>, Vec<&'static str>)> = BTreeMap::new();
    let length = |problem: &Problem<'_>| match problem.row {
        Some(row) if !row.history.is_empty() => row.history.len(),
        _ => usize::MAX,
    };
    for problem in problems {
        let (shortest, engines) = kept.entry(&problem.id).or_insert_with(|| (problem, Vec::new()));
        if length(problem) < length(shortest) {
            *shortest = problem;
        }
        engines.extend(problem.row.map(|row| row.engine.name()));
    }
    kept.into_values().collect()
}

fn result(problem: &Problem<'_>, engines: &[&str], report: &Report) -> Value {
    let mut text = problem.because.clone();
    let mut result = json!({
        "ruleId": problem.rule,
        "level": "error",
        "partialFingerprints": {"seatrial/v1": format!("{:08x}", digest(&problem.id))},
        "properties": {"engines": engines},
    });
    let mut location = json!({
        "logicalLocations": [{"fullyQualifiedName": problem.id, "kind": "function"}],
    });
    if let Some(place) = problem.place() {
        location["physicalLocation"] = physical(place);
    }
    result["locations"] = json!([location]);
    if let Some(row) = problem.row {
        if let Some(witness) = &row.witness {
            text = format!("{text}\nSee it again: {} replay {witness}", report.program);
            result["properties"]["witness"] = json!(witness);
        }
        if !row.history.is_empty() {
            result["codeFlows"] = json!([flow(row)]);
        }
    }
    result["message"] = json!({"text": text});
    result
}

fn physical(place: &Place) -> Value {
    let uri = place.file.replace('\\', "/").replace('%', "%25").replace(' ', "%20");
    json!({
        "artifactLocation": {"uri": uri},
        "region": {"startLine": place.line},
    })
}

/// Renders an execution: a flow per thread, the order between them by number. A history knows no
/// lines, so a step has none: at the line of the invariant, where the result is, a viewer would show
/// all of them at a place that none of them passed.
fn flow(row: &Row) -> Value {
    let conflict = conflict(&row.history, row.at);
    let mut threads: BTreeMap<u8, (String, Vec<Value>)> = BTreeMap::new();
    for (number, line) in row.history.iter().enumerate() {
        let marked = row.at == Some(number) || conflict == Some(number);
        let importance = if marked { "essential" } else { "important" };
        let location = json!({
            "message": {"text": line.text},
            "logicalLocations": [{"name": line.name, "kind": "function"}],
        });
        let (_, steps) =
            threads.entry(line.thread).or_insert_with(|| (line.name.clone(), Vec::new()));
        steps.push(json!({
            "executionOrder": number + 1,
            "importance": importance,
            "location": location,
        }));
    }
    let flows: Vec<_> = threads
        .into_values()
        .map(|(name, steps)| json!({"id": name, "message": {"text": name}, "locations": steps}))
        .collect();
    let because = row.because.as_deref().unwrap_or("violated");
    json!({"message": {"text": because}, "threadFlows": flows})
}
