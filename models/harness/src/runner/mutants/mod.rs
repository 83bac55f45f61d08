//! The kill matrix: every mutant against every engine.

use std::time::Instant;

use serde_json::json;

use super::medians::speeds;
use super::rows::witness;
use super::{Progress, Request, Stop, Worked, can_convict, counts, in_parallel, round};
use crate::catalogue::Catalogue;
use crate::engine::{Engine, Kind};
use crate::report::{Fate, Kill, MutantRow, Report, Shard};
use crate::trial::{
    Expect, Finding, InvariantInfo, MADE_UP_CALLS, MutantInfo, MutantKind, Plan, StopAt, Subject,
};

/// How a mutant fared on an engine.
pub(crate) struct Conviction {
    /// Executions over all scenarios, until the conviction.
    pub(crate) executions: u64,
    /// The scenario that convicted it.
    pub(crate) scenario: Option<&'static str>,
    /// The finding that convicted it.
    pub(crate) finding: Option<Finding>,
}

/// Runs a mutant on the scenarios of its component until one convicts it: glances at each of them, then
/// all that the budget allows.
pub(crate) fn convict(subject: &dyn Subject, mutant: &str, plan: &Plan) -> Conviction {
    let began = Instant::now();
    let glanced = glance(subject, mutant, plan);
    if glanced.finding.is_some() || plan.engine.makes_up_calls() {
        return glanced;
    }
    let time = plan.time.map(|time| time.saturating_sub(began.elapsed()));
    let mut whole = search(subject, mutant, &Plan { time, ..plan.clone() });
    whole.executions += glanced.executions;
    whole
}

/// Glances at each scenario of a mutant's component until one convicts it.
fn glance(subject: &dyn Subject, mutant: &str, plan: &Plan) -> Conviction {
    if plan.engine.makes_up_calls() {
        return judged_on(subject, MADE_UP_CALLS, mutant, plan);
    }
    let mut glanced = Conviction { executions: 0, scenario: None, finding: None };
    for executions in GLANCES {
        let budget = plan.budget.glance(executions);
        let time = plan.time.map(|time| time / TIME_OF_A_GLANCE);
        let seen = search(subject, mutant, &Plan { budget, time, ..plan.clone() });
        glanced = Conviction { executions: glanced.executions + seen.executions, ..seen };
        if glanced.finding.is_some() {
            break;
        }
    }
    glanced
}

/// The executions of a scenario in each glance. Most mutants show at once, in the right scenario.
const GLANCES: [u64; 2] = [50, 1_000];

/// The part of the time that is for one glance at every scenario, as a divisor.
const TIME_OF_A_GLANCE: u32 = 8;

/// Tries one scenario after the other; where time is the budget, they share it.
fn search(subject: &dyn Subject, mutant: &str, plan: &Plan) -> Conviction {
    let mut conviction = Conviction { executions: 0, scenario: None, finding: None };
    let mut scenarios = subject.scenarios();
    scenarios.retain(|scenario| {
        scenario.kind != Kind::States && subject.cannot_run(scenario.name, plan.engine).is_none()
    });
    let began = Instant::now();
    for (tried, scenario) in scenarios.iter().enumerate() {
        let to_come = (scenarios.len() - tried) as u32;
        let time = plan.time.map(|time| time.saturating_sub(began.elapsed()) / to_come);
        let here = judged_on(subject, scenario.name, mutant, &Plan { time, ..plan.clone() });
        let executions = conviction.executions + here.executions;
        conviction = Conviction { executions, ..here };
        if conviction.finding.is_some() {
            break;
        }
    }
    conviction
}

/// Runs a mutant on one scenario.
pub(super) fn judged_on(
    subject: &dyn Subject,
    scenario: &'static str,
    mutant: &str,
    plan: &Plan,
) -> Conviction {
    let trial = subject.run(scenario, Some(mutant), plan).expect("the catalogue named it");
    // A mutant is not convicted by an invariant that the shipped rules break there, too.
    let judged = subject.judged_in(scenario);
    let expected = |finding: &Finding| {
        let of_it = |info: &InvariantInfo| info.name == finding.invariant;
        judged.iter().any(|info| of_it(info) && info.expect == Expect::Violated)
    };
    match trial.findings.into_iter().find(|finding| !expected(finding)) {
        Some(finding) => Conviction {
            executions: finding.execution,
            scenario: Some(scenario),
            finding: Some(finding),
        },
        None => {
            Conviction { executions: trial.exploration.executions, scenario: None, finding: None }
        }
    }
}

/// A mutant that is to be convicted.
pub struct MutantCase {
    /// Its component.
    pub subject: &'static dyn Subject,
    /// The mutant.
    pub mutant: MutantInfo,
}

