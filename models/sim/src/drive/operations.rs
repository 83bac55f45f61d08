//! Operations: changes of an object that are drawn from its schema, and what processes make of them.

use std::io;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use serde_json::Value;

use super::conduct::{Begun, Wish, at_once, begin};
use super::reference::Unstable;
use super::report::{Finding, Report};
use super::run::Setting;
use super::{Act, Object, Patch};
use crate::apiserver::Server;
use crate::simulation::normal::Normal;
use crate::simulation::operations::{
    self, Gathered, Promise, Sequence, Surveyor, ready, usual, written,
};
use crate::simulation::run::{Elsewhere, Run, Setup};
use crate::simulation::script::{Name, Step};
use crate::simulation::{Plan, Violation};

/// What is asked of operations.
#[derive(Debug, Default)]
pub(super) struct Asked {
    pub(super) kind: String,
    pub(super) needs_effect: bool,
    pub(super) replay: Option<Sequence>,
}

/// Runs of processes, many at once.
struct Runs {
    setting: Setting,
    unstable: Unstable,
    folder: PathBuf,
    count: AtomicU64,
    /// Why no run can be made any more.
    error: Mutex<Option<io::Error>>,
}

impl Elsewhere for Runs {
    fn run(&self, setup: &Setup, seed: u64) -> Run {
        let acts = setup.script.iter().cloned().map(act).collect();
        let learned = Arc::clone(&setup.learned);
        let setting = Setting { acts, learned, ..self.setting.clone() };
        let number = self.count.fetch_add(1, Ordering::Relaxed) + 1;
        let folder = self.folder.join(format!("run-{number:04}"));
        match setting.run(&Plan::default(), seed, folder) {
            Ok(ran) => ran.run,
            Err(error) => {
                let restless = Some(error.to_string());
                let mut place = self.error.lock().unwrap_or_else(PoisonError::into_inner);
                place.get_or_insert(error);
                self.setting.stop.store(true, Ordering::Relaxed);
                Run { restless, ..Run::default() }
            }
        }
    }

    fn rest(&self) -> Duration {
        self.setting.rest
    }

    fn leave_out(&self, end: &mut Normal) {
        self.unstable.leave_out(end);
    }
}

/// A step as the user of processes does it.
fn act(step: Step) -> Act {
    match step {
        Step::Act(act) => *act,
        Step::Create(object) => Act::Apply(object),
        Step::Patch { object: Name { kind, name }, patch, subresource } => {
            Act::Patch(Patch { kind, name, patch, status: subresource == "/status" })
        }
        Step::Delete(Name { kind, name }) => Act::Delete(Object { kind, name }),
    }
}

/// The steps before the first object of a kind is applied, and all objects of it.
fn story(server: &Server, acts: &[Act], kind: &str) -> Result<(Vec<Act>, Vec<Value>), String> {
    let is_it = |object: &Value| {
        server.resources().any(|it| {
            let is_named = kind == it.kind || kind == it.plural || kind == it.qualified();
            is_named && object["kind"] == it.kind && object["apiVersion"] == it.api_version()
        })
    };
    let (mut before, mut objects) = (Vec::new(), Vec::new());
    for act in acts {
        match act {
            Act::Apply(object) if is_it(object) => objects.push(object.clone()),
            _ if objects.is_empty() => before.push(act.clone()),
            _ => {}
        }
    }
    if objects.is_empty() {
        let why = "the first one is the object that is changed, and others are examples; its definition is given";
        return Err(format!("no step applies a {kind}: {why}"));
    }
    Ok((before, objects))
}

