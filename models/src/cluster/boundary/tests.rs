//! Formula and search agree.

use std::time::Duration;

use seatrial_core::elector::{Bounds, Timing};

use super::{
    Question, Slack, Surroundings, classic_conditions, classic_largest_drift, classic_latest_reply,
    classic_slack, liveness,
};

fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

fn bounds(drift_ppm: u32, work: Duration, scheduling: Duration) -> Bounds {
    Bounds { drift_ppm, work, scheduling, acting: None }
}

const PERFECT: Bounds =
    Bounds { drift_ppm: 0, work: Duration::ZERO, scheduling: Duration::ZERO, acting: None };

#[test]
fn the_table_of_special_cases_is_that_of_the_rules() {
    let conditions = classic_conditions(&Timing::DEFAULT, ms(5_000));
    let slack: Vec<_> = conditions.iter().map(|condition| condition.slack).collect();
    let expected = [
        Slack::Room(ms(3_000)),
        Slack::Short(ms(2_000)),
        Slack::Short(ms(7_000)),
        Slack::Room(ms(0)),
    ];
    assert_eq!(slack, expected);
    assert_eq!(classic_largest_drift(&Timing::DEFAULT), 111_111);
    assert_eq!(classic_largest_drift(&Timing::seconds(15, 14, 5)), 0);
}

#[test]
fn every_term_of_the_classic_inequality_costs_room() {
    let slack = |reply, collision, bounds| {
        classic_slack(&Timing::DEFAULT, &Surroundings { reply, collision, bounds }).as_secs_f64()
    };
    let zero = Duration::ZERO;
    assert_eq!(slack(zero, zero, PERFECT), 3.0);
    assert_eq!(slack(ms(4_500), zero, PERFECT), -1.5);
    assert_eq!(slack(ms(1_000), ms(500), bounds(0, ms(200), ms(100))), 1.2);
    let with_drift = slack(zero, zero, bounds(10_000, zero, zero));
    assert!((with_drift - (15.0 / 1.01 - 12.0 / 0.99)).abs() < 1e-6, "{with_drift}");
}

#[test]
fn beyond_the_renew_deadline_only_an_acquisition_can_be_late() {
    let latest =
        |lease, renew, retry| classic_latest_reply(&Timing::seconds(lease, renew, retry), &PERFECT);
    assert_eq!(latest(15, 10, 2), Some(ms(3_000)));
    assert_eq!(latest(60, 15, 5), Some(ms(45_000)));
    assert_eq!(latest(15, 14, 5), None);
}

#[test]
fn the_search_finds_the_computed_boundary() {
    let triples =
        [Timing::seconds(15, 10, 2), Timing::seconds(60, 15, 5), Timing::seconds(10, 5, 1)];
    let around = [PERFECT, bounds(10_000, ms(0), ms(0)), bounds(50_000, ms(200), ms(0))];
    for timing in triples {
        for strict in [false, true] {
            for bounds in around {
                let question = Question { timing, bounds, ..Question::new(strict) };
                let answer = question.answer();
                let gap = answer.gap().expect("both are found");
                assert!((-1e-4..1e-4).contains(&gap), "{question:?}: {answer:?}");
                assert!(answer.runs <= question.runs);
            }
        }
    }
}

#[test]
fn late_timers_count_in_the_strict_profile() {
    let question = Question { bounds: bounds(10_000, ms(900), ms(100)), ..Question::new(true) };
    let answer = question.answer();
    let gap = answer.gap().expect("both are found");
    assert!((-1e-4..1e-4).contains(&gap), "{answer:?}");
}

#[test]
fn nothing_is_found_just_within_the_bound() {
    for strict in [false, true] {
        for drift_ppm in [0, 10_000] {
            let bounds = bounds(drift_ppm, ms(0), ms(0));
            let question = Question { bounds, ..Question::new(strict) };
            let limit = question.computed().expect("15/10/2 is safe");
            assert_eq!(question.two_leaders_at(limit.mul_f64(0.999), 500), None);
            assert!(question.two_leaders_at(limit.mul_f64(1.001), 500).is_some());
        }
    }
}

#[test]
fn the_overlap_beyond_the_bound_is_the_predicted_one() {
    let bounds = bounds(10_000, ms(0), ms(0));
    let question = Question { bounds, ..Question::new(true) };
    let beyond = ms(500);
    let acting = question.computed().expect("15/10/2 is safe") + beyond;
    let overlap = question.two_leaders_at(acting, 100).expect("beyond the bound");
    let predicted = beyond.as_secs_f64() / 0.99;
    assert!((overlap.as_secs_f64() - predicted).abs() < 1e-3, "{overlap:?} {predicted}");
}

#[test]
fn without_slack_two_lead_at_once_even_with_instant_answers() {
    let question =
        Question { timing: Timing::seconds(15, 14, 5), bounds: PERFECT, ..Question::new(false) };
    assert_eq!(question.computed(), None);
    let overlap = question.two_leaders_at(Duration::ZERO, 100).expect("R + D > L");
    assert!((3.9..4.1).contains(&overlap.as_secs_f64()), "{overlap:?}");
}

#[test]
fn the_time_without_a_leader_is_that_of_the_rules() {
    let bounds = liveness(&Timing::DEFAULT, 0, ms(0));
    assert_eq!(bounds.after_crash, ms(23_800));
    assert_eq!(bounds.after_release, ms(4_400));
    let slow = liveness(&Timing::DEFAULT, 0, ms(10));
    assert_eq!(slow.after_crash, ms(23_860));
    assert_eq!(slow.without_object, ms(20));
}
