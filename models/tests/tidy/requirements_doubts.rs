//! The checks of requirements complain about every problem that they are made for.

use seatrial_models::trial::{Expect, InvariantInfo, MutantInfo, MutantKind};

use crate::requirements::{Known, differences, kill_matrix, read};

fn known() -> Known {
    let (of_waking, is_fuzzed) = (false, false);
    let mutant =
        |name, breaks, kind| MutantInfo { name, origin: "own", breaks, kind, of_waking, is_fuzzed };
    Known {
        component: "queue".to_owned(),
        scenarios: vec!["two_workers".to_owned()],
        invariants: vec![InvariantInfo {
            name: "fair",
            says: "in order",
            rules: &["workqueue:WQ-14"],
            expect: Expect::Holds,
            stated: None,
        }],
        mutants: vec![
            mutant("last_in_first_out", &["fair"], MutantKind::Seeded),
            mutant("woken_for_nothing", &[], MutantKind::Equivalent("it looks again")),
        ],
        never_alone: vec![],
    }
}

const GOOD: &str = r#"
    component = "queue"
    scope = ["workqueue:WQ-14..16", "workqueue:ST-1"]
    [[promise]]
    name = "fair"
    rules = ["workqueue:WQ-14", "workqueue:ST-1"]
    source = "queue.go"
    says = "in order"
    invariant = "fair"
    scenarios = ["two_workers"]
    mutants = ["last_in_first_out"]
    tests = ["core:queue::tests::in_order"]
    [[departure]]
    rule = "workqueue:WQ-15"
    reference = "it does"
    reason = "it should not"
    invariant = "fair"
    mutants = ["last_in_first_out"]
    [[not_checked]]
    rule = "workqueue:WQ-16"
    reason = "it is free"
"#;

fn complaints(text: &str) -> Vec<String> {
    let stated = read(text).expect("it can be read");
    differences(&stated, &known(), &|test| test == "core:queue::tests::in_order")
}

fn holes(text: &str, known: &Known) -> Vec<String> {
    kill_matrix(&read(text).expect("it can be read"), known)
}

#[test]
fn what_agrees_is_without_complaint() {
    assert_eq!(complaints(GOOD), [""; 0]);
    assert_eq!(holes(GOOD, &known()), [""; 0]);
}

#[test]
fn every_difference_is_noticed() {
    let cases = [
        ("component = \"queue\"", "component = \"heap\"", "the file is about `heap`"),
        ("WQ-14..16", "WQ-14..17", "workqueue:WQ-17 stands in 0 entries"),
        ("WQ-14..16", "WQ-14..15", "workqueue:WQ-16 is not in the scope"),
        ("WQ-14..16", "WQ-14..99", "`workqueue:WQ-14..99` is no range of rules"),
        ("\"workqueue:WQ-15\"", "\"workqueue:WQ-14\"", "workqueue:WQ-14 stands in 2 entries"),
        ("invariant = \"fair\"\n    scen", "invariant = \"x\"\n    scen", "no invariant `x`"),
        ("scenarios = [\"two_workers\"]", "scenarios = [\"x\"]", "no scenario `x`"),
        ("scenarios = [\"two_workers\"]", "scenarios = []", "in which scenario?"),
        ("tests::in_order", "tests::x", "no test `core:queue::tests::x`"),
        ("mutants = [\"last_in_first_out\"]", "mutants = [\"x\"]", "no mutant `x`"),
        ("mutants = [\"last_in", "mutants = [\"woken_for_nothing\", \"last_in", "does not break"),
        ("reason = \"it should not\"", "reason = \"\"", "a departure says what"),
        ("reason = \"it is free\"", "reason = \"\"", "why is it not checked?"),
        ("says = \"in order\"", "says = \"\"", "a promise has rules, a source and words"),
        ("rule = \"workqueue:WQ-16\"", "rule = \"workqueue:WQ-14\"", "is checked by `fair`"),
    ];
    for (from, to, complaint) in cases {
        assert!(GOOD.contains(from), "{from}");
        let found = complaints(&GOOD.replacen(from, to, 1));
        assert!(found.iter().any(|what| what.contains(complaint)), "{complaint}: {found:?}");
    }
}

#[test]
fn what_is_forgotten_is_noticed() {
    let bare = r#"
        component = "queue"
        scope = ["workqueue:WQ-14"]
        [[promise]]
        name = "fair"
        rules = ["workqueue:WQ-14"]
        source = "queue.go"
        says = "in order"
    "#;
    let expected = [
        "queue: fair: nothing shows it",
        "queue: no promise names the scenario `two_workers`",
        "queue: no promise names the invariant `fair`",
        "queue: no promise names the mutant `last_in_first_out`",
    ];
    assert_eq!(complaints(bare), expected);
}

#[test]
fn a_field_that_nobody_reads_is_an_error() {
    let unread = GOOD.replace("reason = \"it is free\"", "resaon = \"it is free\"");
    assert!(read(&unread).is_err_and(|error| error.contains("resaon")));
}

#[test]
fn a_kill_matrix_with_a_hole_is_noticed() {
    let without = Known { mutants: vec![], ..known() };
    assert_eq!(holes(GOOD, &without), ["queue: no mutant breaks `fair`"]);
    let mut strange = known();
    strange.mutants[0].breaks = &["fair", "tidy"];
    assert_eq!(holes(GOOD, &strange), ["queue: `last_in_first_out` breaks `tidy`, which is none"]);
    strange.mutants[0].breaks = &[];
    assert!(holes(GOOD, &strange).contains(&"queue: `last_in_first_out` breaks []".to_owned()));
}

#[test]
fn an_invariant_without_a_mutant_has_a_reason_and_a_test() {
    let hole = ["queue: no mutant breaks `fair`"];
    let explained = Known { mutants: vec![], never_alone: vec!["fair"], ..known() };
    assert_eq!(holes(GOOD, &explained), [""; 0]);
    let other = Known { mutants: vec![], never_alone: vec!["unfair"], ..known() };
    assert_eq!(holes(GOOD, &other), hole);
    let untested = GOOD.replace("tests = [\"core:queue::tests::in_order\"]", "");
    assert_eq!(holes(&untested, &explained), hole);
}
