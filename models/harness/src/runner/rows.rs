//! Turns what an engine found into rows of the report.

use std::collections::BTreeMap;

use crate::author::AGREES;
use crate::engine::{Engine, Kind};
use crate::report::{Coverage, Place, Row, Verdict};
use crate::trial::{
    Again, Budget, Expect, Finding, InvariantInfo, MADE_UP_CALLS, NEVER_PANICS, Plan,
    REACHES_ITS_CASE, Subject, TERMINATES, Trial, Witness,
};

/// Returns the invariants that every component has.
fn built_in() -> [InvariantInfo; 2] {
    let info =
        |name, says| InvariantInfo { name, says, rules: &[], expect: Expect::Holds, stated: None };
    [
        info(NEVER_PANICS, "no thread panics unless the scenario expects it"),
        info(TERMINATES, "every call returns: no deadlock, no endless loop"),
    ]
}

/// Returns what made-up calls are judged by.
fn agrees() -> InvariantInfo {
    let says = "the calls of one caller have the results of the sequential object";
    InvariantInfo { name: AGREES, says, rules: &[], expect: Expect::Holds, stated: None }
}

/// Returns the witness of a finding, as text.
pub(crate) fn witness(
    component: &str,
    scenario: &str,
    mutant: Option<&str>,
    engine: Engine,
    finding: &Finding,
) -> Option<String> {
    let witness = Witness {
        component: component.to_owned(),
        scenario: scenario.to_owned(),
        mutant: mutant.map(str::to_owned),
        engine,
        route: finding.route.clone()?,
        history: finding.digest(),
    };
    Some(witness.to_string())
}

/// Returns one row per invariant of the scenario.
pub(super) fn rows(subject: &dyn Subject, scenario: &str, plan: &Plan, trial: &Trial) -> Vec<Row> {
    if let Some(reason) = &trial.refused {
        return vec![not_held(subject, scenario, plan.engine, reason)];
    }
    let mut rows = Vec::new();
    for invariant in subject.judged_in(scenario).into_iter().chain(built_in()) {
        let mut row = Row { rules: texts(invariant.rules), ..blank(subject, scenario, plan) };
        row.invariant = invariant.name.to_owned();
        row.expect = invariant.expect;
        match trial.findings.iter().find(|finding| finding.invariant == invariant.name) {
            Some(finding) => {
                convicted(&mut row, finding, None);
                stated(&mut row, subject);
            }
            None => acquitted(&mut row, plan, trial),
        }
        measured(&mut row, plan, trial);
        rows.push(row);
    }
    if !plan.engine.depends_on_the_machine() {
        let mut row = blank(subject, scenario, plan);
        row.invariant = REACHES_ITS_CASE.to_owned();
        if trial.reached {
            row.verdict = Verdict::Holds;
        } else {
            let unfinished = plan.engine.exhausts() && !trial.exploration.exhausted;
            row.verdict = if unfinished { Verdict::Undecided } else { Verdict::Violated };
            let because = "no execution reached the case that the scenario is named for";
            row.because = Some(because.to_owned());
            stated(&mut row, subject);
        }
        measured(&mut row, plan, trial);
        rows.push(row);
    }
    rows
}

/// Returns the row of a case that broke down outside of its executions: a simulation panicked, or the
/// check of an invariant.
pub(super) fn broken(subject: &dyn Subject, scenario: &str, plan: &Plan, because: String) -> Row {
    let mut row = blank(subject, scenario, plan);
    row.invariant = NEVER_PANICS.to_owned();
    row.verdict = Verdict::Violated;
    row.because = Some(because);
    stated(&mut row, subject);
    row
}

/// Says how often each invariant was violated when a case on real threads was run again, and adds what
/// only came then.
pub(super) fn repeated(rows: &mut [Row], subject: &dyn Subject, again: &Again) {
    for row in rows.iter_mut().filter(|row| row.expect == Expect::Holds) {
        let before = row.verdict == Verdict::Violated;
        if let (false, Some(finding)) = (before, again.first(&row.invariant)) {
            convicted(row, finding, None);
            stated(row, subject);
        }
        if row.verdict == Verdict::Violated {
            let because = row.because.take().unwrap_or_default();
            let often = again.says(&row.invariant, before);
            row.because = Some(format!("{often}: {because}"));
        }
    }
}

