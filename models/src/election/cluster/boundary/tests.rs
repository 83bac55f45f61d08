//! The formula and the search agree.

use std::time::Duration;

use seatrial_core::elector::{Bounds, Timing};

use super::{
    Question, Region, Slack, Surroundings, classic_conditions, classic_largest_drift,
    classic_latest_reply, classic_slack, liveness, picture,
};

fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

fn bounds(drift_ppm: u32, work: Duration, scheduling: Duration) -> Bounds {
    Bounds::default().drift_ppm(drift_ppm).work(work).scheduling(scheduling).acting(None)
}

const PERFECT: Bounds = Bounds::PERFECT;

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

fn beyond_the_renew_deadline_only_an_acquisition_can_be_late() {
    let latest =
        |lease, renew, retry| classic_latest_reply(&Timing::seconds(lease, renew, retry), &PERFECT);
    assert_eq!(latest(15, 10, 2), Some(ms(3_000)));
    assert_eq!(latest(60, 15, 5), Some(ms(45_000)));
    assert_eq!(latest(15, 14, 5), None);
}

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

fn late_timers_count_in_the_strict_profile() {
    let question = Question { bounds: bounds(10_000, ms(900), ms(100)), ..Question::new(true) };
    let answer = question.answer();
    let gap = answer.gap().expect("both are found");
    assert!((-1e-4..1e-4).contains(&gap), "{answer:?}");
}

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

fn the_overlap_beyond_the_bound_is_the_predicted_one() {
    let bounds = bounds(10_000, ms(0), ms(0));
    let question = Question { bounds, ..Question::new(true) };
    let beyond = ms(500);
    let acting = question.computed().expect("15/10/2 is safe") + beyond;
    let overlap = question.two_leaders_at(acting, 100).expect("beyond the bound");
    let predicted = beyond.as_secs_f64() / 0.99;
    assert!((overlap.as_secs_f64() - predicted).abs() < 1e-3, "{overlap:?} {predicted}");
}

fn without_slack_two_lead_at_once_even_with_instant_answers() {
    let question =
        Question { timing: Timing::seconds(15, 14, 5), bounds: PERFECT, ..Question::new(false) };
    assert_eq!(question.computed(), None);
    let overlap = question.two_leaders_at(Duration::ZERO, 100).expect("R + D > L");
    assert!((3.9..4.1).contains(&overlap.as_secs_f64()), "{overlap:?}");
}

fn the_time_without_a_leader_is_that_of_the_rules() {
    let bounds = liveness(&Timing::DEFAULT, 0, ms(0));
    assert_eq!(bounds.after_crash, ms(23_800));
    assert_eq!(bounds.after_release, ms(4_400));
    let slow = liveness(&Timing::DEFAULT, 0, ms(10));
    assert_eq!(slow.after_crash, ms(23_860));
    assert_eq!(slow.without_object, ms(20));
}

fn region(strict: bool, lease: u64, renew: u64, retry: u64) -> Region {
    Region {
        timing: Timing { lease: ms(lease), renew: ms(renew), retry: ms(retry) },
        strict,
        seed: 1,
    }
}

fn along_all_drifts_the_boundary_found_is_within_one_percent_of_the_formula() {
    let triples = [
        (15_000, 10_000, 2_000),
        (5_000, 3_000, 500),
        (60_000, 15_000, 5_000),
        (15_000, 14_000, 5_000),
        (30_000, 20_000, 3_000),
        (137_000, 107_000, 26_000),
    ];
    for (lease, renew, retry) in triples {
        for strict in [false, true] {
            let region = region(strict, lease, renew, retry);
            assert_eq!(region.validate(), Ok(()));
            let survey = region.survey();
            assert!(survey.agrees() && !survey.is_violated(), "{survey:?}");
            assert!(survey.worst.is_some(), "there are two leaders beyond {region:?}");
        }
    }
}

fn a_formula_that_says_too_much_or_too_little_is_noticed() {
    let mut survey = region(false, 15_000, 10_000, 2_000).survey();
    let honest = survey.points[0].boundary;
    survey.points[0].boundary.computed = honest.computed.map(|limit| limit.mul_f64(1.02));
    assert!(survey.is_violated() && !survey.agrees());
    survey.points[0].boundary.computed = honest.computed.map(|limit| limit.mul_f64(0.98));
    assert!(!survey.is_violated() && !survey.agrees());
    survey.points[0].boundary = honest;
    survey.drift.computed = survey.drift.computed.map(|ppm| ppm + ppm / 50);
    assert!(!survey.agrees());
}

fn the_safe_drift_is_that_of_the_rules() {
    assert_eq!(region(false, 15_000, 10_000, 2_000).largest_drift_ppm(), 111_111, "SF-9 (c)");
    assert_eq!(region(false, 15_000, 14_000, 5_000).largest_drift_ppm(), 0);
    let region = region(true, 15_000, 10_000, 2_000);
    let largest = region.largest_drift_ppm();
    let acting = |ppm| region.question(ppm).computed().unwrap();
    assert!(acting(largest) > ms(2_400) && acting(largest + 1) <= ms(2_400), "LE-4");
}

fn what_no_elector_accepts_or_nobody_can_wait_for_is_refused() {
    for (strict, lease, renew, retry, says) in [
        (false, 10_000, 15_000, 2_000, "--renew"),
        (false, 15_000, 10_000, 9_000, "--retry"),
        (true, 1_900, 1_400, 400, "whole"),
        (false, 900, 500, 100, "--lease"),
        (false, 15_000, 10_000, 1, "longer --retry"),
    ] {
        let error = region(strict, lease, renew, retry).validate().unwrap_err();
        assert!(error.contains(says) && !error.contains('\n'), "{error}");
    }
}

fn the_picture_shows_the_curve_what_was_found_and_the_usual_set_up() {
    for strict in [false, true] {
        let survey = region(strict, 15_000, 10_000, 2_000).survey();
        let svg = picture(&survey);
        let count = |what: &str| svg.matches(what).count();
        assert_eq!(count("<polyline"), 1);
        assert_eq!(count("class=\"found\""), survey.points.len() + 1);
        assert_eq!(count("class=\"usual\""), 1);
        assert!(svg.starts_with("<svg ") && svg.ends_with("</svg>\n"));
        assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
    }
    let nothing_safe = picture(&region(false, 15_000, 14_000, 5_000).survey());
    assert!(!nothing_safe.contains("NaN") && !nothing_safe.contains("<polyline"));
}

pub(crate) const TESTS: seatrial::tests::Tests = seatrial::tests![
    the_table_of_special_cases_is_that_of_the_rules,
    every_term_of_the_classic_inequality_costs_room,
    beyond_the_renew_deadline_only_an_acquisition_can_be_late,
    the_search_finds_the_computed_boundary,
    late_timers_count_in_the_strict_profile,
    nothing_is_found_just_within_the_bound,
    the_overlap_beyond_the_bound_is_the_predicted_one,
    without_slack_two_lead_at_once_even_with_instant_answers,
    the_time_without_a_leader_is_that_of_the_rules,
    along_all_drifts_the_boundary_found_is_within_one_percent_of_the_formula,
    a_formula_that_says_too_much_or_too_little_is_noticed,
    the_safe_drift_is_that_of_the_rules,
    what_no_elector_accepts_or_nobody_can_wait_for_is_refused,
    the_picture_shows_the_curve_what_was_found_and_the_usual_set_up
];
