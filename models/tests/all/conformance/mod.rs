//! Every carried trace replays, every change is noticed, and a damaged trace replays or is
//! reported.

mod apiserver;
mod change;

use seatrial_models::catalogue::CATALOGUE;
use seatrial_models::conformance::{Conformance, carried};
use serde_json::Value;

use change::{Random, change_an_output, cut, damage_the_meaning, smudge};

/// How often each file is changed.
const CHANGES: u64 = 1_000;

/// The traces whose steps are calls; `apiserver` handles those whose steps are requests.
fn all() -> Vec<Conformance> {
    CATALOGUE.conformance().filter(|it| carried(it.traces_of).is_some()).collect()
}

fn lines(conformance: &Conformance) -> Vec<String> {
    let text = carried(conformance.traces_of).expect("its traces are carried");
    text.lines().map(str::to_owned).collect()
}

/// The traces that depart from the reference by a rule of ours, and how many; all others are the same.
const DEPARTURES: &[(&str, &str, u64)] =
    &[("workqueue", "workqueue:WQ-21", 30), ("fifo", "cache:FF-13", 12)];

/// The traces that a faithful variant replays, too.
const FAITHFUL: &[&str] = &["workqueue", "delta_fifo", "fifo"];

#[test]
fn every_carried_trace_replays() {
    let all = all();
    for of in DEPARTURES.iter().map(|(of, ..)| of).chain(FAITHFUL) {
        assert!(all.iter().any(|it| it.traces_of == *of), "no traces of {of}");
    }
    for conformance in all {
        let of = conformance.traces_of;
        let text = carried(of).expect("its traces are carried");
        let outcome = conformance.replay_lines(text.lines());
        assert_eq!(outcome.failures, [], "{of}");
        assert!(outcome.traces >= 60);
        assert_eq!(outcome.replayed, outcome.traces);
        assert_eq!(outcome.faithful, FAITHFUL.contains(&of).then_some(outcome.traces), "{of}");
        let departs = DEPARTURES.iter().filter(|(departs, ..)| *departs == of);
        let departs: Vec<_> = departs.map(|(_, rule, traces)| (*rule, *traces)).collect();
        assert_eq!(outcome.departures.into_iter().collect::<Vec<_>>(), departs, "{of}");
    }
}

/// Changes random traces of a file and replays them; returns the changes that the replay did not
/// notice.
fn unnoticed(conformance: &Conformance) -> Vec<String> {
    let lines = lines(conformance);
    let mut unnoticed = Vec::new();
    for seed in 0..CHANGES {
        let mut random = Random::new(seed);
        let line = &lines[random.below(lines.len())];
        let mut trace: Value = serde_json::from_str(line).expect("a carried trace");
        let before = trace.clone();
        let at = change_an_output(&mut trace, &mut random);
        assert_ne!(trace, before, "a change changes something");
        if conformance.replay_lines([trace.to_string().as_str()]).failures.is_empty() {
            let (was, is) = (&before["steps"][at], &trace["steps"][at]["out"]);
            unnoticed.push(format!("{} step {at}: {was} with {is}", trace["id"]));
        }
    }
    unnoticed
}

#[test]
fn every_change_of_a_recorded_output_is_noticed() {
    for conformance in all() {
        let unnoticed = unnoticed(&conformance);
        let (name, count) = (conformance.traces_of, unnoticed.len());
        assert!(
            unnoticed.is_empty(),
            "{name}: {count} of {CHANGES} changes are not noticed, such as\n{}",
            unnoticed.iter().take(5).cloned().collect::<Vec<_>>().join("\n")
        );
    }
}

#[test]
fn a_line_that_was_cut_off_is_an_error() {
    for conformance in all() {
        let lines = lines(&conformance);
        for seed in 0..CHANGES {
            let mut random = Random::new(seed);
            let line = cut(&lines[random.below(lines.len())], &mut random);
            let outcome = conformance.replay_lines([line.as_str()]);
            let errors = usize::from(!line.trim().is_empty());
            assert_eq!(outcome.failures.len(), errors, "{}: {line}", conformance.traces_of);
        }
    }
}

#[test]
fn a_damaged_line_never_panics() {
    for conformance in all() {
        let lines = lines(&conformance);
        let (mut errors, mut lost) = (0_u64, 0_u64);
        for seed in 0..CHANGES {
            let mut random = Random::new(seed);
            let line = &lines[random.below(lines.len())];
            let damaged = if seed % 2 == 0 {
                smudge(line, &mut random)
            } else {
                let mut trace: Value = serde_json::from_str(line).expect("a carried trace");
                damage_the_meaning(&mut trace, &mut random);
                trace.to_string()
            };
            let outcome = conformance.replay_lines([damaged.as_str()]);
            assert_eq!(outcome.traces, 1);
            errors += u64::from(!outcome.failures.is_empty());
            lost += u64::from(outcome.replayed + outcome.failures.len() as u64 == 0);
        }
        // Some damage has no effect: an argument that the call does not read.
        assert!(errors > CHANGES / 2, "{}: {errors}", conformance.traces_of);
        assert_eq!(lost, 0, "every line replays or says why not");
    }
}
