//! One run on several machines, and runs that end early.

use std::path::{Path, PathBuf};

use serde_json::Value;

use super::{CANARY, canary, code, command, folder, json, path, seatrial, text};

/// Runs shards of the canary's run and returns their reports.
fn shards(folder: &Path, dealing: &str, wanted: &[u32]) -> Vec<PathBuf> {
    let run = |index: &u32| {
        let report = folder.join(format!("{dealing}-{index}.json"));
        let (partition, to) = (format!("{dealing}:{index}/3"), format!("json={}", path(&report)));
        let output =
            seatrial(&[&CANARY[..], &["--partition", &partition, "--report", &to]].concat());
        assert!([0, 4].contains(&code(&output)), "{}", text(&output.stderr));
        assert!(text(&output.stdout).contains(&format!("shard {index} of 3")));
        report
    };
    wanted.iter().map(run).collect()
}

fn merge(reports: &[PathBuf], out: &Path) -> std::process::Output {
    let mut arguments = vec!["merge"];
    arguments.extend(reports.iter().map(|report| path(report)));
    arguments.extend(["-o", path(out)]);
    seatrial(&arguments)
}

/// Returns the rows in an order that does not depend on the order of merging.
fn rows(report: &Value) -> Vec<String> {
    let mut rows: Vec<_> =
        report["rows"].as_array().expect("rows").iter().map(ToString::to_string).collect();
    rows.sort();
    rows
}

#[test]
fn shards_run_apart_and_merge_to_the_whole_run() {
    for dealing in ["slice", "hash"] {
        let folder = folder(&format!("shards-{dealing}"));
        let out = folder.join("out.json");
        let output = merge(&shards(&folder, dealing, &[3, 1, 2]), &out);
        assert_eq!(code(&output), 0, "{}{}", text(&output.stdout), text(&output.stderr));
        assert_eq!(rows(&json(&out)), rows(&json(canary())), "{dealing}");
    }
}

#[test]
fn a_shard_left_out_is_exit_code_5_and_named() {
    let folder = folder("shard-left-out");
    let out = folder.join("out.json");
    let output = merge(&shards(&folder, "slice", &[1, 3]), &out);
    assert_eq!(code(&output), 5);
    assert!(text(&output.stdout).contains("--partition slice:2/3"), "{}", text(&output.stdout));
    assert_eq!(json(&out)["outcome"], "inconclusive");
}

#[test]
fn an_indexed_job_names_the_shard() {
    let run = |index: &str| {
        let mut run = command(&[&CANARY[..], &["--format", "json"]].concat());
        run.env("JOB_COMPLETION_INDEX", index).env("JOB_COMPLETIONS", "3");
        run.output().expect("the program starts")
    };
    let report: Value = serde_json::from_slice(&run("1").stdout).expect("JSON");
    assert_eq!(report["partition"], serde_json::json!({"index": 2, "count": 3}));
    assert_eq!(code(&run("3")), 2, "a shard that does not exist");
}

#[test]
fn fail_fast_starts_nothing_after_a_failure() {
    let report = folder("fail-fast").join("r.json");
    let to = format!("json={}", path(&report));
    // One schedule is too few to convict the canary: the run is blind, which is not as expected.
    let run = ["run", "canary", "--engine", "sample", "--engine", "threads", "--budget", "1"];
    let more = ["--jobs", "1", "--report", &to];
    let whole = seatrial(&[&run[..], &more].concat());
    let cases = |report: &Value| report["parts"][0]["shards"]["1"].clone();
    assert_eq!(code(&whole), 3, "{}", text(&whole.stdout));
    let all = cases(&json(&report));
    assert_eq!(all["cases"], all["ran"]);
    let fast = seatrial(&[&run[..], &more, &["--fail-fast"]].concat());
    assert_eq!(code(&fast), 3);
    assert_eq!(cases(&json(&report))["ran"], 1);
    assert!(text(&fast.stdout).contains("was stopped after 1 of"), "{}", text(&fast.stdout));
}

/// Waits until a process handles a signal, by the information of the system; panics if it ends
/// before.
#[cfg(target_os = "linux")]
fn listens(run: &mut std::process::Child, number: u32) {
    let status = format!("/proc/{}/status", run.id());
    loop {
        assert!(run.try_wait().expect("its state").is_none(), "it ended before it listened");
        let status = std::fs::read_to_string(&status).expect("the system tells");
        let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:")).expect("a mask");
        let caught = u64::from_str_radix(caught.trim(), 16).expect("a mask in hexadecimal");
        if caught & (1 << (number - 1)) != 0 {
            return;
        }
        std::thread::yield_now();
    }
}

#[cfg(target_os = "linux")]
#[test]
fn an_interrupted_run_leaves_a_valid_report_that_concludes_nothing() {
    let report = folder("interrupted").join("r.json");
    let to = format!("json={}", path(&report));
    let arguments =
        ["run", "queue", "--engine", "sample", "--budget", "1e12", "--jobs", "1", "--report", &to];
    for (signal, number) in [("-INT", 2), ("-TERM", 15)] {
        let mut run = command(&arguments);
        let run = run.stdout(std::process::Stdio::null()).stderr(std::process::Stdio::piped());
        let mut run = run.spawn().expect("the program starts");
        listens(&mut run, number);
        let killed = std::process::Command::new("kill")
            .args([signal, &run.id().to_string()])
            .status()
            .expect("kill is there");
        assert!(killed.success());
        let output = run.wait_with_output().expect("it ends");
        assert_eq!(code(&output), 5, "{}", text(&output.stderr));
        let report = json(&report);
        assert_eq!(report["outcome"], "inconclusive");
        assert!(report["rows"].as_array().expect("rows").is_empty(), "nothing was finished");
    }
}
