//! Runs what a command line asks for and collects the report.

mod mutants;
mod rows;

use std::sync::Mutex;
use std::sync::PoisonError;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use serde_json::json;

use crate::catalogue::Catalogue;
use crate::engine::Engine;
use crate::report::{Report, Row, thousands};
use crate::trial::{Budget, MutantKind, Plan, ScenarioInfo, StopAt, Subject};

pub(crate) use mutants::convict;
pub use mutants::{MutantCase, mutant_cases, run_mutants};

/// What to run, and how much of it.
#[derive(Clone, Debug)]
pub struct Request {
    /// Parts of `component/scenario`; empty for all.
    pub patterns: Vec<String>,
    /// The engines.
    pub engines: Vec<Engine>,
    /// Whether the engines were asked for by name: then one that holds nothing of a component says
    /// so, where it is otherwise left out.
    pub by_name: bool,
    /// How much.
    pub budget: Budget,
    /// Where randomness starts.
    pub seed: u64,
    /// How many cases at a time.
    pub jobs: usize,
}

impl Request {
    fn plan(&self, engine: Engine, stop_at: StopAt, cases: usize) -> Plan {
        // Every case gets the same share; jobs run side by side.
        let share = |time: Duration| time * self.jobs.max(1) as u32 / cases.max(1) as u32;
        Plan {
            engine,
            budget: self.budget.clone(),
            seed: self.seed,
            stop_at,
            minimise: true,
            time: self.budget.time.map(share),
        }
    }
}

/// Told about every case before and after it runs.
pub trait Progress: Sync {
    /// So many cases are to come.
    fn begin(&self, cases: usize);
    /// A case starts.
    fn start(&self, what: &str);
    /// A case ended.
    fn end(&self);
}

/// One unit of work of a run.
enum Case {
    /// A scenario on the machine that ships.
    Shipped { subject: &'static dyn Subject, scenario: &'static str, engine: Engine },
    /// An exhibit on all scenarios of its component, until it is convicted.
    Exhibit { subject: &'static dyn Subject, exhibit: &'static str, engine: Engine },
}

impl Case {
    fn name(&self) -> String {
        match self {
            Self::Shipped { subject, scenario, engine } => {
                format!("{}/{scenario} on {engine}", subject.name())
            }
            Self::Exhibit { subject, exhibit, engine } => {
                format!("{}+{exhibit} on {engine}", subject.name())
            }
        }
    }

    fn run(&self, request: &Request, cases: usize) -> Vec<Row> {
        match *self {
            Self::Shipped { subject, scenario, engine } => {
                if let Some(reason) = subject.cannot_run(scenario, engine) {
                    return vec![rows::not_held(subject, scenario, engine, reason)];
                }
                let plan = request.plan(engine, StopAt::End, cases);
                let traces = subject.traces(scenario).filter(|_| engine == Engine::Trace);
                if let Some(traces) = traces.filter(|&all| all > plan.budget.trace_executions) {
                    let traces = thousands(traces);
                    let reason = format!("it has {traces} traces: give a larger --budget");
                    return vec![rows::not_held(subject, scenario, engine, &reason)];
                }
                let trial = subject.run(scenario, None, &plan).expect("the catalogue named it");
                rows::rows(subject, scenario, &plan, &trial)
            }
            Self::Exhibit { subject, exhibit, engine } => {
                let plan = request.plan(engine, StopAt::FirstViolation, cases);
                vec![rows::exhibit(subject, exhibit, &plan)]
            }
        }
    }
}

/// Runs every scenario that matches on every engine, and every exhibit of the components that
/// match as a whole.
pub fn run(catalogue: &Catalogue, request: &Request, progress: &dyn Progress) -> Report {
    let began = Instant::now();
    let cases = cases(catalogue, request);
    progress.begin(cases.len());
    let results = in_parallel(request.jobs, &cases, |case| {
        progress.start(&case.name());
        let started = Instant::now();
        let rows = case.run(request, cases.len());
        progress.end();
        (rows, started.elapsed())
    });
    let mut report = Report::new(request.seed);
    let mut seconds = serde_json::Map::new();
    for (case, (rows, took)) in cases.iter().zip(results) {
        seconds.insert(case.name(), json!(round(took)));
        report.rows.extend(rows);
    }
    report.timing.insert("cases_seconds".to_owned(), seconds.into());
    report.timing.insert("total_seconds".to_owned(), json!(round(began.elapsed())));
    report.conclude();
    report
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
            let says_so = || request.by_name && !matching.iter().any(of_its_kind);
            if of_its_kind(&(subject, scenario)) || says_so() {
                cases.push(Case::Shipped { subject, scenario, engine });
            }
        }
    }
    for &subject in catalogue.subjects {
        let whole = |pattern: &String| subject.name().contains(pattern.as_str());
        if !request.patterns.is_empty() && !request.patterns.iter().any(whole) {
            continue;
        }
        for mutant in subject.mutants() {
            for &engine in &request.engines {
                let convicts = can_convict(subject, engine);
                if mutant.kind == MutantKind::Exhibit && convicts {
                    cases.push(Case::Exhibit { subject, exhibit: mutant.name, engine });
                }
            }
        }
    }
    cases
}

/// Tells whether an engine is made for such scenarios at all: for programs, or for simulations.
fn is_of_its_kind(subject: &dyn Subject, scenario: &str, engine: Engine) -> bool {
    let mut scenarios = subject.scenarios().into_iter();
    scenarios.any(|info| info.name == scenario && info.simulated == engine.simulates())
}

/// Tells whether an engine can convict mutants of a component.
fn can_convict(subject: &dyn Subject, engine: Engine) -> bool {
    let holds = |info: &ScenarioInfo| subject.cannot_run(info.name, engine).is_none();
    !engine.depends_on_the_machine()
        && subject.shows_mutants(engine)
        && subject.scenarios().iter().any(holds)
}

/// Runs `work` on every item, `jobs` at a time, and returns the results in the order of the items.
pub(crate) fn in_parallel<T: Sync, U: Send>(
    jobs: usize,
    items: &[T],
    work: impl Fn(&T) -> U + Sync,
) -> Vec<U> {
    let next = AtomicUsize::new(0);
    let results: Vec<Mutex<Option<U>>> = items.iter().map(|_| Mutex::new(None)).collect();
    std::thread::scope(|scope| {
        for _ in 0..jobs.clamp(1, items.len().max(1)) {
            scope.spawn(|| {
                loop {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    let Some(item) = items.get(at) else { return };
                    let result = work(item);
                    *results[at].lock().unwrap_or_else(PoisonError::into_inner) = Some(result);
                }
            });
        }
    });
    let taken = results.into_iter().map(|result| {
        let result = result.into_inner().unwrap_or_else(PoisonError::into_inner);
        result.expect("every item was worked on")
    });
    taken.collect()
}