/// Runs the processes through operations.
pub(super) fn conduct(mut setting: Setting, wish: &Wish, asked: &Asked) -> io::Result<Report> {
    let began = Instant::now();
    let invalid = |why: String| io::Error::new(io::ErrorKind::InvalidInput, why);
    let server = setting.server(0).map_err(invalid)?;
    let (before, objects) = story(&server, &setting.acts, &asked.kind).map_err(invalid)?;
    setting.acts = before.iter().cloned().chain([Act::Apply(objects[0].clone())]).collect();
    let Begun { mut report, good } = begin(&mut setting, wish, began)?;
    let Some((runs, unstable)) = good else { return Ok(report) };
    let before: Vec<_> = before.into_iter().map(|it| Step::Act(Box::new(it))).collect();
    let busiest = runs.iter().map(|it| it.run.per_minute).max().unwrap_or(0);
    let quiet = setting.rules.requests_per_minute.max(3 * busiest);
    let jobs = wish.jobs.unwrap_or_else(|| at_once(&runs, began.elapsed())) as u64;
    let (folder, count, error) = (wish.folder.clone(), AtomicU64::new(0), Mutex::default());
    let runs = Arc::new(Runs { setting, unstable, folder, count, error });
    let setup = || Setup {
        rules: Arc::clone(&runs.setting.rules),
        learned: Arc::clone(&runs.setting.learned),
        elsewhere: Some(Arc::clone(&runs) as Arc<dyn Elsewhere>),
        ..Setup::of(server.clone())
    };
    let prepared = ready(&setup(), &before, &objects[0]).map_err(invalid)?;
    let all = wish.at_most.unwrap_or_else(|| usual(&prepared.1)).div_ceil(wish.part.1.max(1));
    let all = if asked.replay.is_some() { 1 } else { all };
    let jobs = jobs.clamp(1, all.max(1));
    let survey = |job: u64| {
        let seed = wish.seed.wrapping_add(wish.part.0 * 1_000 + job);
        let sequences = Some(all / jobs + u64::from(job < all % jobs));
        let until = wish.time.map(|it| began + it);
        let stop = Arc::clone(&runs.setting.stop);
        let replay = asked.replay.clone();
        let share = operations::Wish { sequences, seed, until, stop, replay, ..Default::default() };
        let (of, examples) = (prepared.clone(), objects.clone());
        Surveyor::of(setup(), before.clone(), of, examples, (quiet, share)).conduct(began)
    };
    let gathered = std::thread::scope(|scope| {
        let begun: Vec<_> = (0..jobs).map(|it| scope.spawn(move || survey(it))).collect();
        let ended = begun.into_iter().map(|it| it.join());
        ended.fold(Gathered::default(), |mut all, it| {
            all.join(it.unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
            all
        })
    });
    (report.planned, report.jobs) = (all, jobs as usize);
    let error = runs.error.lock().unwrap_or_else(PoisonError::into_inner).take();
    if let Some(error) = error.filter(|it| it.kind() != io::ErrorKind::Interrupted) {
        return Err(error);
    }
    let needs_effect = asked.needs_effect && asked.replay.is_none();
    tell(&mut report, gathered, needs_effect, began);
    Ok(report)
}

/// Enters what was gathered into a report.
fn tell(report: &mut Report, gathered: Gathered, needs_effect: bool, began: Instant) {
    report.is_stopped = gathered.is_stopped;
    let (findings, mut survey) = match gathered.end(needs_effect, began) {
        Ok(survey) => (Vec::new(), survey),
        Err(found) => (found.findings, found.survey),
    };
    // The other promises are not broken by a single sequence.
    let is_of_one =
        |it: &&operations::Finding| !matches!(it.promise, Promise::Alone | Promise::Effect);
    let broken: u64 = findings.iter().filter(is_of_one).map(|it| 1 + it.also).sum();
    report.found = findings.into_iter().map(told).collect();
    report.treated.append(&mut survey.treated);
    report.treated.sort();
    report.treated.dedup();
    (report.plans, report.held) = (survey.sequences, survey.sequences.saturating_sub(broken));
    report.elapsed = began.elapsed();
    report.survey = Some(survey);
}

/// A finding in the form of all others. That a field has no effect needs all sequences to be seen.
fn told(finding: operations::Finding) -> Finding {
    let operations::Finding { promise, operations, mut text, objects, picture, .. } = finding;
    let is_replayed = promise != Promise::Effect;
    if !is_replayed {
        text.extend(operations.iter().map(|it| format!("such as by {it}")));
    }
    let violations = vec![Violation { rule: promise.says(), text, objects }];
    let operations = if is_replayed { operations } else { Vec::new() };
    Finding { violations, operations, seen: (2, 2), picture, ..Finding::default() }
}

impl Finding {
    /// What is filled in to see it again.
    pub(crate) fn replayed(&self) -> String {
        match self.operations.is_empty() {
            true => self.plan.to_string(),
            false => written(&self.operations),
        }
    }
}
