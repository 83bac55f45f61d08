//! Controllers with one bug each, as operators have had them, under operations drawn from the schema of their
//! objects: each is convicted by a few operations, and the correct one holds.

mod shop;

use kube::Client;
use seatrial_sim::simulation::operations::{Misbehaviour, Operations, Promise, Survey};
use seatrial_sim::simulation::{Simulation, is_exact};
use serde_json::json;

use shop::{Bug, definition, run, shop};

fn operations(bug: Bug) -> Operations {
    Simulation::of(move |connection| run(Client::new(connection, "default"), bug))
        .given(&definition())
        .operations(&shop())
}

fn found(bug: Bug) -> Misbehaviour {
    *operations(bug).sequences(12, 1).try_check().expect_err("it has a bug")
}

/// The bug, what it breaks, the fields of the fewest operations that show it.
const BUGS: [(Bug, Promise, &[&str]); 13] = [
    (Bug::NeverUpdated, Promise::Path, &["spec.image"]),
    (Bug::NeverRemoved, Promise::Path, &["spec.note"]),
    (Bug::KeysStay, Promise::Path, &["spec.labels.k"]),
    (Bug::NeverFewer, Promise::Rollback, &["spec.size", "spec.size"]),
    (Bug::OrderUnseen, Promise::Path, &["spec.ports"]),
    (Bug::StuckFailed, Promise::Rollback, &["spec.memory", "spec.memory"]),
    (Bug::Panics, Promise::NoPanic, &["spec.memory"]),
    (Bug::DeletesAndPanics, Promise::NoPanic, &["spec.memory"]),
    (Bug::DeletesAndAsks, Promise::Rests, &["spec.memory"]),
    (Bug::Waits, Promise::Others, &["spec.memory"]),
    (Bug::HotLoop, Promise::Rests, &["spec.memory"]),
    (Bug::ByPlace, Promise::Path, &["spec.tags"]),
    (Bug::NeedsOptional, Promise::Path, &["spec.colour"]),
];

#[test]
fn each_bug_is_convicted_by_few_operations() {
    let mut wrong = Vec::new();
    for (bug, promise, fields) in BUGS {
        let found = operations(bug).sequences(12, 1).try_check();
        let Err(found) = found else {
            wrong.push(format!("{bug:?} is not found"));
            continue;
        };
        println!("{bug:?}: {} runs in {:?}", found.survey.runs, found.survey.elapsed);
        let first = &found.findings[0];
        let own: Vec<_> = first.operations.iter().flat_map(|it| it.fields()).collect();
        if first.promise != promise || own != fields {
            wrong.push(format!("{bug:?}: {found}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

/// The bug, what it breaks, and at which object.
const HARD: [(Bug, Promise, &str); 4] = [
    (Bug::ExpectsFit, Promise::NoPanic, "with a name of 253 characters"),
    (Bug::OneNamespace, Promise::Hard, "of the same name in another namespace"),
    (Bug::Forgets, Promise::Hard, "deleted and created anew"),
    (Bug::Seconds32, Promise::NoPanic, "created in the year 2106"),
];

#[test]
fn each_bug_at_hard_objects_is_convicted() {
    let mut wrong = Vec::new();
    for (bug, promise, object) in HARD {
        if bug == Bug::Seconds32 && !is_exact() {
            continue; // its clock is the machine's
        }
        match operations(bug).sequences(0, 1).hard_objects().try_check() {
            Err(found) => {
                let first = &found.findings[0];
                if (first.promise, first.hard) != (promise, Some(object)) {
                    wrong.push(format!("{bug:?}: {found}"));
                }
            }
            Ok(survey) => wrong.push(format!("{bug:?} is not found: {survey}")),
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
    let survey = operations(Bug::None).sequences(0, 1).hard_objects().check();
    assert_eq!(survey.hard, 10);
}

#[test]
fn a_hard_object_counts_if_its_fault_strikes_also_one_of_two_processes() {
    let survey = Simulation::system()
        .process("shops", |connection| run(Client::new(connection, "default"), Bug::None))
        .process("idle", |_| std::future::pending::<()>())
        .given(&definition())
        .operations(&shop())
        .sequences(0, 1)
        .hard_objects()
        .check();
    assert_eq!(survey.hard, 10);
}

#[test]
fn the_correct_one_holds() {
    let survey = operations(Bug::None).check();
    assert_eq!(survey.unchanged, [""; 0]);
    assert_eq!(survey.ignored, ["spec.unused"]);
    assert!(survey.refused > 0 && survey.misused > 0, "{survey}");
}

#[test]
fn a_finding_is_replayed_by_its_operations() {
    let found = found(Bug::NeverFewer);
    let first = &found.findings[0];
    let text: Vec<_> = first.operations.iter().map(ToString::to_string).collect();
    let text = format!("[{}]", text.join(","));
    assert!(found.to_string().contains(&format!("SEATRIAL_OPERATIONS='{text}'")), "{found}");
    let again = operations(Bug::NeverFewer).replay(&text).try_check().expect_err("it has a bug");
    assert_eq!(again.findings[0].text, first.text);
    operations(Bug::None).replay(&text).check();
}

#[test]
fn a_field_without_effect_is_a_finding_if_that_is_asked() {
    let found = operations(Bug::None)
        .sequences(12, 1)
        .needs_effect()
        .try_check()
        .expect_err("one has none");
    assert_eq!(found.findings.len(), 1, "{found}");
    assert_eq!(found.findings[0].promise, Promise::Effect);
    assert_eq!(found.findings[0].operations[0].fields(), ["spec.unused"]);
}

#[test]
fn the_same_seed_draws_the_same() {
    let lines = |seed| {
        let found = operations(Bug::NeverUpdated).sequences(4, seed).try_check();
        match found {
            Ok(survey) => (Vec::new(), survey.operations, survey.refused, survey.changed),
            Err(it) => {
                let Survey { operations, refused, changed, .. } = it.survey;
                (it.findings[0].operations.clone(), operations, refused, changed)
            }
        }
    };
    assert_eq!(lines(7), lines(7));
}

#[test]
fn operations_that_the_server_refuses_are_no_replay() {
    let text = json!([{"change": {"spec": {"size": "many"}}}]).to_string();
    let found = operations(Bug::None).replay(&text).try_check().expect_err("it is refused");
    assert_eq!(found.findings[0].promise, Promise::Alone);
}

#[test]
fn a_panic_at_a_hard_object_does_not_hide_another_one() {
    let found = operations(Bug::PanicsTwice).sequences(12, 1).hard_objects().try_check();
    let found = found.expect_err("it has two bugs");
    assert!(found.findings.iter().any(|it| it.hard.is_some()), "{found}");
    let own = found.findings.iter().find(|it| it.hard.is_none());
    let own = own.unwrap_or_else(|| panic!("the panic at a field is missing: {found}"));
    assert_eq!(own.promise, Promise::NoPanic);
    assert_eq!(own.operations[0].fields(), ["spec.memory"]);
}

#[test]
fn a_survey_without_operations_does_not_pass() {
    let found = operations(Bug::None).sequences(0, 1).try_check().expect_err("nothing was tried");
    assert!(found.to_string().contains("no operation was tried"), "{found}");
    let found = operations(Bug::None).replay("[]").try_check().expect_err("nothing was tried");
    assert!(found.to_string().contains("no operation was tried"), "{found}");
}
