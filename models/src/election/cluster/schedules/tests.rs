//! Every schedule, in both profiles.

use super::SCHEDULES;

fn every_schedule_ends_as_expected_under_the_classic_rules() {
    for schedule in SCHEDULES {
        assert_eq!(schedule.verify(false), Ok(()), "{} ({})", schedule.name, schedule.rule);
    }
}

fn every_schedule_ends_as_expected_under_the_strict_rules() {
    for schedule in SCHEDULES {
        assert_eq!(schedule.verify(true), Ok(()), "{} ({})", schedule.name, schedule.rule);
    }
}

fn all_fifteen_counterexamples_are_there() {
    for number in 1..=15 {
        let rule = format!("election:CX-{number}");
        assert!(SCHEDULES.iter().any(|schedule| schedule.rule == rule), "{rule}");
    }
}

pub(crate) const TESTS: seatrial::tests::Tests = seatrial::tests![
    every_schedule_ends_as_expected_under_the_classic_rules,
    every_schedule_ends_as_expected_under_the_strict_rules,
    all_fifteen_counterexamples_are_there
];
