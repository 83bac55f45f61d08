//! Runs what a command line asks for and collects the report.

mod again;
mod alone;
mod case;
mod failures;
#[cfg(test)]
mod made_up;
mod medians;
mod mutants;
#[cfg(test)]
mod reasons;
mod replayed;
mod rows;
mod share;
mod stop;

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::PoisonError;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use serde_json::json;

use crate::catalogue::Catalogue;
use crate::engine::{Engine, Kind, Spare};
use crate::interrupt;
use crate::report::{Part, Picture, Report, Row, Shard, Verdict};
use crate::trial::{Budget, MutantKind, Plan, REACHES_ITS_CASE, ScenarioInfo, StopAt, Subject};

pub use alone::{Alone, Apart, Shared, Worth, alone};
pub use failures::{Entry, Failures};
pub(crate) use mutants::convict;
pub use mutants::{MutantCase, mutant_cases, run_mutants};
pub(crate) use replayed::replay_report;
pub use share::Share;

use again::run_again;
use case::Case;
use stop::Stop;

/// A request to run something.
#[derive(Clone, Debug)]
pub struct Request {
    /// Parts of `component/scenario`; empty for all.
    pub patterns: Vec<String>,
    /// The engines.
    pub engines: Vec<Engine>,
    /// Whether the engines were asked for by name. Then an engine that can run nothing of a
    /// component says so; otherwise it is left out.
    pub by_name: bool,
    /// How much.
    pub budget: Budget,
    /// The seed of the random numbers.
    pub seed: u64,
    /// How many seeds are used to measure the executions until a conviction. One means that nothing
    /// is measured.
    pub seeds: u32,
    /// How many cases at a time.
    pub jobs: usize,
    /// The share of the cases.
    pub share: Share,
    /// The earlier failures, which are replayed first.
    pub ledger: Vec<Entry>,
    /// Whether nothing new is started once something is not as expected.
    pub fail_fast: bool,
    /// Whether failing schedules are made as small as possible.
    pub minimise: bool,
    /// Whether a glance is enough at mutants that are said to be equivalent.
    pub trust_equivalents: bool,
}

impl Default for Request {
    fn default() -> Self {
        Self {
            patterns: Vec::new(),
            engines: Engine::ALL.to_vec(),
            by_name: false,
            budget: Budget::default(),
            seed: 0,
            seeds: 1,
            jobs: 1,
            share: Share::default(),
            ledger: Vec::new(),
            fail_fast: false,
            minimise: true,
            trust_equivalents: false,
        }
    }
}

impl Request {
    /// Returns what a report says about how much of this it holds.
    fn part(&self, command: &str, shard: Shard) -> Part {
        let Share { dealing, partition } = self.share;
        Part {
            command: command.to_owned(),
            patterns: self.patterns.clone(),
            engines: self.engines.iter().map(ToString::to_string).collect(),
            budget: self.budget.to_string(),
            dealing,
            count: partition.count,
            shards: BTreeMap::from([(partition.index, shard)]),
        }
    }

    /// Makes the report that the results are filled into.
    fn report(&self, catalogue: &Catalogue, command: &str, shard: Shard) -> Report {
        let mut report = catalogue.report(self.seed);
        report.partition = self.share.partition;
        report.parts.push(self.part(command, shard));
        report
    }

    fn plan(&self, engine: Engine, stop_at: StopAt, cases: usize) -> Plan {
        // Every case gets the same share; jobs run side by side.
        let share = |time: Duration| time * self.jobs.max(1) as u32 / cases.max(1) as u32;
        Plan {
            engine,
            budget: self.budget.clone(),
            seed: self.seed,
            stop_at,
            minimise: self.minimise,
            time: self.budget.time.map(share),
        }
    }
}

/// Told about every case before and after it runs.
pub trait Progress: Sync {
    /// Work begins: this many cases of each component are to come.
    fn begin(&self, components: &[(&str, usize)]);
    /// A case of a component starts.
    fn start(&self, component: &str, what: &str);
    /// A case of a component ended.
    fn end(&self, component: &str, as_expected: bool);
}

/// Reports no progress, e.g. in a test that looks at the report alone.
#[derive(Clone, Copy, Debug)]
pub struct Silent;

impl Progress for Silent {
    fn begin(&self, _: &[(&str, usize)]) {}
    fn start(&self, _: &str, _: &str) {}
    fn end(&self, _: &str, _: bool) {}
}

