//! The smallest way back to each expected finding, one file each. A repository keeps them, so that
//! a later release of the same line can be checked to still read them.
//!
//! ```text
//! witnesses/queue/lost_requeue.txt          a mutant or an exhibit
//! witnesses/canary/lost_update.txt          a scenario that is expected to break
//! ```

use std::path::PathBuf;

use super::{Kill, Report, Verdict};
use crate::engine::Engine;
use crate::trial::{Expect, Witness};

/// One file: its path inside the folder of witnesses, and its text.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct WitnessFile {
    /// `component/name.txt`.
    pub path: PathBuf,
    /// The origin of the witness, as comments, and the witness.
    pub text: String,
}

/// Something found, and the way back to it.
struct Found<'a> {
    component: &'a str,
    name: &'a str,
    scenario: &'a str,
    invariant: &'a str,
    engine: Engine,
    preemptions: Option<u32>,
    least: bool,
    witness: &'a str,
}

impl Found<'_> {
    /// The order of ease of reading, the easiest first: those with few preemptions. Schedules of
    /// loom are not made small, and bytes say little.
    fn size(&self) -> (bool, u32, bool, usize) {
        let made_small = !matches!(self.engine, Engine::Loom | Engine::Fuzz) && !self.is_cut_off();
        let preemptions = self.preemptions.unwrap_or(u32::MAX);
        (!made_small, preemptions, !self.least, self.witness.len())
    }

    /// The search of all traces gives up an endless execution before a replay does, so the schedule
    /// ends where the replay would go on.
    fn is_cut_off(&self) -> bool {
        let witness: Option<Witness> = self.witness.parse().ok();
        let route = witness.as_ref().and_then(|witness| witness.route.schedule());
        self.engine == Engine::Trace && route.is_some_and(|route| route.choices.len() > 50_000)
    }

    fn file(&self) -> WitnessFile {
        let Self { component, name, scenario, invariant, witness, .. } = self;
        let how = match (self.preemptions, self.least) {
            (Some(0), _) => ", without a preemption".to_owned(),
            (Some(count), true) => format!(", preemptions: {count}, the least there is"),
            (Some(count), false) => format!(", preemptions: {count}"),
            (None, _) => String::new(),
        };
        let text =
            format!("# {component}: {name}\n# breaks {invariant} in {scenario}{how}\n{witness}\n");
        WitnessFile { path: PathBuf::from(component).join(format!("{name}.txt")), text }
    }
}

/// Returns the smallest witness of every mutant that was convicted, of every exhibit, and of every
/// scenario that broke as expected.
pub fn witness_files(report: &Report) -> Vec<WitnessFile> {
    let mut found: Vec<Found<'_>> = of_rows(report).chain(of_mutants(report)).collect();
    found.sort_by_key(|found| (found.component, found.name, found.size()));
    found.dedup_by_key(|found| (found.component, found.name));
    found.iter().map(Found::file).collect()
}

fn of_rows(report: &Report) -> impl Iterator<Item = Found<'_>> {
    let expected = report
        .rows
        .iter()
        .filter(|row| row.expect == Expect::Violated && row.verdict == Verdict::Violated);
    expected.filter_map(|row| {
        Some(Found {
            component: &row.component,
            name: row.exhibit.as_deref().unwrap_or(&row.scenario),
            scenario: &row.scenario,
            invariant: &row.invariant,
            engine: row.engine,
            preemptions: row.preemptions,
            least: row.preemptions == Some(0) || row.proved_minimum == Some(true),
            witness: row.witness.as_deref()?,
        })
    })
}

fn of_mutants(report: &Report) -> impl Iterator<Item = Found<'_>> {
    let kills = report.mutants.iter().flat_map(|row| row.kills.iter().map(move |kill| (row, kill)));
    kills.filter_map(|(row, kill)| {
        let Kill { engine, preemptions, scenario, invariant, witness, .. } = kill;
        Some(Found {
            component: &row.component,
            name: &row.name,
            scenario,
            invariant,
            engine: *engine,
            preemptions: *preemptions,
            least: kill.is_least(),
            witness: witness.as_deref()?,
        })
    })
}
