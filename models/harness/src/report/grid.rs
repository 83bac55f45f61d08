//! One line per component and engine: the first table of the text and of the page.

use std::collections::BTreeMap;

use super::text::verdict_words;
use super::{Coverage, NOT_HELD, Row, counted, thousands};
use crate::engine::{Engine, Kind};

/// How the scenarios of one component fared on one engine.
pub(super) struct Cell<'a> {
    pub(super) component: &'a str,
    pub(super) engine: Engine,
    /// Scenarios that ran.
    pub(super) scenarios: u64,
    /// Executions of all of them; zero where the engine reports none.
    pub(super) executions: u64,
    /// How far those looked that hold.
    pub(super) reach: String,
    pub(super) verdict: String,
    pub(super) standing: Standing,
}

/// The worst of some verdicts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Standing {
    Good,
    Doubt,
    Bad,
    NotRun,
}

impl Standing {
    /// Returns the standing of a case, by the word for its verdict.
    pub(super) fn of(word: &str) -> Self {
        match word {
            "holds" | "violated as expected" => Self::Good,
            "UNDECIDED" => Self::Doubt,
            "not run" => Self::NotRun,
            _ => Self::Bad,
        }
    }
}

/// Returns a cell per component and engine, components in the order of the rows.
pub(super) fn grid(rows: &[Row]) -> Vec<Cell<'_>> {
    let mut components: Vec<&str> = Vec::new();
    let mut cells: BTreeMap<(usize, Engine), Vec<&[Row]>> = BTreeMap::new();
    for group in rows.chunk_by(Row::same_case) {
        let name = group[0].component.as_str();
        let known = components.iter().position(|known| *known == name);
        let at = known.unwrap_or_else(|| {
            components.push(name);
            components.len() - 1
        });
        cells.entry((at, group[0].engine)).or_default().push(group);
    }
    cells.into_values().map(|groups| cell(&groups)).collect()
}

fn cell<'a>(groups: &[&'a [Row]]) -> Cell<'a> {
    let first = &groups[0][0];
    let words: Vec<_> = groups.iter().map(|group| verdict_words(group).0).collect();
    let firsts = || groups.iter().map(|group| &group[0]);
    let ran = |row: &&Row| row.exhibit.is_none() && row.invariant != NOT_HELD;
    let held: Vec<_> =
        firsts().zip(&words).filter(|(_, word)| **word == "holds").map(|(row, _)| row).collect();
    let standings: Vec<_> = words.iter().map(|word| Standing::of(word)).collect();
    let by_weight = [Standing::Bad, Standing::Doubt, Standing::Good];
    let worst = by_weight.into_iter().find(|standing| standings.contains(standing));
    let tally = tally(&words);
    Cell {
        component: &first.component,
        engine: first.engine,
        scenarios: firsts().filter(ran).count() as u64,
        executions: firsts().filter_map(|row| row.executions).sum(),
        reach: reach(first.engine, &held),
        verdict: match &tally[..] {
            [(_, word)] => (*word).to_owned(),
            several => several
                .iter()
                .map(|(count, word)| format!("{} {word}", thousands(*count)))
                .collect::<Vec<_>>()
                .join(", "),
        },
        standing: worst.unwrap_or(Standing::NotRun),
    }
}

/// Counts verdicts by their words, in a fixed order.
pub(super) fn tally(words: &[&str]) -> Vec<(u64, &'static str)> {
    let known = [
        "holds",
        "violated as expected",
        "VIOLATED",
        "INADMISSIBLE",
        "BLIND",
        "UNDECIDED",
        "not run",
    ];
    let counts = known.into_iter().map(|word| {
        let count = words.iter().filter(|known| **known == word).count() as u64;
        (count, if word == "holds" && count != 1 { "hold" } else { word })
    });
    counts.filter(|(count, _)| *count > 0).collect()
}

/// Says how far an engine looked at the cases that hold.
fn reach(engine: Engine, held: &[&Row]) -> String {
    if held.is_empty() || engine.depends_on_the_machine() {
        return String::new();
    }
    let steps = || thousands(held.iter().filter_map(|row| row.steps).sum());
    let exhausted =
        held.iter().filter(|row| row.coverage == Some(Coverage::Exhausted)).count() as u64;
    let all = held.len() as u64;
    match engine.runs() {
        Kind::Simulation => format!("{} steps", steps()),
        Kind::Calls => "random calls".to_owned(),
        Kind::States => format!("every state, {} steps", steps()),
        _ if exhausted == all => bound(held),
        _ if exhausted == 0 => sampled(held),
        _ => format!("{}; {exhausted} of {all} whole", sampled(held)),
    }
}

fn bound(held: &[&Row]) -> String {
    let most = held.iter().filter_map(|row| row.bounds.get("preemptions")).max();
    match most {
        Some(most) => format!("all, at most {}", counted(*most, "preemption")),
        None => "every schedule".to_owned(),
    }
}

fn sampled(held: &[&Row]) -> String {
    let traces: u64 = held.iter().filter_map(|row| row.traces).sum();
    let unseen = held.iter().filter_map(|row| Some(row.left.as_ref()?.unseen_mass));
    let most = unseen.fold(None, |most: Option<f64>, mass| Some(most.unwrap_or(0.0).max(mass)));
    let most = most.map_or(String::new(), |mass| format!(", {:.1} % unseen", mass * 100.0));
    format!("{} traces{most}", thousands(traces))
}
