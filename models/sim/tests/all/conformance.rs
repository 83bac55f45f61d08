//! Our server gives the answers that a real server gave.

use crate::common::{server, traces};
use seatrial_sim::conformance::replay;
use serde_json::{Deserializer, Value};

/// What stands around the object that a refusal quotes, and the object without its times. Its order is not compared.
fn quoted(text: &str) -> Option<(String, Value)> {
    let at = text.find("Invalid value: \"")? + "Invalid value: ".len();
    let mut parsed = Deserializer::from_str(&text[at..]).into_iter::<String>();
    let mut object: Value = serde_json::from_str(&parsed.next()?.ok()?).ok()?;
    let metadata = object.get_mut("metadata")?;
    for time in ["creationTimestamp", "deletionTimestamp"] {
        metadata[time] = Value::Null;
    }
    metadata["managedFields"].as_array_mut()?.iter_mut().for_each(|it| drop(it["time"].take()));
    Some((format!("{}{}", &text[..at], &text[at + parsed.byte_offset()..]), object))
}

/// Replays a file. No trace may depart. Gives back in how many texts only the order of a quoted object differs, and the
/// texts of ours that differ otherwise.
fn differing(file: &str, expected: usize) -> (usize, Vec<String>) {
    let (traces, fresh) = (traces(file), server(1));
    assert_eq!(traces.len(), expected);
    let (mut departing, mut loose, mut steps) = (0, 0, 0);
    let mut texts = std::collections::BTreeMap::new();
    for trace in &traces {
        let report = replay(trace, fresh.clone());
        steps += trace.steps.len();
        loose += report.loose;
        for (recorded, ours) in report.texts {
            *texts.entry((recorded, ours)).or_insert(0_usize) += 1;
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
    let (in_order, others): (Vec<_>, Vec<_>) = texts
        .into_iter()
        .partition(|((theirs, ours), _)| quoted(theirs).is_some_and(|it| Some(it) == quoted(ours)));
    let quotes = in_order.iter().map(|it| it.1).sum();
    println!("{file}: {steps} steps, {loose} texts differ, {quotes} in order");
    assert_eq!(departing, 0, "traces depart");
    (quotes, others.into_iter().flat_map(|((_, ours), count)| vec![ours; count]).collect())
}

#[test]
fn crud() {
    assert_eq!(differing("crud", 200), (0, vec![]));
}

/// The recorded server did not warn of a finalizer without a domain in three answers.
#[test]
fn finalizers() {
    let warning = "299 - \"metadata.finalizers: \\\"nodomain\\\": prefer a domain-qualified finalizer name to \
                   avoid accidental conflicts with other finalizer writers\"";
    assert_eq!(differing("finalizers", 200), (0, vec![warning.to_owned(); 3]));
}

#[test]
fn lease() {
    assert_eq!(differing("lease", 200), (0, vec![]));
}

/// The traces show these revisions nowhere else, so there is nothing to compare them with.
#[test]
fn list() {
    let texts = [1012, 1018]
        .map(|at| format!("Timeout: Too large resource version: 999999999999, current: {at}"));
    assert_eq!(differing("list", 100), (0, texts.to_vec()));
}

#[test]
fn watch() {
    assert_eq!(differing("watch", 100), (0, vec![]));
}

#[test]
fn patch() {
    let (quotes, others) = differing("patch", 200);
    assert_eq!((quotes > 10, others), (true, vec![]));
}
