//! Executions on coroutines, one at a time, on one operating-system thread.
//!
//! The crate [`::shuttle`] provides the coroutines and calls a scheduler at every switch. The rest
//! is here:
//!
//! | part | what it does |
//! |---|---|
//! | [`ShuttleRuntime`] | the seam: says what a thread is about to do, then switches |
//! | `kernel` | knows who holds which lock, who waits, what time it is, and so who can move |
//! | `scheduler` | asks the kernel which threads can move, and a strategy which one moves |
//! | `strategy` | random walk, priorities, replay, and so on |
//! | `trace` | the search that runs one execution of every trace |
//! | `cores`, `part` | the same search on several threads of the operating system |
//! | `threads` | where threads begin, switch, end, and leave an execution that is given up |
//! | `rw_lock`, `cells` | locks that can be shared; published values and atomic numbers |
//! | `watch` | one execution, with everything that could be seen at each decision |
//! | `alarms` | wakers that go off at a time |

mod alarms;
mod cells;
mod cores;
mod kernel;
mod part;
mod runtime;
mod rw_lock;
mod scheduler;
mod session;
mod strategy;
#[cfg(test)]
mod tests;
mod threads;
mod trace;
mod watch;

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, Location, catch_unwind, resume_unwind};
use std::rc::Rc;
use std::sync::Arc;

use shuttle_engine::MaxSteps;
use shuttle_engine::runtime::execution::Execution as Run;
use shuttle_engine::runtime::thread::continuation::{CONTINUATION_POOL, ContinuationPool};
use shuttle_engine::scheduler::{Schedule as RunSchedule, Scheduler};

use super::{End, Execution, Exploration, Judge, MAX_STEPS, quietly};

pub use super::WakeUps;
pub use alarms::Timer;
pub use cells::{ShuttleAtomic, ShuttlePublished};
pub use cores::explore_on_cores;
pub use part::Judging;
pub use runtime::{Held, ShuttleCondvar, ShuttleMutex, ShuttleRuntime};
pub use rw_lock::{Shared, ShuttleRwLock, Whole};
pub use strategy::Strategy;
pub use threads::Join;
pub(super) use threads::Leave;
pub(crate) use watch::watch;

use kernel::Kernel;
use session::Session;
use strategy::Chooser;

/// The events that an exploration may try on a program, and its limits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Config {
    /// The waiters that a condition variable may wake.
    pub wake_ups: WakeUps,
    /// How many waits of each thread may end for no reason.
    pub spurious_wake_ups: u32,
    /// How many jumps of the clock may happen while threads can move, whenever a deadline is armed;
    /// all others happen when no thread can move. With zero, reading the clock is not a step.
    pub free_jumps: u32,
    /// Steps after which an execution is given up as endless. The search of all traces refuses a
    /// program that takes more than 65,535 in one thread.
    pub max_steps: u64,
    /// The seed of the random numbers that the program draws.
    pub entropy: u64,
    /// Bytes of each thread's stack.
    pub stack: usize,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            wake_ups: WakeUps::Any,
            spurious_wake_ups: 0,
            free_jumps: 0,
            max_steps: MAX_STEPS,
            entropy: 0,
            stack: 256 * 1024,
        }
    }
}

/// The program under test: called once for each execution, as its main thread.
pub type Body = Arc<dyn Fn(&ShuttleRuntime) + Send + Sync>;

/// Runs a program under the schedules of a strategy until that has no more, or until `judge`
/// breaks off.
///
/// Nothing is printed; how each execution ended is in what `judge` is shown.
pub fn explore(
    config: &Config,
    strategy: Strategy,
    body: Body,
    judge: &mut Judge<'_>,
) -> Exploration {
    explore_by(config, strategy.chooser(), &body, judge)
}

