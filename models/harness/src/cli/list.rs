//! `list`: what there is.

use std::fmt::Write as _;

use super::args::{ColorChoice, ListArguments};
use super::output::{colour, print};
use super::{Failure, Outcome};
use crate::catalogue::Catalogue;
use crate::report::Colour;
use crate::trial::{MutantKind, Subject};

pub(super) fn list(
    catalogue: &Catalogue,
    arguments: &ListArguments,
    color: ColorChoice,
) -> Outcome {
    let colour = colour(color);
    let wanted = |component: &str, name: &str| {
        let path = format!("{component}/{name}");
        arguments.patterns.is_empty()
            || arguments.patterns.iter().any(|pattern| path.contains(pattern.as_str()))
    };
    let mut text = String::new();
    for subject in catalogue.subjects {
        let listed = component(*subject, colour, |name| wanted(subject.name(), name));
        if !listed.is_empty() {
            let head = format!("{}: {}", subject.name(), subject.says());
            let _infallible = writeln!(text, "{}\n{listed}", colour.head(&head));
        }
    }
    if text.is_empty() {
        let patterns = arguments.patterns.join(" ");
        return Err(Failure::usage(format!(
            "nothing matches '{patterns}': `{} list` without a pattern shows everything",
            catalogue.program
        )));
    }
    print(&text)?;
    Ok(0)
}

fn component(subject: &dyn Subject, colour: Colour, wanted: impl Fn(&str) -> bool) -> String {
    let mut text = String::new();
    let mut section = |title: &str, lines: Vec<(&'static str, String)>| {
        let lines: Vec<_> = lines.into_iter().filter(|(name, _)| wanted(name)).collect();
        if !lines.is_empty() {
            let _infallible = writeln!(text, "  {}", colour.dim(title));
            let width = lines.iter().map(|(name, _)| name.len()).max().unwrap_or(0).max(32);
            for (name, says) in lines {
                let _infallible = writeln!(text, "    {name:<width$} {says}");
            }
        }
    };
    let scenarios = subject.scenarios().into_iter();
    section("scenarios", scenarios.map(|one| (one.name, one.says.to_owned())).collect());
    let invariants = subject.invariants().into_iter().map(|one| {
        let rules = if one.rules.is_empty() {
            String::new()
        } else {
            colour.dim(&format!("  [{}]", one.rules.join(", ")))
        };
        (one.name, format!("{}{rules}", one.says))
    });
    section("invariants", invariants.collect());
    let mutants = subject.mutants().into_iter().map(|one| {
        let kind = match one.kind {
            MutantKind::Seeded => String::new(),
            MutantKind::Exhibit => " (exhibit: still in the reference)".to_owned(),
            MutantKind::Equivalent(because) => format!(" (equivalent: {because})"),
        };
        let breaks = match one.breaks {
            [] => String::new(),
            some => format!("breaks {}: ", some.join(", ")),
        };
        (one.name, format!("{breaks}{}{kind}", one.origin))
    });
    section("mutants", mutants.collect());
    let traces = subject.conformance().into_iter().map(|one| {
        let faithful =
            if one.faithful.is_some() { "ours, and the faithful variant" } else { "ours" };
        (one.traces_of, faithful.to_owned())
    });
    section("recorded traces", traces.collect());
    text
}
