//! A report that no run can have written is refused, and no output is half-written.

use serde_json::{Value, json};

use seatrial_models::report::{Part, Report};

use super::made_up::everything;
use super::{canary, folder, json as read_json, path, read, refused};

/// Both commands that read reports refuse this one, and leave the existing output as it is.
fn refuses(name: &str, contents: &[u8], says: &str) {
    let folder = folder(&format!("refused-{name}"));
    let (input, out) = (folder.join("r.json"), folder.join("out.json"));
    std::fs::write(&input, contents).expect("written");
    std::fs::write(&out, "before").expect("written");
    refused(&["merge", path(canary()), path(&input), "-o", path(&out)], says);
    let to = format!("html={}", path(&out));
    refused(&["report", path(&input), "--to", &to], says);
    assert_eq!(read(&out), "before");
    assert_eq!(std::fs::read_dir(&folder).expect("a folder").count(), 2, "nothing half-written");
}

/// Refuses the canary's report after a change.
fn refuses_changed(name: &str, change: impl FnOnce(&mut Value), says: &str) {
    let mut report = read_json(canary());
    change(&mut report);
    refuses(name, report.to_string().as_bytes(), says);
}

#[test]
fn a_report_cut_in_half_is_refused() {
    let whole = read(canary());
    refuses("half", &whole.as_bytes()[..whole.len() / 2], "cut short or damaged");
    refuses("empty", b"", "cut short or damaged");
    refuses("binary", &[0xff, 0xfe, 0], "not text");
}

#[test]
fn a_report_of_another_form_is_refused() {
    let version = |report: &mut Value| report["schema_version"] = json!(2);
    refuses_changed("version", version, "a report of form 2, and this program reads form 1");
    refuses("other", b"{\"a\": 1}", "it is no report");
    refuses("list", b"[1, 2]", "it is no report");
}

#[test]
fn rows_that_were_taken_out_are_missed() {
    let half = |report: &mut Value| {
        let rows = report["rows"].as_array_mut().expect("rows");
        rows.truncate(rows.len() / 2);
    };
    refuses_changed("rows", half, "changed after it was written");
}

#[test]
fn mutants_and_traces_that_were_taken_out_are_missed_as_well() {
    let refuses_without = |name: &str, change: &dyn Fn(&mut Report), says: &str| {
        let mut report = everything();
        report.parts = vec![Part::whole("mutants", 5), Part::whole("conformance", 2)];
        change(&mut report);
        report.conclude();
        refuses(name, &serde_json::to_vec(&report).expect("JSON"), says);
    };
    let mutants = "`mutants` ran 5 cases and 4 are here";
    refuses_without("mutants", &|report| drop(report.mutants.pop()), mutants);
    let traces = "`conformance` ran 2 cases and 1 are here";
    refuses_without("traces", &|report| drop(report.conformance.pop()), traces);
    let replayed = "3 of 5 traces of queue replayed";
    refuses_without("replayed", &|report| report.conformance[0].replayed = 3, replayed);
    let faithful = |report: &mut Report| report.conformance[0].faithful = Some(4);
    refuses_without("faithful", &faithful, "4 of 5 traces of queue replayed");
    let shard = |report: &mut Report| {
        let shard = report.parts[0].shards.remove(&1).expect("the whole");
        report.parts[0].shards.insert(7, shard);
    };
    refuses_without("shard", &shard, "a shard that is none of 1");
}

#[test]
fn a_pattern_that_matches_nothing_is_refused_beside_one_that_matches() {
    refused(&["run", "canary", "canari"], "canari");
    refused(&["mutants", "queue/", "kueue/"], "kueue/");
}

#[test]
fn an_outcome_is_computed_and_not_believed() {
    let blind = |report: &mut Value| {
        let rows = report["rows"].as_array_mut().expect("rows");
        let row = rows.iter_mut().find(|row| row["expect"] == "violated").expect("a canary");
        row["verdict"] = json!("holds");
    };
    refuses_changed("outcome", blind, "says Holds, what it holds comes to Blind");
}

#[test]
fn an_engine_that_ran_nothing_holds_nothing() {
    let hollow = |report: &mut Value| {
        let rows = report["rows"].as_array_mut().expect("rows");
        let row = rows.iter_mut().find(|row| row["verdict"] == "holds").expect("a verdict");
        row["executions"] = json!(0);
    };
    refuses_changed("hollow", hollow, "says Holds, what it holds comes to Inconclusive");
}

#[test]
fn what_cannot_be_read_or_written_is_refused() {
    refused(&["merge", "/no/such/r.json", "-o", "out.json"], "cannot read it");
    refused(&["merge", path(canary()), "-o", "/no/such/folder/out.json"], "can be written");
    refused(&["report", path(canary()), "--to", "pdf=x"], "unknown report format");
    refused(&["run", "canary", "--partition", "slice:5/4"], "slice:1/4");
}