/// Makes up calls of the machine that ships, and returns the row of the result.
pub(super) fn made_up(subject: &dyn Subject, plan: &Plan) -> Row {
    let trial = subject.run(MADE_UP_CALLS, None, plan).expect("it was asked for its property");
    let mut row = blank(subject, MADE_UP_CALLS, plan);
    row.invariant = AGREES.to_owned();
    match trial.findings.first() {
        Some(finding) => {
            convicted(&mut row, finding, None);
            stated(&mut row, subject);
        }
        None => acquitted(&mut row, plan, &trial),
    }
    row.executions = Some(trial.exploration.executions);
    row
}

fn texts(rules: &[&str]) -> Vec<String> {
    rules.iter().map(|rule| (*rule).to_owned()).collect()
}

fn blank(subject: &dyn Subject, scenario: &str, plan: &Plan) -> Row {
    let bounds = bounds(plan.engine, &plan.budget);
    Row { bounds, ..unbounded(subject, scenario, plan.engine) }
}

/// Returns a row that says nothing yet.
pub(super) fn unbounded(subject: &dyn Subject, scenario: &str, engine: Engine) -> Row {
    Row {
        component: subject.name().to_owned(),
        scenario: scenario.to_owned(),
        invariant: String::new(),
        says: None,
        scenario_says: None,
        stated: None,
        rules: Vec::new(),
        engine,
        exhibit: None,
        expect: Expect::Holds,
        verdict: Verdict::Undecided,
        coverage: None,
        bounds: BTreeMap::new(),
        executions: None,
        traces: None,
        left: None,
        states: None,
        steps: None,
        preemptions: None,
        proved_minimum: None,
        witness: None,
        because: None,
        history: Vec::new(),
        at: None,
    }
}

fn bounds(engine: Engine, budget: &Budget) -> BTreeMap<String, u64> {
    let mut bounds = BTreeMap::new();
    match engine {
        Engine::Loom => {
            if let Some(preemptions) = budget.loom_preemptions {
                bounds.insert("preemptions".to_owned(), preemptions as u64);
            }
        }
        Engine::State if budget.time.is_none() => {
            bounds.insert("states".to_owned(), budget.states);
        }
        Engine::Sample if budget.time.is_none() => {
            bounds.insert("schedules".to_owned(), budget.schedules);
        }
        Engine::Cluster if budget.time.is_none() => {
            bounds.insert("runs".to_owned(), budget.simulated_runs);
        }
        Engine::Fuzz if budget.time.is_none() => {
            bounds.insert("sequences".to_owned(), budget.sequences);
        }
        Engine::Threads if budget.time.is_none() => {
            bounds.insert("runs".to_owned(), budget.thread_runs);
        }
        _ => {}
    }
    bounds
}

fn convicted(row: &mut Row, finding: &Finding, mutant: Option<&str>) {
    row.verdict = Verdict::Violated;
    if row.engine.depends_on_the_machine() && row.as_expected() {
        return; // nothing that another machine would not find again
    }
    row.because = Some(finding.violation.because.clone());
    row.at = finding.violation.at;
    row.preemptions = finding.preemptions;
    row.proved_minimum = finding.proved_minimum;
    row.history.clone_from(&finding.lines);
    row.witness = witness(&row.component, &row.scenario, mutant, row.engine, finding);
}

/// Says in words what is violated, and where that is stated. The promises of every component are
/// not stated near the component, so their place is that of its first own promise.
pub(super) fn stated(row: &mut Row, subject: &dyn Subject) {
    let own = subject.invariants();
    let first = own.first().and_then(|info| info.stated);
    let mut all = own.into_iter().chain(built_in()).chain([agrees()]);
    let mut scenarios = subject.scenarios().into_iter();
    let scenario = scenarios.find(|scenario| scenario.name == row.scenario);
    row.scenario_says = scenario.map(|scenario| scenario.says.to_owned());
    let Some(info) = all.find(|info| info.name == row.invariant) else { return };
    row.says = Some(info.says.to_owned());
    row.rules = texts(info.rules);
    let place = info.stated.or(first);
    row.stated = place.map(|place| Place { file: place.file().to_owned(), line: place.line() });
}

