//! Several reports as one.
//!
//! Merging is a union, so neither order nor repetition matters: of rows, of mutants, of recorded
//! traces, and of the shards that each request was dealt out to. Two reports that disagree about
//! one case are both kept, and the worse verdict decides.

use std::fmt;

use serde_json::Value;

use super::{Partition, Report};

/// Two reports are not of one run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DifferentRuns {
    what: &'static str,
    one: String,
    other: String,
}

impl fmt::Display for DifferentRuns {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { what, one, other } = self;
        write!(
            f,
            "these reports are of different runs: {what} {one} in one and {other} in another: \
             merge reports of one run"
        )
    }
}

impl std::error::Error for DifferentRuns {}

/// Merges reports; `None` if there are none.
///
/// # Errors
/// They are not of the same code and the same seed.
pub fn merge(reports: impl IntoIterator<Item = Report>) -> Result<Option<Report>, DifferentRuns> {
    let mut reports = reports.into_iter();
    let Some(mut merged) = reports.next() else { return Ok(None) };
    for report in reports {
        same_run(&merged, &report)?;
        absorb(&mut merged, report);
    }
    tidy(&mut merged);
    Ok(Some(merged))
}

fn same_run(one: &Report, other: &Report) -> Result<(), DifferentRuns> {
    let facts = |report: &Report| {
        [
            ("the program is", report.program.clone()),
            ("the commit is", report.commit.clone()),
            ("the compiler is", report.toolchain.clone()),
            ("the seed is", report.seed.to_string()),
        ]
    };
    match facts(one).into_iter().zip(facts(other)).find(|(one, other)| one != other) {
        Some(((what, one), (_, other))) => Err(DifferentRuns { what, one, other }),
        None => Ok(()),
    }
}

fn absorb(merged: &mut Report, report: Report) {
    for part in report.parts {
        match merged.parts.iter_mut().find(|known| known.same_request(&part)) {
            Some(known) => known.absorb(&part),
            None => merged.parts.push(part),
        }
    }
    merged.rows.extend(report.rows);
    merged.mutants.extend(report.mutants);
    merged.conformance.extend(report.conformance);
    merged.pictures.extend(report.pictures);
    for (name, value) in report.timing {
        let mine = merged.timing.entry(name).or_insert(Value::Null);
        *mine = longer(std::mem::take(mine), value);
    }
}

/// Sorts everything into an order that depends only on the content.
fn tidy(merged: &mut Report) {
    merged.parts.sort();
    // Engines have an order of their own, which a reader knows from the command line.
    merged.rows.sort_by_cached_key(|row| {
        let case = (row.component.clone(), row.exhibit.clone(), row.scenario.clone());
        (case, row.engine, row.invariant.clone(), text(row))
    });
    merged.rows.dedup();
    let name = |component: &str, name: &str| (component.to_owned(), name.to_owned());
    merged.mutants.sort_by_cached_key(|row| (name(&row.component, &row.name), text(row)));
    merged.mutants.dedup();
    merged.conformance.sort_by_cached_key(|row| (row.component.clone(), text(row)));
    merged.conformance.dedup();
    merged.pictures.sort_by_cached_key(text);
    merged.pictures.dedup();
    merged.partition = Partition { index: 1, count: 1 };
    merged.merged = true;
    merged.conclude();
}

fn text(row: &impl serde::Serialize) -> String {
    serde_json::to_string(row).expect("a row is plain data")
}

/// Returns the longer of two times, entry by entry: shards run side by side.
fn longer(one: Value, other: Value) -> Value {
    match (one, other) {
        (Value::Null, value) | (value, Value::Null) => value,
        (Value::Object(mut one), Value::Object(other)) => {
            for (name, value) in other {
                let mine = one.entry(name).or_insert(Value::Null);
                *mine = longer(mine.take(), value);
            }
            Value::Object(one)
        }
        (one, other) => {
            let size = |value: &Value| (value.as_f64().unwrap_or(f64::MIN), value.to_string());
            if size(&one) < size(&other) { other } else { one }
        }
    }
}
