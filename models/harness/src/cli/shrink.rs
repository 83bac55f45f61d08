//! `shrink`: the same violation in a smaller execution.

use std::fmt::Write as _;

use super::args::{ColorChoice, ShrinkArguments};
use super::output::{colour, print};
use super::replay::{gone, read, subject};
use super::{Failure, Outcome};
use crate::catalogue::Catalogue;
use crate::engine::Engine;
use crate::picture::picture;
use crate::report::counted;
use crate::trial::{Finding, Witness};

pub(super) fn shrink(
    catalogue: &Catalogue,
    arguments: &ShrinkArguments,
    color: ColorChoice,
) -> Outcome {
    let witness = read(&arguments.witness)?;
    let subject = subject(catalogue, &witness)?;
    if witness.engine.makes_up_calls() {
        return Err(Failure::usage(
            "made-up calls are made as few as it goes when they convict: replay this witness",
        ));
    }
    if witness.engine == Engine::State {
        return Err(Failure::usage(
            "a way through states is a shortest one already: replay this witness",
        ));
    }
    if !matches!(witness.engine, Engine::Sample | Engine::Trace) {
        return Err(Failure::usage(format!(
            "a schedule of {} cannot be changed step by step: find the violation with `{} run {}/{} \
             --engine trace --engine sample` and shrink that witness",
            witness.engine, catalogue.program, witness.component, witness.scenario
        )));
    }
    let (scenario, mutant) = (witness.scenario.as_str(), witness.mutant.as_deref());
    let replayed = subject.replay(scenario, mutant, witness.engine, &witness.route);
    if replayed.ok_or_else(gone)?.findings.is_empty() {
        return Err(Failure::usage(
            "this witness violates nothing: there is nothing to make small",
        ));
    }
    let small = subject.shrink(scenario, mutant, witness.engine, &witness.route);
    let small = small.ok_or_else(gone)?;
    let Some(route) = small.route.clone() else { return Err(gone()) };
    let smaller = Witness { route, history: small.digest(), ..witness.clone() };
    let colour = colour(color);
    let mut text = picture(&small.lines, small.violation.at);
    let _infallible = writeln!(
        text,
        "\n{}: {}\n{}\n{smaller}",
        colour.bad(small.invariant),
        small.violation.because,
        colour.dim(&how(&witness, &smaller, &small)),
    );
    print(&text)?;
    Ok(0)
}

/// Says how much smaller it is.
fn how(before: &Witness, after: &Witness, small: &Finding) -> String {
    let steps =
        |witness: &Witness| witness.route.schedule().map_or(0, |it| it.choices.len() as u64);
    let preemptions = match small.preemptions {
        Some(count) => format!(", {}", counted(count.into(), "preemption")),
        None => String::new(),
    };
    let proved = small.preemptions.is_some() && small.proved_minimum == Some(true);
    let least = format!("{preemptions}{}", if proved { ", the least there is" } else { "" });
    if after.route == before.route {
        return format!("it is as small as it goes: {}{least}", counted(steps(after), "decision"));
    }
    format!("{} instead of {}{least}", counted(steps(after), "decision"), steps(before))
}
