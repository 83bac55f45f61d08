//! Reports are what their formats say, by the word of other people's validators and readers.
//!
//! The variable `SEATRIAL_FORMATS` names the folder of what the program wrote: `schema.json`, and for the
//! reports `held` and `violated` a `.json` and a `.sarif`.

use std::path::Path;

use serde_json::Value;

const REPORTS: [&str; 2] = ["held", "violated"];

fn written(name: &str) -> Value {
    let folder = std::env::var("SEATRIAL_FORMATS").expect("ci/formats.sh sets SEATRIAL_FORMATS");
    let path = Path::new(&folder).join(name);
    let text = std::fs::read_to_string(&path).unwrap_or_else(|why| panic!("{path:?}: {why}"));
    serde_json::from_str(&text).expect("JSON")
}

#[test]
fn a_report_is_as_its_schema_says() {
    let validator = jsonschema::validator_for(&written("schema.json")).expect("a schema");
    for report in REPORTS.map(|name| written(&format!("{name}.json"))) {
        let errors: Vec<_> = validator.iter_errors(&report).map(|it| it.to_string()).collect();
        assert!(errors.is_empty(), "{errors:?}");
        let damaged = |change: fn(&mut Value)| {
            let mut report = report.clone();
            change(&mut report);
            validator.is_valid(&report)
        };
        assert!(!damaged(|report| report["outcome"] = "fine".into()));
        assert!(!damaged(|report| report["rows"][0]["engine"] = "warp".into()));
        assert!(!damaged(|report| drop(report["rows"].take())));
        assert!(damaged(|report| report["new"] = 1.into()), "additive");
    }
}

/// Tells whether a reader generated from the format's schema understands a whole log: it would drop
/// unknown parts when it writes the log again.
fn is_understood(log: &Value) -> bool {
    let read = serde_json::from_value::<serde_sarif::sarif::Sarif>(log.clone());
    read.is_ok_and(|sarif| serde_json::to_value(sarif).expect("JSON") == *log)
}

#[test]
fn sarif_is_read_by_a_reader_of_the_format() {
    for log in REPORTS.map(|name| written(&format!("{name}.sarif"))) {
        assert!(is_understood(&log), "{log}");
        for damage in [
            |log: &mut Value| drop(log["runs"].take()),
            |log: &mut Value| drop(log["runs"][0]["tool"].take()),
            |log: &mut Value| log["runs"][0]["colour"] = 1.into(),
            |log: &mut Value| log["runs"][0]["results"] = 1.into(),
        ] {
            let mut damaged = log.clone();
            damage(&mut damaged);
            assert!(!is_understood(&damaged));
        }
    }
}
