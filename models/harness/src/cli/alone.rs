//! `mutants --alone`: what each invariant is there for.

use std::fmt::Write as _;

use super::args::{ColorChoice, MutantsArguments};
use super::output::{colour, print};
use super::progress::Told;
use super::run::jobs;
use super::{Failure, Outcome};
use crate::catalogue::Catalogue;
use crate::interrupt;
use crate::report::{Colour, Summary};
use crate::runner::{Alone, Apart, Shared, Worth, alone as judged};

/// The most mutants shown of those that an invariant shares with others.
const SHOWN: usize = 3;

pub(super) fn alone(
    catalogue: &Catalogue,
    arguments: &MutantsArguments,
    color: ColorChoice,
) -> Outcome {
    interrupt::listen();
    let told = Told::new(String::new());
    let all = judged(catalogue, &arguments.patterns, jobs(&arguments.effort), &told);
    told.finish();
    if interrupt::asked() {
        return Ok(Summary::Inconclusive.exit_code());
    }
    if all.is_empty() {
        return Err(Failure::usage("no component with mutants has such a name"));
    }
    let colour = colour(color);
    let wanting = all.iter().filter(|one| !one.worth().is_enough()).count();
    let own = all.iter().filter(|one| one.mutant.is_some()).count();
    let summary = format!("{own} of {} invariants convict a mutant of their own", all.len());
    let (summary, code) = match wanting {
        0 => (format!("{summary}, and all others are accounted for\n"), 0),
        _ => (
            colour.bad(&format!("{summary}, and {wanting} are not accounted for\n")),
            Summary::Blind.exit_code(),
        ),
    };
    print(&(text(&all, colour) + &summary))?;
    Ok(code)
}

/// Lists the convictions of each invariant that no other one makes, and the judgement on the rest.
fn text(all: &[Alone], colour: Colour) -> String {
    let mut text = String::new();
    for group in all.chunk_by(|a, b| a.component == b.component) {
        let of = |worth| group.iter().filter(|one| one.worth() == worth).count();
        let own = group.iter().filter(|one| one.mutant.is_some()).count();
        let _infallible = writeln!(
            text,
            "{}: of {} invariants {own} convict a mutant that no other one does, {} an execution of \
             one, {} say why not",
            group[0].component,
            group.len(),
            of(Worth::OwnExecution),
            of(Worth::Explained),
        );
        for one in group.iter().filter(|one| one.worth() != Worth::OwnMutant) {
            let _infallible = writeln!(text, "  {:<42} {}", one.invariant, said_of(one, colour));
            if one.worth() != Worth::Blind && one.worth() != Worth::ExplainedAway {
                text.push_str(&colour.dim(&shared(one)));
            }
        }
    }
    text
}

fn said_of(one: &Alone, colour: Colour) -> String {
    match one.worth() {
        Worth::Blind => colour.bad("convicts nothing: it is blind"),
        Worth::ExplainedAway => {
            let mutant = one.mutant.unwrap_or_default();
            colour.bad(&format!("needs no reason: {mutant} is its own"))
        }
        Worth::Unexplained => {
            colour.bad("sees nothing that no other one sees, and nobody says why it is stated")
        }
        Worth::Explained | Worth::OwnMutant => colour.dim(one.because.unwrap_or_default()),
        Worth::OwnExecution => {
            let apart = one.execution.as_ref();
            let told = apart.map(|Apart { mutant, scenario }| {
                format!("alone in executions of {mutant} in {scenario}")
            });
            told.unwrap_or_default()
        }
    }
}

/// Lists whom an invariant convicts with which others, the least company first.
fn shared(one: &Alone) -> String {
    let mut text = String::new();
    if !one.twins.is_empty() {
        let twins = one.twins.join(", ");
        let _infallible = writeln!(text, "    convicts exactly whom these convict: {twins}");
    }
    let mut convicts: Vec<_> = one.convicts.iter().collect();
    convicts.sort_by_key(|shared| shared.with.len());
    for Shared { mutant, with } in convicts.iter().take(SHOWN) {
        let _infallible = writeln!(text, "    {mutant} breaks {} as well", with.join(", "));
    }
    if convicts.len() > SHOWN {
        let _infallible = writeln!(text, "    and {} more", convicts.len() - SHOWN);
    }
    text
}