/// Counts how often each component occurs, in the order of the first of each.
fn counts<'a>(components: impl Iterator<Item = &'a str>) -> Vec<(&'a str, usize)> {
    let mut counts: Vec<(&str, usize)> = Vec::new();
    for component in components {
        match counts.iter_mut().find(|(known, _)| *known == component) {
            Some((_, count)) => *count += 1,
            None => counts.push((component, 1)),
        }
    }
    counts
}

/// Returns the cases that a request leads to and that its engines can hold within its budget.
pub(crate) fn test_cases(catalogue: &Catalogue, request: &Request) -> Vec<Case> {
    let can_run = |case: &Case| match *case {
        Case::Shipped { subject, scenario, engine } => {
            subject.cannot_run(scenario, engine).is_none()
                && (engine != Engine::Trace
                    || subject.traces(scenario) <= Some(request.budget.trace_executions))
        }
        Case::MadeUp { .. } | Case::Exhibit { .. } => true,
    };
    cases(catalogue, request).into_iter().filter(can_run).collect()
}

/// Runs every scenario that matches on every engine, and every exhibit of the components that
/// match as a whole.
pub fn run(catalogue: &Catalogue, request: &Request, progress: &dyn Progress) -> Report {
    let began = Instant::now();
    let cases = request.share.of(cases(catalogue, request), Case::engine, Case::name);
    let components = counts(cases.iter().map(Case::component));
    progress.begin(&components);
    // One component after the other, its exhibits with it: so each is done as soon as it can be.
    let mut turns: Vec<usize> = (0..cases.len()).collect();
    turns.sort_by_key(|at| components.iter().position(|of| of.0 == cases[*at].component()));
    let stop = Stop::new(request.fail_fast);
    let again = failures::failing_again(catalogue, request);
    if !again.is_empty() {
        stop.not_as_expected();
    }
    let waits = |at: &usize| cases[*at].engine() == Engine::Threads;
    let results = in_parallel(request.jobs, &turns, &stop, waits, |at| {
        let case = &cases[*at];
        progress.start(case.component(), &case.name());
        let started = Instant::now();
        let rows = case.run(request, cases.len());
        progress.end(case.component(), rows.iter().all(Row::as_expected));
        if rows.iter().any(|row| row.verdict != Verdict::Undecided && !row.as_expected()) {
            stop.not_as_expected();
        }
        (rows, started.elapsed())
    });
    let mut seconds = serde_json::Map::new();
    let (mut rows, mut ran) = (again, 0);
    let mut results: Vec<_> = turns.into_iter().zip(results).collect();
    run_again(&cases, &mut results, request);
    results.sort_by_key(|(at, _)| *at);
    for (case, (_, result)) in cases.iter().zip(results) {
        match result {
            Worked::Whole((found, took)) => {
                seconds.insert(case.name(), json!(round(took)));
                rows.extend(found);
                ran += 1;
            }
            // Findings before the cut count. Nothing follows from what was not found or not reached.
            Worked::CutOff((found, _)) => {
                let is_found = |row: &Row| {
                    row.verdict == Verdict::Violated && row.invariant != REACHES_ITS_CASE
                };
                rows.extend(found.into_iter().filter(is_found));
            }
            Worked::NotAtAll => {}
        }
    }
    let mut report = request.report(catalogue, "run", Shard { cases: cases.len() as u64, ran });
    report.pictures = pictures(catalogue, &rows);
    report.rows = rows;
    report.timing.insert("cases_seconds".to_owned(), seconds.into());
    report.timing.insert("total_seconds".to_owned(), json!(round(began.elapsed())));
    report.conclude();
    report
}

/// Draws the pictures of the components that were simulated.
fn pictures(catalogue: &Catalogue, rows: &[Row]) -> Vec<Picture> {
    let simulated = |subject: &&&'static dyn Subject| {
        let of_it =
            |row: &Row| row.engine.runs() == Kind::Simulation && row.component == subject.name();
        rows.iter().any(|row| of_it(row) && row.executions.is_some())
    };
    catalogue.subjects.iter().filter(simulated).flat_map(|subject| subject.pictures()).collect()
}

/// Returns seconds with three decimals.
fn round(time: Duration) -> f64 {
    (time.as_secs_f64() * 1e3).round() / 1e3
}

