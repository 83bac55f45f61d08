//! The check of the museum complains about every problem that it is made for.

use std::collections::BTreeSet;

use crate::museum::{Known, differences, named_in};

fn known() -> Known {
    let mutants = [("queue/lost", "museum W1, W3: lost"), ("queue/late", "own: late")];
    Known {
        mutants: mutants.map(|(name, origin)| (name.to_owned(), origin.to_owned())).to_vec(),
        expected_to_break: BTreeSet::from(["elector/overlap".to_owned()]),
        parts: BTreeSet::from(["queue".to_owned()]),
    }
}

fn complaints(text: &str) -> Vec<String> {
    let museum = toml::from_str(text).expect("a museum");
    differences(&museum, &known(), &|test| test == "core:queue::works")
}

#[test]
fn an_origin_may_name_several_defects() {
    assert_eq!(named_in("museum E16, E18"), ["E16", "E18"]);
    assert_eq!(named_in("cache:KD-1, museum A18"), ["A18"]);
    assert_eq!(named_in("museum P1, a getter that leaves"), ["P1"]);
    assert_eq!(named_in("museum CX-2, LE-50"), [""; 0]);
    assert_eq!(named_in("own: a loop"), [""; 0]);
}

#[test]
fn rows_that_say_what_is_true_are_left_alone() {
    let rows = "[[defect]]\nid = 'W1'\nwas = 'w'\nmutants = ['queue/lost']\n\
                [[defect]]\nid = 'H3'\nwas = 'w'\nscenarios = ['elector/overlap']\n\
                [[defect]]\nid = 'W2'\nwas = 'w'\nbecause = 'so'\ntests = ['core:queue::works']\n\
                [[defect]]\nid = 'R2'\nwas = 'w'\nwaits = 'request'\n";
    assert_eq!(complaints(rows), [""; 0]);
}

#[test]
fn every_other_row_is_complained_about() {
    for wrong in [
        "id = 'W1'\nwas = 'w'",
        "id = 'W1'\nmutants = ['queue/lost']",
        "id = 'W1'\nwas = 'w'\nmutants = ['queue/unknown', 'queue/lost']",
        "id = 'W1'\nwas = 'w'\nmutants = ['queue/late']",
        "id = 'W1'\nwas = 'w'\nmutants = ['queue/lost']\nwaits = 'request'",
        "id = 'W1'\nwas = 'w'\nmutants = ['queue/lost']\ntests = ['core:queue::works']",
        "id = 'W2'\nwas = 'w'\nscenarios = ['elector/calm']",
        "id = 'W2'\nwas = 'w'\nbecause = 'so'\ntests = ['core:queue::dreams']",
        "id = 'W2'\nwas = 'w'\nwaits = 'queue'",
        "id = 'W2'\nwas = 'w'\nbecause = 'so'\n[[defect]]\nid = 'W2'\nwas = 'w'\nbecause = 'so'",
    ] {
        assert!(!complaints(&format!("[[defect]]\n{wrong}\n")).is_empty(), "{wrong}");
    }
}
