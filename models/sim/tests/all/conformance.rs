//! Our server gives the answers that a real server gave.

use crate::common::{server, traces};
use seatrial_sim::conformance::replay;

/// Replays a file and gives back how many traces depart.
fn departing(file: &str, expected: usize) -> usize {
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
    println!("{file}: {steps} steps, {departing} traces depart, {loose} texts differ");
    departing
}

#[test]
fn crud() {
    assert_eq!(departing("crud", 200), 0);
}

#[test]
fn finalizers() {
    assert_eq!(departing("finalizers", 200), 0);
}

#[test]
fn lease() {
    assert_eq!(departing("lease", 200), 0);
}

#[test]
fn list() {
    assert_eq!(departing("list", 100), 0);
}

#[test]
fn watch() {
    assert_eq!(departing("watch", 100), 0);
}

#[test]
fn patch() {
    assert_eq!(departing("patch", 200), 0);
}
