//! `shrink`, `doctor`, `completions` and `man`.

use std::path::Path;

use serde_json::Value;

use seatrial_models::engine::{Engine, Kind, Route};
use seatrial_models::trial::Witness;

use super::{canary, code, command, folder, json, path, read, refused, seatrial, text};

/// Returns the witness of the canary that an engine found.
fn witness(engine: &str) -> String {
    let report = json(canary());
    let rows = report["rows"].as_array().expect("rows");
    let row = rows.iter().find(|row| row["engine"] == engine && row["witness"].is_string());
    row.expect("a conviction")["witness"].as_str().expect("text").to_owned()
}

#[test]
fn a_witness_is_made_smaller_and_still_violates() {
    let long: Witness = witness("sample").parse().expect("a witness");
    // Executions with more preemptions than necessary: each thread makes one step at a time.
    let wordy = ["abababab", "bababa", "babab", "ababa", "abab"].iter().find_map(|schedule| {
        let route = Route::Schedule(schedule.parse().expect("a schedule"));
        let tried = Witness { route, ..long.clone() };
        let output = seatrial(&["shrink", &tried.to_string()]);
        (code(&output) == 0).then(|| text(&output.stdout))
    });
    let shrunk = wordy.expect("one of the schedules loses an update");
    let small = shrunk.lines().last().expect("the witness comes last");
    let output = seatrial(&["replay", small]);
    assert_eq!(code(&output), 100, "{}", text(&output.stderr));
    assert!(text(&output.stdout).contains("counts_every_increment"));
    let again = seatrial(&["shrink", small]);
    assert!(text(&again.stdout).contains("as small as it goes"), "{}", text(&again.stdout));
    assert_eq!(text(&again.stdout).lines().last(), Some(small));
}

#[test]
fn what_cannot_be_shrunk_is_refused() {
    refused(&["shrink", &witness("loom")], "--engine trace");
    refused(&["shrink", "hello"], "copy the whole text");
}

#[test]
fn the_doctor_lets_every_engine_convict_the_canary() {
    let output = seatrial(&["doctor"]);
    let says = text(&output.stdout);
    assert_eq!(code(&output), 0, "{says}");
    for engine in Engine::ALL {
        let line = says.lines().find(|line| line.contains(&format!("engine {engine}")));
        // The canary is a program of threads and a model of states.
        let looks = matches!(engine.runs(), Kind::Program | Kind::States);
        let convicts = line.expect(&says).contains("convicts the canary");
        assert_eq!(convicts, looks, "{says}");
    }
    let mut sick = command(&["doctor"]);
    let output = sick.env("JOB_COMPLETION_INDEX", "0").output().expect("it starts");
    assert_eq!(code(&output), 3, "half a partition");
    assert!(text(&output.stdout).contains("BROKEN"));
}

#[test]
fn a_sample_without_a_choice_is_one_execution() {
    let sampled = |scenario: &str| {
        let how = ["--engine", "sample", "--budget", "50", "--format", "json"];
        let output = seatrial(&[&["run", scenario], &how[..]].concat());
        let report: Value = serde_json::from_slice(&output.stdout).expect("a report");
        let row = &report["rows"][0]; // each invariant has one, of the same executions
        (row["executions"].clone(), row["coverage"].clone())
    };
    assert_eq!(sampled("address/parts_are_set"), (1.into(), "exhausted".into()));
    assert_eq!(sampled("queue/two_getters"), (50.into(), "sampled".into()));
}

#[test]
fn a_conviction_is_left_as_it_was_found_if_that_is_asked_for() {
    const ASKED: [&str; 4] = ["mutants", "queue/single_waiter_signal", "--engine", "sample"];
    let kill = |more: &[&str]| -> Value {
        let output = seatrial(&[&ASKED, more].concat());
        let report: Value = serde_json::from_slice(&output.stdout).expect("a report");
        report["mutants"][0]["kills"][0].clone()
    };
    let (small, found) = (kill(&["--format", "json"]), kill(&["--format", "json", "--as-found"]));
    assert!(small["executions"].is_u64());
    assert_eq!(found["executions"], small["executions"], "the search is the same");
    assert_eq!((&small["proved_minimum"], found.get("proved_minimum")), (&true.into(), None));
    let kept = folder("as-found");
    let output = seatrial(&[&ASKED[..], &["--as-found", "--witnesses", path(&kept)]].concat());
    assert_eq!(code(&output), 2, "witnesses that are kept are small");
}

#[test]
fn an_equivalent_mutant_may_be_trusted_and_any_other_is_convicted_all_the_same() {
    const ASKED: [&str; 5] =
        ["mutants", "queue/add_wakes_everybody", "queue/lost", "--engine", "sample"];
    let fates = |more: &[&str]| -> Vec<Value> {
        let output = seatrial(&[&ASKED, more, &["--format", "json"]].concat());
        let report: Value = serde_json::from_slice(&output.stdout).expect("a report");
        let mutants = report["mutants"].as_array().expect("mutants").clone();
        mutants.iter().map(|mutant| mutant["outcome"].clone()).collect()
    };
    let trusted = fates(&["--trust-equivalents"]);
    assert!(trusted.contains(&"equivalent".into()) && trusted.contains(&"killed".into()));
    assert_eq!(trusted, fates(&[]));
}

#[test]
fn a_report_names_the_commit_that_the_program_was_built_from() {
    let commit = |from: &Path, given: Option<&str>| {
        let mut run = command(&["run", "canary", "--engine", "sample", "--format", "json"]);
        run.current_dir(from).env_remove("SEATRIAL_COMMIT").env("GITHUB_SHA", "theirs");
        let output = run.envs(given.map(|commit| ("SEATRIAL_COMMIT", commit))).output();
        let report: Value = serde_json::from_slice(&output.expect("it starts").stdout).unwrap();
        report["commit"].as_str().expect("text").to_owned()
    };
    let here = commit(Path::new("."), None);
    let hash = here.strip_suffix("-dirty").unwrap_or(&here);
    let is_hash = hash.len() == 40 && hash.chars().all(|it| it.is_ascii_hexdigit());
    assert!(is_hash || here == "unknown", "{here}");
    assert_eq!(commit(Path::new("/"), None), here, "wherever it is started");
    assert_eq!(commit(Path::new("/"), Some("given")), "given");
}

#[test]
fn completions_and_pages_know_every_command() {
    const COMMANDS: [&str; 6] = ["run", "merge", "report", "shrink", "doctor", "schema"];
    for shell in ["bash", "zsh", "fish"] {
        let output = seatrial(&["completions", shell]);
        assert_eq!(code(&output), 0);
        let script = text(&output.stdout);
        for name in COMMANDS {
            assert!(script.contains(name), "{shell}: {name}");
        }
    }
    let folder = folder("man").join("made");
    assert_eq!(code(&seatrial(&["man", path(&folder)])), 0);
    for name in COMMANDS {
        let page = read(&folder.join(format!("seatrial-{name}.1")));
        assert!(page.contains(".TH") && page.contains(".SH NAME"), "{page}");
    }
    assert!(read(&folder.join("seatrial-run.1")).contains("partition"));
    assert!(text(&seatrial(&["man"]).stdout).contains("Exit codes"));
    let file = folder.join("seatrial.1");
    refused(&["man", path(&file)], "name a folder that can be made");
}
