//! Our server gives the answers that a real server gave.

use crate::common::{server, traces};
use seatrial_sim::conformance::replay;
use serde_json::{Deserializer, Value};

/// The owners of fields in the object that a refusal quotes, without their times.
fn quoted(text: &str) -> Option<Value> {
    let (_, rest) = text.split_once("Invalid value: ")?;
    let text = Deserializer::from_str(rest).into_iter::<String>().next()?.ok()?;
    let mut object: Value = serde_json::from_str(&text).ok()?;
    let mut owners = object["metadata"]["managedFields"].take();
    owners.as_array_mut()?.iter_mut().for_each(|it| it["time"] = Value::Null);
    Some(owners)
}

/// Replays a file and gives back how many traces depart, and in how many texts. A quoted object has another order.
fn departing(file: &str, expected: usize) -> (usize, usize) {
    let (traces, fresh) = (traces(file), server(1));
    assert_eq!(traces.len(), expected);
    let (mut departing, mut loose, mut steps) = (0, 0, 0);
    let mut texts = std::collections::BTreeMap::new();
    for trace in &traces {
        let report = replay(trace, fresh.clone());
        steps += trace.steps.len();
        loose += report.loose;
        for (recorded, ours) in report.texts {
            *texts.entry((recorded, ours)).or_insert(0) += 1;
        }
        if let Some(first) = report.departures.first() {
            departing += 1;
            if departing <= 15 {
                println!(
                    "{}#{} {}\n  recorded {}\n  ours     {}",
                    trace.name, first.step, first.path, first.recorded, first.ours
                );
            }
        }
    }
    for ((recorded, ours), count) in texts.iter().filter(|_| std::env::var_os("SHOW").is_some()) {
        println!("{count} times\n  recorded {recorded}\n  ours     {ours}");
    }
    let is_quoted = |(theirs, ours): &&(String, String)| {
        quoted(theirs).is_some_and(|it| Some(it) == quoted(ours))
    };
    let quotes: usize = texts.iter().filter(|(pair, _)| is_quoted(pair)).map(|it| it.1).sum();
    println!(
        "{file}: {steps} steps, {departing} traces depart, {loose} texts differ, {quotes} in order"
    );
    (departing, loose - quotes)
}

#[test]
fn crud() {
    assert_eq!(departing("crud", 200), (0, 0));
}

#[test]
fn finalizers() {
    assert_eq!(departing("finalizers", 200), (0, 3));
}

#[test]
fn lease() {
    assert_eq!(departing("lease", 200), (0, 0));
}

#[test]
fn list() {
    assert_eq!(departing("list", 100), (0, 2));
}

#[test]
fn watch() {
    assert_eq!(departing("watch", 100), (0, 0));
}

#[test]
fn patch() {
    assert_eq!(departing("patch", 200), (0, 0));
}