fn cases(catalogue: &Catalogue, request: &Request) -> Vec<Case> {
    let mut cases = Vec::new();
    let matching = catalogue.scenarios(&request.patterns);
    for &(subject, scenario) in &matching {
        for &engine in &request.engines {
            let of_its_kind = |(of, name): &(&'static dyn Subject, &str)| {
                of.name() == subject.name() && is_of_its_kind(*of, name, engine)
            };
            let makes_up = engine.makes_up_calls() && subject.fuzz().is_some();
            let says_so = || request.by_name && !makes_up && !matching.iter().any(of_its_kind);
            if of_its_kind(&(subject, scenario)) || says_so() {
                cases.push(Case::Shipped { subject, scenario, engine });
            }
        }
    }
    if request.engines.contains(&Engine::Fuzz) {
        let made_up = catalogue.made_up(&request.patterns);
        cases.extend(made_up.map(|subject| Case::MadeUp { subject }));
    }
    for &subject in catalogue.subjects {
        let whole = |pattern: &String| subject.name().contains(pattern.as_str());
        if !request.patterns.is_empty() && !request.patterns.iter().any(whole) {
            continue;
        }
        for mutant in subject.mutants() {
            for &engine in &request.engines {
                let convicts = can_convict(subject, engine, mutant.name);
                if mutant.kind == MutantKind::Exhibit && convicts {
                    cases.push(Case::Exhibit { subject, exhibit: mutant.name, engine });
                }
            }
        }
    }
    cases
}

/// The result of a piece of work.
enum Worked<U> {
    /// It was done.
    Whole(U),
    /// The process was asked to stop meanwhile.
    CutOff(U),
    /// It was not begun.
    NotAtAll,
}

/// Tells whether an engine is made for such scenarios at all: for programs, for models of states,
/// or for simulations.
fn is_of_its_kind(subject: &dyn Subject, scenario: &str, engine: Engine) -> bool {
    let mut scenarios = subject.scenarios().into_iter();
    scenarios.any(|info| info.name == scenario && info.kind == engine.runs())
}

/// Tells whether an engine can convict a mutant of a component.
fn can_convict(subject: &dyn Subject, engine: Engine, mutant: &str) -> bool {
    let holds = |info: &ScenarioInfo| subject.cannot_run(info.name, engine).is_none();
    !engine.depends_on_the_machine()
        && engine.runs() != Kind::States // a model of states has a machine of its own
        && subject.shows_mutant(engine, mutant)
        && subject.scenarios().iter().any(holds)
}

/// Runs `work` on every item, `jobs` at a time, until told to stop, and returns the results in the
/// order of the items. With several jobs, the items that `waits` selects have an additional worker
/// of their own: such work takes turns and sleeps, and would keep the others from their turns. Who
/// finds no more work lends its core to what the others are busy with.
fn in_parallel<T: Sync, U: Send>(
    jobs: usize,
    items: &[T],
    stop: &Stop,
    waits: impl Fn(&T) -> bool,
    work: impl Fn(&T) -> U + Sync,
) -> Vec<Worked<U>> {
    let results: Vec<Mutex<Worked<U>>> =
        items.iter().map(|_| Mutex::new(Worked::NotAtAll)).collect();
    let (waiting, busy): (Vec<_>, Vec<_>) =
        items.iter().zip(&results).partition(|(item, _)| jobs > 1 && waits(item));
    let (next_waiting, next_busy) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let worker = |places: &[(&T, &Mutex<Worked<U>>)], next: &AtomicUsize| {
        while stop.goes_on() {
            let Some((item, place)) = places.get(next.fetch_add(1, Ordering::Relaxed)) else {
                return;
            };
            let result = work(item);
            let result =
                if interrupt::asked() { Worked::CutOff(result) } else { Worked::Whole(result) };
            *place.lock().unwrap_or_else(PoisonError::into_inner) = result;
        }
    };
    let workers = jobs.clamp(1, busy.len().max(1));
    let spare = Mutex::new(vec![Spare::some(jobs.max(1) - workers)]);
    std::thread::scope(|scope| {
        scope.spawn(|| worker(&waiting, &next_waiting));
        for _ in 0..workers {
            scope.spawn(|| {
                worker(&busy, &next_busy);
                spare.lock().unwrap_or_else(PoisonError::into_inner).push(Spare::some(1));
            });
        }
    });
    let taken = |result: Mutex<_>| result.into_inner().unwrap_or_else(PoisonError::into_inner);
    results.into_iter().map(taken).collect()
}

#[cfg(all(test, feature = "shuttle"))]
mod tests {
    use super::*;

    #[test]
    fn who_finds_no_more_work_lends_its_core() {
        let work = |waits: &bool| {
            while *waits && Spare::take().is_none() {
                std::thread::yield_now();
            }
        };
        for items in [&[true, false][..], &[true]] {
            let worked = in_parallel(2, items, &Stop::new(false), |_| false, work);
            assert!(worked.iter().all(|it| matches!(it, Worked::Whole(()))));
        }
    }
}
