//! Operations that are drawn from a schema, on small processes.

use std::time::Duration;

use seatrial_sim::drive::{Act, Drive, Report};
use serde_json::json;

use super::{Folder, check, command};

fn pools(folder: &Folder, word: &str) -> Drive {
    let properties = json!({
        "size": {"type": "integer", "minimum": 0, "maximum": 3},
        "colour": {"type": "string", "enum": ["red", "blue"]},
        "weight": {"type": "string"},
    });
    let spec = json!({"type": "object", "required": ["size", "colour", "weight"], "properties": properties});
    let schema = json!({"openAPIV3Schema": {"type": "object", "properties": {"spec": spec}}});
    let definition = json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": "pools.example.com"},
        "spec": {"group": "example.com", "scope": "Namespaced", "names": {"kind": "Pool", "plural": "pools"},
            "versions": [{"name": "v1", "served": true, "storage": true, "schema": schema}]},
    });
    let pool = json!({"apiVersion": "example.com/v1", "kind": "Pool", "metadata": {"name": "pool"},
        "spec": {"size": 1, "colour": "red", "weight": "3"}});
    let steps = [
        json!({"apply": {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "before"}}}),
        json!({"wait": {"kind": "ConfigMap", "name": "before"}}),
        json!({"apply": pool}),
        json!({"wait": {"kind": "Secret", "name": "pool-0"}}),
    ];
    let steps = steps.map(|it| serde_json::from_value::<Act>(it).expect("it is a step"));
    let drive = Drive::new(&folder.0).process("pool", command("pool.py", &[word]));
    drive.given([definition]).steps(steps).rest(Duration::from_millis(700)).jobs(4)
}

fn broken(report: &Report) -> Vec<&str> {
    let all = report.found.iter().flat_map(|it| &it.violations);
    all.map(|it| it.rule).collect()
}

#[test]
fn a_correct_controller_holds_under_operations_that_are_drawn() {
    let folder = Folder::new("pool");
    let report = check(pools(&folder, "good").operations("Pool").needs_effect().at_most(12));
    assert_eq!(report.exit_code(), 0, "{report}");
    let survey = report.survey.as_ref().expect("operations were drawn");
    assert_eq!((survey.sequences, survey.unchanged.len()), (12, 0), "{report}");
    assert!(survey.operations > survey.misused && survey.misused > 0, "{report}");
    assert!(survey.refused > 0, "what the schema forbids is refused: {report}");
}

#[test]
fn what_depends_on_the_way_is_found_made_small_and_seen_again() {
    let folder = Folder::new("keeps");
    let drive = || pools(&folder, "keeps").shown_as("seatrial --replay '{plan}'".to_owned());
    let report = check(drive().operations("pools.example.com").at_most(8));
    assert_eq!(report.exit_code(), 100, "{report}");
    let finding = &report.found[0];
    let fields: Vec<_> = finding.operations.iter().flat_map(|it| it.fields()).collect();
    assert!(fields.iter().all(|it| it == "spec.size"), "{report}");
    assert!(finding.violations[0].text[0].contains("secrets default/pool-"), "{report}");
    let text = report.to_string();
    let again = text.lines().find_map(|it| it.strip_prefix("to see it again: seatrial --replay '"));
    let again = again.and_then(|it| it.strip_suffix("'")).expect("it is told");
    let again = drive().operations("Pool").replay_operations(again).expect("they are operations");
    assert_eq!(broken(&check(again))[..1], [finding.violations[0].rule]);
}

#[test]
fn a_field_without_effect_and_a_death_of_nonsense_are_found() {
    let folder = Folder::new("ignores");
    let report = check(pools(&folder, "ignores").operations("Pool").needs_effect().at_most(8));
    assert_eq!(broken(&report), ["a change of a field has an effect"], "{report}");
    assert!(report.to_string().contains("spec.colour was changed"), "{report}");
    let folder = Folder::new("dies");
    let weight = |word: &str| {
        let misuse = r#"[{"misuse":{"spec":{"weight":"none"}}}]"#;
        let drive = pools(&folder, word).operations("Pool");
        check(drive.replay_operations(misuse).expect("they are operations"))
    };
    assert_eq!(broken(&weight("dies")), ["the controller does not panic"]);
    assert_eq!(weight("good").exit_code(), 0);
}

#[test]
fn a_kind_that_no_step_applies_is_an_error() {
    let folder = Folder::new("no-kind");
    let error = pools(&folder, "good").operations("Secret").check(&|_| {});
    let error = error.expect_err("there is no object").to_string();
    assert!(error.contains("no step applies a Secret"), "{error}");
}

#[test]
fn a_survey_that_has_no_time_says_nothing() {
    let folder = Folder::new("no-time");
    let report = check(pools(&folder, "good").operations("Pool").time(Duration::ZERO));
    assert_eq!((report.exit_code(), report.plans, report.found.len()), (5, 0, 0), "{report}");
}