fn acquitted(row: &mut Row, plan: &Plan, trial: &Trial) {
    if trial.exploration.executions == 0 {
        row.because = Some(format!("{} ran nothing: report this with the command", plan.engine));
    } else if let Some(why) = &trial.diverged {
        row.verdict = Verdict::Inadmissible;
        let advice = match plan.engine.runs() {
            Kind::Simulation => "",
            _ => "; take time, randomness and threads from the runtime alone",
        };
        row.because = Some(format!(
            "the scenario does not do the same again when it is led the same way: {why}{advice}"
        ));
    } else if let Some(why) = &trial.unfinished {
        row.because = Some(why.clone());
    } else if trial.exploration.exhausted {
        row.verdict = Verdict::Holds;
        row.coverage = Some(Coverage::Exhausted);
    } else if plan.engine.exhausts() {
        let counted = if plan.engine == Engine::State { "states" } else { "executions" };
        row.because = Some(format!(
            "{} did not finish within {} {counted}: give a larger --budget",
            plan.engine, trial.exploration.executions
        ));
    } else {
        row.verdict = Verdict::Holds;
        row.coverage = Some(Coverage::Sampled);
    }
}

fn measured(row: &mut Row, plan: &Plan, trial: &Trial) {
    if plan.engine.depends_on_the_machine() {
        row.coverage = None;
        return;
    }
    row.executions = Some(trial.exploration.executions);
    row.steps = Some(trial.exploration.steps);
    row.states = (plan.engine == Engine::State).then_some(trial.exploration.executions);
    row.traces = trial.traces;
    row.left.clone_from(&trial.left);
}

/// Returns the row of a scenario that the engine cannot hold: it says why, and counts as nothing.
pub(super) fn not_held(subject: &dyn Subject, scenario: &str, engine: Engine, reason: &str) -> Row {
    Row {
        invariant: crate::report::NOT_HELD.to_owned(),
        verdict: Verdict::Holds,
        because: Some(reason.to_owned()),
        ..unbounded(subject, scenario, engine)
    }
}

/// Runs an exhibit until it is convicted, and returns its row.
pub(super) fn exhibit(subject: &dyn Subject, exhibit: &str, plan: &Plan) -> Row {
    let conviction = super::convict(subject, exhibit, plan);
    let scenario = conviction.scenario.unwrap_or("every scenario");
    let mut row = blank(subject, scenario, plan);
    row.exhibit = Some(exhibit.to_owned());
    row.expect = Expect::Violated;
    row.executions = Some(conviction.executions);
    match &conviction.finding {
        Some(finding) => {
            row.invariant = finding.invariant.to_owned();
            convicted(&mut row, finding, Some(exhibit));
            stated(&mut row, subject);
        }
        None => {
            row.verdict = Verdict::Holds;
            row.invariant = "any".to_owned();
        }
    }
    row
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::canary::Canary;
    use crate::engine::Exploration;
    use crate::report::{Report, Summary};
    use crate::trial::{StopAt, subject};

    #[test]
    fn an_engine_that_ran_nothing_decides_nothing() {
        let (engine, budget, stop_at) = (Engine::Trace, Budget::smoke(), StopAt::End);
        let plan = Plan { engine, budget, seed: 0, stop_at, minimise: false, time: None };
        let exploration = Exploration { executions: 0, steps: 0, exhausted: true };
        let trial = Trial::new(exploration, Vec::new(), true, std::time::Duration::ZERO);
        let mut report = Report::new(0);
        report.rows = rows(subject::<Canary>(), "lost_update", &plan, &trial);
        report.conclude();
        assert_eq!(report.outcome, Summary::Inconclusive);
        let own = report.rows.iter().filter(|row| row.invariant != REACHES_ITS_CASE);
        for row in own {
            assert_eq!(row.verdict, Verdict::Undecided, "{}", row.invariant);
            assert!(row.because.as_ref().is_some_and(|why| why.contains("ran nothing")));
        }
    }
}
