//! Runs a body under loom, execution by execution, and lets the judge look at each.
//!
//! 1. loom calls the body once per execution. The call for the next execution begins by showing
//!    the judge the one before: only then have all its threads ended.
//! 2. To stop, that call unwinds out of loom with [`Leave`]. No other thread exists then.
//! 3. The judge runs on a coroutine of its own: loom gives main 32 KiB of stack, which is little.
//! 4. When loom comes to its end by itself, all schedules of one set of answers are explored; the
//!    next set is tried, until there is none.

use std::ops::ControlFlow;
use std::panic::{self, AssertUnwindSafe};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use generator::Gn;
use seatrial_core::runtime::Panic;

use super::answers::Answers;
use super::record::Record;
use super::runtime::LoomRuntime;
use super::session::{Session, lock, message};
use crate::engine::quiet::loudly;
use crate::engine::stack::ROOM;
use crate::engine::{End, Execution, Exploration, Judge, MAX_STEPS, Schedule, panic_text, quietly};

/// The body of a scenario under loom.
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
    /// How many jumps of the clock may happen while threads can move, whenever a deadline is armed;
    /// all others happen when no thread can move. If it is above zero, a thread of its own lets the
    /// clock jump, so the program has one thread less.
    pub free_jumps: u32,
    /// The most steps of one execution; one that takes more is [`End::Endless`]. loom counts in 16
    /// bits, so it is never more than [`MAX_STEPS`].
    pub max_steps: u64,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            preemption_bound: Some(2),
            max_executions: u64::MAX,
            max_duration: None,
            free_jumps: 0,
            max_steps: 1_000,
        }
    }
}

/// Explores the schedules of `body` within the bounds, and all answers to its choices.
pub fn explore(config: &Config, body: Body, judge: &mut Judge<'_>) -> Exploration {
    let driver = Arc::new(Driver::new(config, body, None));
    while driver.run_loom(judge) && lock(&driver.answers).advance() {}
    let Progress { executions, steps, left, cut, .. } = *lock(&driver.progress);
    Exploration { executions, steps, exhausted: !left && !cut }
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
    let Progress { executions, steps, .. } = *lock(&driver.progress);
    Exploration { executions, steps, exhausted: false }
}

/// The payload with which main unwinds to leave loom.
struct Leave;

scoped_tls_hkt::scoped_thread_local! {
    /// Shows the judge the last execution. It lies here for as long as loom runs, since loom wants
    /// a body that borrows nothing.
    static mut JUDGE_LAST: for<'a> &'a mut (dyn FnMut() -> ControlFlow<()> + 'a)
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
    /// The message of a panic of loom itself.
    trouble: Option<String>,
    /// Whether loom has ended or was left.
    over: bool,
    /// Whether loom was left before it was done.
    left: bool,
    /// Whether an execution was cut short, so that loom never saw some orders of it.
    cut: bool,
    /// The panic of the judge.
    judge_panic: Option<Panic>,
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
        lock(&self.progress).over = false;
        let mut judging = Gn::<()>::new_scoped_opt_local(ROOM, |mut stack| {
            loop {
                let verdict = self.judge_last(judge);
                if lock(&self.progress).over {
                    return verdict;
                }
                stack.yield_with(verdict);
            }
        });
        let mut judge_last = || judging.resume().expect("judges until loom is over");
        let driver = Arc::clone(self);
        let outcome = JUDGE_LAST.set(&mut judge_last, || {
            let check = || self.builder().check(move || driver.execute());
            quietly(|| panic::catch_unwind(AssertUnwindSafe(check)))
        });
        let mut progress = lock(&self.progress);
        progress.over = true;
        progress.left |= outcome.is_err();
        if let Err(payload) = outcome {
            progress.trouble = (!payload.is::<Leave>()).then(|| panic_text(&*payload));
        }
        drop(progress);
        let stopped = quietly(judge_last).is_break(); // as quiet as inside of loom
        let mut progress = lock(&self.progress);
        progress.left |= stopped;
        if let Some(payload) = progress.judge_panic.take() {
            drop(progress);
            panic::resume_unwind(payload);
        }
        !progress.left
    }

    /// Returns loom's settings; nothing comes from its environment variables.
    fn builder(&self) -> ::loom::model::Builder {
        let mut builder = ::loom::model::Builder::new();
        // Besides its steps, an execution makes two branches per thread and some on the way down.
        builder.max_branches = self.max_steps() as usize + 100;
        builder.preemption_bound = self.config.preemption_bound.map(|bound| bound.min(255));
        builder.max_permutations = None;
        builder.max_duration = None;
        builder.checkpoint_file = None;
        builder.checkpoint_interval = usize::MAX;
        builder.location = false;
        builder.log = false;
        builder
    }

    /// Runs one execution on loom's main thread.
    fn execute(&self) {
        if JUDGE_LAST.with(|judge_last| judge_last()).is_break() || self.is_spent() {
            panic::resume_unwind(Box::new(Leave));
        }
        let record = Record::new(self.max_steps(), self.script.clone());
        let clock_is_shared = self.config.free_jumps > 0;
        let session = Arc::new(Session::new(record, Arc::clone(&self.answers), clock_is_shared));
        lock(&self.progress).session = Some(Arc::clone(&session));
        session.spawned(0, ::loom::thread::current());
        let runtime = LoomRuntime::new(Arc::clone(&session));
        let returned = session.run(0, || {
            if clock_is_shared {
                runtime.start_clock(self.config.free_jumps);
            }
            (self.body)(&runtime);
        });
        session.end(0, returned.err().and_then(|payload| message(&*payload)));
    }

    fn max_steps(&self) -> u64 {
        self.config.max_steps.min(MAX_STEPS)
    }

    fn is_spent(&self) -> bool {
        let executions = lock(&self.progress).executions;
        executions >= self.config.max_executions
            || self.config.max_duration.is_some_and(|most| self.began.elapsed() >= most)
    }

    /// Shows the judge the execution that ended last, if there is one.
    fn judge_last(&self, judge: &mut Judge<'_>) -> ControlFlow<()> {
        let Some(session) = lock(&self.progress).session.take() else {
            return ControlFlow::Continue(());
        };
        let end = match (session.outcome(), lock(&self.progress).trouble.take()) {
            (End::Finished, Some(trouble)) => End::Panicked(format!("loom: {trouble}")),
            (end, _) => end,
        };
        // The judge may ask the runtime for the names of threads, so nothing stays locked.
        let (record, cut) = {
            let mut books = session.books();
            (std::mem::take(&mut books.record), books.cut)
        };
        let number = {
            let mut progress = lock(&self.progress);
            progress.cut |= cut;
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
            stands_for: None,
            is_only: false,
        };
        panic::catch_unwind(AssertUnwindSafe(|| loudly(|| judge(&execution)))).unwrap_or_else(
            |payload| {
                lock(&self.progress).judge_panic = Some(payload);
                ControlFlow::Break(())
            },
        )
    }
}
