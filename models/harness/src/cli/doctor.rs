//! `doctor`: what works on this machine, and why the rest does not.

use std::fmt::Write as _;
use std::process::Command;

use super::Outcome;
use super::args::ColorChoice;
use super::output::{colour, print};
use crate::canary::Canary;
use crate::catalogue::Catalogue;
use crate::engine::Engine;
use crate::report::{Colour, Summary};
use crate::runner::Share;
use crate::trial::{Budget, Plan, StopAt, subject};

/// The result of one check.
enum Finding {
    Works(String),
    /// It is optional and missing: what to do to have it.
    Lacks(String),
    /// It must work and does not.
    Broken(String),
}

use Finding::{Broken, Lacks, Works};

pub(super) fn doctor(catalogue: &Catalogue, color: ColorChoice) -> Outcome {
    let colour = colour(color);
    let mut findings: Vec<(String, Finding)> =
        Engine::ALL.iter().map(|engine| (format!("engine {engine}"), canary_on(*engine))).collect();
    findings.push(("processors".to_owned(), processors()));
    findings.push(("temporary folder".to_owned(), temporary_folder()));
    findings.push(("commit".to_owned(), commit(catalogue)));
    findings.push(("partition".to_owned(), partition()));
    findings.push(("recorded traces".to_owned(), traces(catalogue)));
    for (tool, arguments, why) in TOOLS {
        findings.push(((*tool).to_owned(), asked(tool, arguments, why)));
    }
    let broken = findings.iter().any(|(_, finding)| matches!(finding, Broken(_)));
    print(&text(&findings, colour))?;
    Ok(if broken { Summary::Blind.exit_code() } else { 0 })
}

fn text(findings: &[(String, Finding)], colour: Colour) -> String {
    let mut text =
        format!("seatrial {}, {}\n", env!("CARGO_PKG_VERSION"), env!("SEATRIAL_TOOLCHAIN"));
    for (what, finding) in findings {
        let (word, says) = match finding {
            Works(says) => (colour.good("works "), says),
            Lacks(says) => (colour.dim("lacks "), says),
            Broken(says) => (colour.bad("BROKEN"), says),
        };
        let _infallible = writeln!(text, "  {word}  {what:<18} {says}");
    }
    text
}

/// Lets an engine convict the broken counter: the only proof that it can see.
fn canary_on(engine: Engine) -> Finding {
    if let Some(missing) = engine.missing() {
        return Lacks(missing.to_owned());
    }
    let budget = Budget { thread_runs: 50, schedules: 200, ..Budget::smoke() };
    let stop_at = StopAt::FirstViolation;
    let plan = Plan { engine, budget, seed: 0, stop_at, minimise: false, time: None };
    let canary = subject::<Canary>();
    let cannot = |name: &str| canary.cannot_run(name, engine);
    let mut refusals = canary.scenarios().into_iter().map(|scenario| cannot(scenario.name));
    if let Some(Some(why)) = refusals.next()
        && refusals.all(|refusal| refusal.is_some())
    {
        return Lacks(format!("a look at the canary: {why}"));
    }
    let mut executions = 0;
    for scenario in canary.scenarios() {
        if canary.cannot_run(scenario.name, engine).is_some() {
            continue;
        }
        let trial = canary.run(scenario.name, None, &plan);
        let Some(trial) = trial else { continue };
        executions += trial.exploration.executions;
        if !trial.findings.is_empty() {
            return Works(format!("convicts the canary, {executions} executions"));
        }
    }
    Broken(format!("finds nothing wrong with the canary in {executions} executions: it is blind"))
}

fn processors() -> Finding {
    match std::thread::available_parallelism() {
        Ok(count) if count.get() > 1 => Works(count.to_string()),
        Ok(_) => Lacks("one: the engine threads sees few interleavings".to_owned()),
        Err(error) => Lacks(format!("unknown ({error}): give --jobs")),
    }
}

fn temporary_folder() -> Finding {
    let folder = std::env::temp_dir();
    let probe = folder.join(format!("seatrial-{}.tmp", std::process::id()));
    match std::fs::write(&probe, b"").and_then(|()| std::fs::remove_file(&probe)) {
        Ok(()) => Works(folder.display().to_string()),
        Err(error) => Lacks(format!("{}: {error}: set TMPDIR", folder.display())),
    }
}

fn commit(catalogue: &Catalogue) -> Finding {
    match catalogue.report(0).commit {
        unknown if unknown == "unknown" => Lacks(
            "reports will not name it: build inside the repository or set SEATRIAL_COMMIT".into(),
        ),
        commit => Works(commit),
    }
}

fn partition() -> Finding {
    match Share::of_environment(|name| std::env::var(name).ok()) {
        Ok(share) if share == Share::default() => Works("none: every case is run".to_owned()),
        Ok(share) => Works(format!("{share}, from the environment")),
        Err(why) => Broken(why),
    }
}

fn traces(catalogue: &Catalogue) -> Finding {
    let all = catalogue.conformance();
    let (mut files, mut traces) = (0, 0);
    for one in all {
        match one.recorded() {
            Some(text) => {
                files += 1;
                traces += text.lines().count();
            }
            None => return Broken(format!("those of {} are not carried", one.traces_of)),
        }
    }
    Works(format!("{traces} of {files} components"))
}

/// Tools for single checks of this repository: how to ask for each, and its use.
const TOOLS: &[(&str, &[&str], &str)] = &[
    ("git", &["--version"], "to bake the commit into the build"),
    ("cargo-fuzz", &["--version"], "for fuzz targets: cargo install cargo-fuzz"),
    ("chromium", &["--version"], "for ci/report.sh, which looks at the page"),
];

fn asked(tool: &str, arguments: &[&str], why: &str) -> Finding {
    match Command::new(tool).args(arguments).output() {
        Ok(said) if said.status.success() => {
            Works(String::from_utf8_lossy(&said.stdout).trim().to_owned())
        }
        _ => Lacks(format!("not found; wanted {why}")),
    }
}
