//! Every format is read by a parser of its own.

use crate::{canary, code, folder, json, seatrial, violated};

#[test]
fn a_report_is_as_its_schema_says() {
    let output = seatrial(&["schema"]);
    assert_eq!(code(&output), 0);
    let schema: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let validator = jsonschema::validator_for(&schema).expect("a schema");
    for report in [canary().to_owned(), violated(&folder("schema"))] {
        let report = json(&report);
        let errors: Vec<_> =
            validator.iter_errors(&report).map(|error| error.to_string()).collect();
        assert!(errors.is_empty(), "{errors:?}");
        let damaged = |change: fn(&mut serde_json::Value)| {
            let mut report = report.clone();
            change(&mut report);
            report
        };
        assert!(!validator.is_valid(&damaged(|report| report["outcome"] = "fine".into())));
        assert!(
            !validator.is_valid(&damaged(|report| report["rows"][0]["engine"] = "warp".into()))
        );
        assert!(!validator.is_valid(&damaged(|report| drop(report["rows"].take()))));
        assert!(validator.is_valid(&damaged(|report| report["new"] = 1.into())), "additive");
    }
}
