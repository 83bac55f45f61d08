//! `replay`: one execution again.

use std::fmt::Write as _;
use std::path::Path;

use super::args::{ColorChoice, ReplayArguments};
use super::output::{check_paths, colour, tell, write};
use super::{DIVERGED, Failure, Outcome};
use crate::catalogue::Catalogue;
use crate::picture::picture;
use crate::report::{Colour, Summary};
use crate::runner::replay_report;
use crate::trial::{MADE_UP_CALLS, Replayed, Subject, Witness, digest};

pub(super) fn replay(
    catalogue: &Catalogue,
    arguments: &ReplayArguments,
    color: ColorChoice,
) -> Outcome {
    let witness = read(&arguments.witness)?;
    check_paths(&arguments.reports)?;
    let replayed = rerun(catalogue, &witness)?;
    if !arguments.reports.is_empty() {
        let report = replay_report(catalogue, &witness, &replayed);
        for to in &arguments.reports {
            write(&report, to)?;
        }
    }
    let same = digest(&replayed.transcript) == witness.history;
    tell(&arguments.reports, &text(&witness, &replayed, same, colour(color)))?;
    Ok(match (same, replayed.findings.is_empty()) {
        (false, _) => DIVERGED,
        (true, true) => Summary::Holds.exit_code(),
        (true, false) => Summary::Violated.exit_code(),
    })
}

/// Reads a witness from the argument itself or from the file that it names.
pub(super) fn read(argument: &str) -> Result<Witness, Failure> {
    let text = if Path::new(argument).exists() {
        let unreadable = |error| Failure::usage(format!("cannot read {argument}: {error}"));
        let text = std::fs::read_to_string(argument).map_err(unreadable)?;
        let line =
            text.lines().map(str::trim).find(|line| !line.is_empty() && !line.starts_with('#'));
        line.unwrap_or_default().to_owned()
    } else {
        argument.to_owned()
    };
    text.parse().map_err(|error| Failure::usage(format!("{error}")))
}

/// Runs the execution that a witness leads to.
fn rerun(catalogue: &Catalogue, witness: &Witness) -> Result<Replayed, Failure> {
    let subject = subject(catalogue, witness)?;
    let mutant = witness.mutant.as_deref();
    let replayed = subject.replay(&witness.scenario, mutant, witness.engine, &witness.route);
    replayed.ok_or_else(gone)
}

/// Says that the code differs from the code that the witness was taken of.
pub(super) fn gone() -> Failure {
    Failure {
        message: "the execution of this witness does not exist any more: the code has changed"
            .to_owned(),
        code: DIVERGED,
    }
}

/// Returns the component of a witness, if this build can run all that the witness names.
pub(super) fn subject(
    catalogue: &Catalogue,
    witness: &Witness,
) -> Result<&'static dyn Subject, Failure> {
    let program = catalogue.program;
    let unknown = |what: &str, name: &str| {
        Failure::usage(format!(
            "this witness is of {what} '{name}', which is not known here: `{program} list` shows \
             what there is"
        ))
    };
    let subject = catalogue
        .subject(&witness.component)
        .ok_or_else(|| unknown("the component", &witness.component))?;
    let made_up = witness.engine.makes_up_calls() && witness.scenario == MADE_UP_CALLS;
    if !made_up && !subject.scenarios().iter().any(|scenario| scenario.name == witness.scenario) {
        return Err(unknown("the scenario", &witness.scenario));
    }
    if let Some(mutant) = &witness.mutant
        && !subject.mutants().iter().any(|known| known.name == mutant)
    {
        return Err(unknown("the mutant", mutant));
    }
    if let Some(missing) = witness.engine.missing() {
        return Err(Failure::usage(missing));
    }
    Ok(subject)
}

fn text(witness: &Witness, replayed: &Replayed, same: bool, colour: Colour) -> String {
    let Witness { component, scenario, engine, .. } = witness;
    let mutant = witness.mutant.as_ref().map_or(String::new(), |name| format!(" with {name}"));
    let head = format!("{component}/{scenario}{mutant} on {engine}");
    let mut text = format!("{}\n\n", colour.head(&head));
    if replayed.lines.is_empty() && replayed.picture.is_none() {
        text.push_str("  calls of one caller, read from the bytes of the witness\n");
        text.push_str(&verdict(replayed, same, colour));
        return text;
    }
    let at = replayed.findings.first().and_then(|finding| finding.violation.at);
    let drawn = replayed.picture.clone().unwrap_or_else(|| picture(&replayed.lines, at));
    for line in drawn.lines() {
        let _infallible = writeln!(text, "  {line}");
    }
    if let Some(end) = replayed.transcript.lines().next_back() {
        let _infallible = writeln!(text, "  {}", colour.dim(end));
    }
    text.push_str(&verdict(replayed, same, colour));
    text
}

/// Says what an execution violates, and whether it is the execution of the witness.
fn verdict(replayed: &Replayed, same: bool, colour: Colour) -> String {
    let mut text = "\n".to_owned();
    for finding in &replayed.findings {
        let name = colour.bad(finding.invariant);
        let _infallible = writeln!(text, "{name}: {}", finding.violation.because);
    }
    if replayed.findings.is_empty() {
        let _infallible = writeln!(text, "{}", colour.good("nothing is violated"));
    }
    if !same {
        let _infallible = writeln!(
            text,
            "{}",
            colour.bad("this is not the history that the witness was taken of: the code changed")
        );
    }
    text
}
