//! Runs a body under loom, execution by execution, and lets the judge look at each.
//!
//! 1. loom calls the body once per execution. The call for the next execution begins by showing
//!    the judge the one before: only then have all its threads ended.
//! 2. To stop, that call unwinds out of loom with [`Leave`]. No other thread exists then.
//! 3. When loom comes to its end by itself, all schedules of one set of answers are explored; the
//!    next set is tried, until there is none.

use std::ops::ControlFlow;
use std::panic::{self, AssertUnwindSafe};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use super::answers::Answers;
use super::record::Record;
use super::runtime::LoomRuntime;
use super::session::{Session, lock, message};
use crate::engine::{End, Execution, Exploration, Judge, Schedule, panic_text, quietly};

/// What a scenario does under loom.
pub type Body = Arc<dyn Fn(&LoomRuntime) + Send + Sync>;

/// How far loom explores.
#[derive(Clone, Debug)]
pub struct Config {
    /// The most switches away from a thread that could have gone on; `None` without limit.
    pub preemption_bound: Option<usize>,
    /// The most executions.
    pub max_executions: u64,
    /// The longest time; it is looked at between two executions.
    pub max_duration: Option<Duration>,
    /// The most steps of one execution; one that takes more is [`End::Endless`].
    pub max_steps: u64,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            preemption_bound: Some(2),
            max_executions: u64::MAX,
            max_duration: None,
            max_steps: 1_000,
        }
    }
}

/// Explores the schedules of `body` within the bounds, and all answers to its choices.
pub fn explore(config: &Config, body: Body, judge: &mut Judge<'_>) -> Exploration {
    let driver = Arc::new(Driver::new(config, body, None));
    while driver.run_loom(judge) && lock(&driver.answers).advance() {}
    let exhausted = !lock(&driver.progress).left;
    let progress = lock(&driver.progress);
    Exploration { executions: progress.executions, steps: progress.steps, exhausted }
}

/// Runs the one execution that `schedule` describes, without any search. If the program does not
/// take the decisions of the schedule, the execution is [`End::Diverged`].
pub fn replay(
    config: &Config,
    schedule: &Schedule,
    body: Body,
    judge: &mut Judge<'_>,
) -> Exploration {
    let driver = Arc::new(Driver::new(config, body, Some(schedule.clone())));
    driver.run_loom(judge);
    let progress = lock(&driver.progress);
    Exploration { executions: progress.executions, steps: progress.steps, exhausted: false }
}

/// What main unwinds with to leave loom.
struct Leave;

scoped_tls_hkt::scoped_thread_local! {
    /// The judge, for as long as loom runs: loom wants a body that borrows nothing.
    static mut JUDGE: for<'a> &'a mut (dyn FnMut(&Execution<'_>) -> ControlFlow<()> + 'a)
}

struct Driver {
    config: Config,
    body: Body,
    script: Option<Schedule>,
    began: Instant,
    answers: Arc<Mutex<Answers>>,
    progress: Mutex<Progress>,
}

#[derive(Default)]
struct Progress {
    /// The execution that runs, or has run and was not judged yet.
    session: Option<Arc<Session>>,
    executions: u64,
    steps: u64,
    /// Whether loom was left before it was done.
    left: bool,
}

impl Driver {
    fn new(config: &Config, body: Body, script: Option<Schedule>) -> Self {
        Self {
            config: config.clone(),
            body,
            script,
            began: Instant::now(),
            answers: Arc::default(),
            progress: Mutex::default(),
        }
    }

    /// Lets loom explore one set of answers; true if it came to the end.
    fn run_loom(self: &Arc<Self>, judge: &mut Judge<'_>) -> bool {
        let mut builder = ::loom::model::Builder::new();
        // Besides its steps, an execution makes two branches per thread and some on the way down.
        builder.max_branches =
            usize::try_from(self.config.max_steps).unwrap_or(usize::MAX / 2) + 100;
        builder.preemption_bound = self.config.preemption_bound.map(|bound| bound.min(255));
        builder.max_permutations = None;
        builder.max_duration = None;
        builder.checkpoint_file = None;
        builder.checkpoint_interval = usize::MAX;
        builder.log = false;
        let driver = Arc::clone(self);
        JUDGE.set(judge, || {
            let check = || builder.check(move || driver.execute());
            let outcome = quietly(|| panic::catch_unwind(AssertUnwindSafe(check)));
            match outcome {
                Ok(()) => {
                    let stop = self.judge_last(None).is_break();
                    lock(&self.progress).left |= stop;
                    !stop
                }
                Err(payload) => {
                    lock(&self.progress).left = true;
                    if !payload.is::<Leave>() {
                        let trouble = format!("loom: {}", panic_text(&*payload));
                        let _stop = self.judge_last(Some(trouble));
                    }
                    false
                }
            }
        })
    }

    /// Runs one execution on loom's main thread.
    fn execute(&self) {
        if self.judge_last(None).is_break() || self.is_spent() {
            panic::resume_unwind(Box::new(Leave));
        }
        let record = Record::new(self.config.max_steps, self.script.clone());
        let session = Arc::new(Session::new(record, Arc::clone(&self.answers)));
        lock(&self.progress).session = Some(Arc::clone(&session));
        session.spawned(0, ::loom::thread::current());
        let runtime = LoomRuntime::new(Arc::clone(&session));
        let returned = session.run(0, || (self.body)(&runtime));
        session.end(0, returned.err().and_then(|payload| message(&*payload)));
    }

    fn is_spent(&self) -> bool {
        let executions = lock(&self.progress).executions;
        executions >= self.config.max_executions
            || self.config.max_duration.is_some_and(|most| self.began.elapsed() >= most)
    }

    /// Shows the judge the execution that ended last. `trouble` is what loom panicked with.
    fn judge_last(&self, trouble: Option<String>) -> ControlFlow<()> {
        let Some(session) = lock(&self.progress).session.take() else {
            return ControlFlow::Continue(());
        };
        let end = match (session.outcome(), trouble) {
            (End::Finished, Some(trouble)) => End::Panicked(trouble),
            (end, _) => end,
        };
        // The judge may ask the runtime for the names of threads, so nothing stays locked.
        let record = std::mem::take(&mut session.world().record);
        let number = {
            let mut progress = lock(&self.progress);
            progress.executions += 1;
            progress.steps += record.steps;
            progress.executions
        };
        let execution = Execution {
            number,
            end,
            steps: record.steps,
            preemptions: Some(record.preemptions),
            schedule: Some(&record.schedule),
            trace: Some(record.trace()),
        };
        JUDGE.with(|judge| judge(&execution))
    }
}
