//! The jobs for other machines agree with the program.

use seatrial_models::report::Summary;

use crate::tree;

/// Complains about errors in the job of a fleet.
pub(crate) fn complaints(job: &str) -> Vec<String> {
    let mut complaints = Vec::new();
    let value_of = |name: &str| {
        let line = job.lines().find_map(|line| line.trim().strip_prefix(name));
        line.map(|rest| rest.trim().trim_matches(|c| "\"[]".contains(c)).to_owned())
    };
    let codes = value_of("values:").unwrap_or_default();
    let codes: Vec<&str> = codes.split(", ").collect();
    for summary in [Summary::Violated, Summary::Inadmissible, Summary::Blind, Summary::Empty] {
        let code = summary.exit_code().to_string();
        if !codes.contains(&code.as_str()) {
            complaints.push(format!("a shard that is {summary:?} ({code}) would be tried again"));
        }
    }
    let stopped = Summary::Inconclusive.exit_code().to_string();
    if codes.contains(&stopped.as_str()) {
        complaints.push("a shard that was stopped would not be tried again".to_owned());
    }
    let completions = value_of("completions:");
    let told = job.split_once("name: JOB_COMPLETIONS").and_then(|(_, rest)| {
        let line = rest.lines().find_map(|line| line.trim().strip_prefix("value:"))?;
        Some(line.trim().trim_matches('"').to_owned())
    });
    if completions.is_none() || completions != told {
        complaints.push(format!("{completions:?} shards, and they are told of {told:?}"));
    }
    complaints
}

#[test]
fn the_indexed_job_fails_an_index_for_what_repetition_does_not_mend() {
    let job = std::fs::read_to_string(tree::root().join("ci/job.yaml")).expect("the job");
    assert_eq!(complaints(&job), [""; 0]);
}

#[test]
fn every_script_is_called() {
    let files = tree::written();
    let calls = |name: &str| {
        let callers = files.iter().filter(|file| {
            file.path.ends_with(".sh") || file.path == ".ci/run" || file.path.ends_with(".yml")
        });
        callers.filter(|file| file.text.contains(name) && !file.path.ends_with(name)).count() > 0
    };
    for file in files.iter().filter(|file| file.path.starts_with("ci/")) {
        if file.path.ends_with(".sh") {
            assert!(calls(&file.path), "nothing calls {}", file.path);
        }
    }
}