/// Runs a program under the schedules of a chooser.
fn explore_by(
    config: &Config,
    chooser: Box<dyn Chooser>,
    body: &Body,
    judge: &mut Judge<'_>,
) -> Exploration {
    let kernel = Kernel::new(config.clone());
    let coroutines = coroutines(config);
    let _entered = session::enter(Session { kernel, chooser, alarms: None, was_free: false });
    let mut exploration = Exploration::default();
    with_stacks(config.stack, || {
        while session::with(Session::begin) {
            let clean = quietly(|| run_one(&coroutines, body));
            if conclude(&mut exploration, judge).is_break() || !clean {
                return;
            }
        }
        exploration.exhausted = session::with(|session| session.chooser.exhausted());
    });
    exploration
}

thread_local! {
    /// The stacks of threads that have ended, by their size. They are used again by all explorations
    /// of an operating-system thread: a replay is one execution, and to map its stacks anew would
    /// cost more than to run it.
    static STACKS: RefCell<BTreeMap<usize, Rc<ContinuationPool>>> = const { RefCell::new(BTreeMap::new()) };
}

/// Runs something with a supply of stacks of one size.
fn with_stacks<T>(size: usize, body: impl FnOnce() -> T) -> T {
    let new = || Rc::new(ContinuationPool::new());
    let stacks = STACKS.with_borrow_mut(|all| Rc::clone(all.entry(size).or_insert_with(new)));
    CONTINUATION_POOL.set(&stacks, body)
}

fn coroutines(config: &Config) -> ::shuttle::Config {
    let mut coroutines = ::shuttle::Config::new();
    coroutines.stack_size = config.stack;
    coroutines.max_steps = MaxSteps::None; // the kernel counts
    coroutines.failure_persistence = ::shuttle::FailurePersistence::None;
    coroutines.silence_warnings = true;
    coroutines
}

/// Runs one execution. Returns false if nothing can run after it on this operating-system thread:
/// a thread of the program panicked, and its destructors wait for what never happens. Its stack
/// cannot be unwound any further, so the panic counts as going on for ever.
fn run_one(coroutines: &::shuttle::Config, body: &Body) -> bool {
    let body = Arc::clone(body);
    let main = move || threads::run_main(|| body(&ShuttleRuntime));
    let ran = catch_unwind(AssertUnwindSafe(|| {
        run(coroutines, Rc::new(RefCell::new(scheduler::Driver)), main);
    }));
    match ran {
        Ok(()) => true,
        Err(_) if session::with(|session| session.kernel.someone_is_stuck()) => false,
        Err(panic) => resume_unwind(panic), // a bug of this engine
    }
}

#[track_caller]
fn run(
    coroutines: &::shuttle::Config,
    scheduler: Rc<RefCell<dyn Scheduler>>,
    main: impl FnOnce() + Send + 'static,
) {
    Run::new(scheduler, RunSchedule::default()).run(coroutines, main, Location::caller());
}

/// Ends an execution, shows it to the judge and adds it up.
fn conclude(exploration: &mut Exploration, judge: &mut Judge<'_>) -> std::ops::ControlFlow<()> {
    let (end, schedule) = session::with(Session::end);
    let end = match end {
        End::Diverged(_) | End::Refused(_) => end,
        end => session::with(|session| session.chooser.unmet()).unwrap_or(end),
    };
    let alarms = session::with(|session| session.alarms.take());
    drop(alarms); // outside the session: dropping a waker runs foreign code
    let steps = schedule.choices.len() as u64;
    exploration.executions += 1;
    exploration.steps += steps;
    let execution = session::with(|Session { kernel, chooser, was_free, .. }| Execution {
        number: exploration.executions,
        end,
        steps,
        preemptions: Some(kernel.preemptions()),
        schedule: Some(&schedule),
        trace: Some(kernel.trace()),
        stands_for: chooser.stands_for(kernel),
        is_only: !*was_free,
    });
    let verdict = judge(&execution);
    session::with(|session| session.kernel.schedule = schedule); // its memory is used again
    verdict
}

/// Runs an execution of nothing: with the first one of a process, shuttle installs a panic hook.
pub(super) fn install_its_hook() {
    let scheduler = ::shuttle::scheduler::RoundRobinScheduler::new(1);
    let config = Config::default();
    with_stacks(config.stack, || {
        run(&coroutines(&config), Rc::new(RefCell::new(scheduler)), || {});
    });
}
