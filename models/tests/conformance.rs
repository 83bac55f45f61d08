//! Every carried trace replays, and every change in one is noticed.

use seatrial_models::catalogue::CATALOGUE;
use seatrial_models::conformance::{Conformance, carried};

fn all() -> Vec<Conformance> {
    CATALOGUE.subjects.iter().flat_map(|subject| subject.conformance()).collect()
}

#[test]
fn every_carried_trace_replays() {
    let all = all();
    assert!(!all.is_empty());
    for conformance in all {
        let text = carried(conformance.traces_of).expect("its traces are carried");
        let outcome = conformance.replay_lines(text.lines());
        assert_eq!(outcome.failures, [], "{}", conformance.traces_of);
        assert!(outcome.traces >= 60);
        assert_eq!(outcome.replayed, outcome.traces);
        if let Some(faithful) = outcome.faithful {
            assert_eq!(faithful, outcome.traces);
        }
    }
}

#[test]
fn the_work_queue_departs_by_one_rule_in_thirty_traces() {
    let workqueue = all().into_iter().find(|c| c.traces_of == "workqueue").expect("a queue");
    let outcome = workqueue.replay_lines(carried("workqueue").unwrap().lines());
    assert_eq!(outcome.departures.into_iter().collect::<Vec<_>>(), [("workqueue:WQ-21", 30)]);
}