impl std::fmt::Debug for MutantCase {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}+{}", self.subject.name(), self.mutant.name)
    }
}

/// Returns the mutants that match: a pattern is a part of `component/mutant`.
pub fn mutant_cases(catalogue: &Catalogue, patterns: &[String]) -> Vec<MutantCase> {
    let mut cases = Vec::new();
    for &subject in catalogue.subjects {
        for mutant in subject.mutants() {
            let path = format!("{}/{}", subject.name(), mutant.name);
            if patterns.is_empty() || patterns.iter().any(|pattern| path.contains(pattern)) {
                cases.push(MutantCase { subject, mutant });
            }
        }
    }
    cases
}

/// Runs every mutant that matches on every engine asked for.
pub fn run_mutants(catalogue: &Catalogue, request: &Request, progress: &dyn Progress) -> Report {
    let began = Instant::now();
    let cases = mutant_cases(catalogue, &request.patterns);
    let cases = request.share.of(cases, |_| (), |case| format!("{case:?}"));
    progress.begin(&counts(cases.iter().map(|case| case.subject.name())));
    let stop = Stop::new(request.fail_fast);
    let rows = in_parallel(
        request.jobs,
        &cases,
        &stop,
        |_| false,
        |case| {
            progress.start(case.subject.name(), &format!("{case:?}"));
            let row = try_mutant(case, request, cases.len());
            progress.end(case.subject.name(), row.as_expected());
            if !row.as_expected() {
                stop.not_as_expected();
            }
            row
        },
    );
    // A mutant that was cut off has not had its trial.
    let whole = |row| if let Worked::Whole(row) = row { Some(row) } else { None };
    let rows: Vec<_> = rows.into_iter().filter_map(whole).collect();
    let shard = Shard { cases: cases.len() as u64, ran: rows.len() as u64 };
    let mut report = request.report(catalogue, "mutants", shard);
    report.mutants = rows;
    report.timing.insert("total_seconds".to_owned(), json!(round(began.elapsed())));
    report.conclude();
    report
}

fn try_mutant(case: &MutantCase, request: &Request, cases: usize) -> MutantRow {
    let MutantCase { subject, mutant } = case;
    let mut kills = Vec::new();
    let mut missed_by = Vec::new();
    for &engine in &request.engines {
        let made_up = engine.makes_up_calls();
        if made_up && !mutant.is_fuzzed
            || !made_up && !request.by_name && !can_convict(*subject, engine, mutant.name)
        {
            continue;
        }
        let plan = request.plan(engine, StopAt::FirstViolation, cases * request.engines.len());
        let is_equivalent = matches!(mutant.kind, MutantKind::Equivalent(_));
        let search = if is_equivalent && request.trust_equivalents { glance } else { convict };
        let conviction = search(*subject, mutant.name, &plan);
        match kill(*subject, mutant.name, engine, &conviction) {
            Some(kill) => kills.push(kill),
            None => missed_by.push(engine),
        }
    }
    let (kind, because) = match mutant.kind {
        MutantKind::Seeded => ("seeded", None),
        MutantKind::Exhibit => ("exhibit", None),
        MutantKind::Equivalent(because) => ("equivalent", Some(because.to_owned())),
    };
    let outcome = match (kills.is_empty(), mutant.kind) {
        (false, _) => Fate::Killed,
        (true, MutantKind::Equivalent(_)) => Fate::Equivalent,
        (true, _) => Fate::Survived,
    };
    if outcome == Fate::Equivalent {
        missed_by.clear();
    }
    let mut row = MutantRow {
        component: subject.name().to_owned(),
        name: mutant.name.to_owned(),
        origin: mutant.origin.to_owned(),
        breaks: mutant.breaks.iter().map(|name| (*name).to_owned()).collect(),
        kind: kind.to_owned(),
        kills,
        outcome,
        missed_by,
        of_waking: mutant.of_waking,
        speeds: Vec::new(),
        because,
    };
    if request.seeds > 1 && row.outcome == Fate::Killed {
        row.speeds = speeds(*subject, mutant, &row, request);
    }
    row
}

fn kill(
    subject: &dyn Subject,
    mutant: &str,
    engine: Engine,
    conviction: &Conviction,
) -> Option<Kill> {
    let (finding, scenario) = (conviction.finding.as_ref()?, conviction.scenario?);
    Some(Kill {
        engine,
        executions: conviction.executions,
        preemptions: finding.preemptions,
        proved_minimum: finding.proved_minimum,
        scenario: scenario.to_owned(),
        invariant: finding.invariant.to_owned(),
        witness: witness(subject.name(), scenario, Some(mutant), engine, finding),
    })
}

#[cfg(all(test, feature = "shuttle"))]
mod tests;
