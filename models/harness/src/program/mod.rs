//! A test of a few threads, in an ordinary test file: [`#[seatrial::test]`](macro@crate::test).
//!
//! ```
//! use std::sync::Arc;
//!
//! #[seatrial::test]
//! fn both_increments_count() {
//!     let seam = seatrial::seam();
//!     let counter = Arc::new(seam.mutex(0));
//!     let other = seam.spawn("other", {
//!         let counter = Arc::clone(&counter);
//!         move || *counter.lock() += 1
//!     });
//!     *counter.lock() += 1;
//!     other.join();
//!     assert_eq!(*counter.lock(), 2);
//! }
//! # fn main() {}
//! ```
//!
//! The body runs thousands of times, each time in another order of its threads: on every engine of the build
//! that runs programs, except real threads. A panic, a deadlock and a lost wake-up fail the test. It prints who did
//! what, in a short order that fails, and the line that replays it.
//!
//! Threads, locks, time and random choices must come from [`seam()`](crate::seam()). Code that is generic over
//! [`Runtime`] takes [`Seam::runtime`]. Everything else must be the same in every run.
//!
//! | argument | what it sets | without it |
//! |---|---|---|
//! | `engines = "trace, sample"` | the engines | all but `threads` |
//! | `budget = "30s"` | how much each of them may try: a time, a count such as `1e6`, `smoke`, `ci`, `nightly` | `smoke` |
//! | `deadlines = 0` | how many waits may end by their time in the middle of other work | 1 |
//! | `seed = 7` | where random schedules begin | 0 |
//!
//! An `async fn` runs as a task; [`Seam::task`] starts others, and [`Seam::cancellable`] gives a future up at
//! any of its awaits. [`Seam::sometimes`] names a case that some run must reach.
//!
//! `SEATRIAL_EXPLORE=1 cargo test --package mine -- --exact my_test` serves a page on which to step through it and
//! to choose another thread, from the witness in `SEATRIAL_REPLAY` if there is one.
//!
//! A test holds if no run within the budget fails. With `--nocapture` each engine says how many runs that were, and
//! whether they were all there are.

mod seam;
mod sync;
mod threads;

use std::collections::BTreeMap;
use std::fmt;
use std::panic::panic_any;
#[cfg(feature = "shuttle")]
use std::path::Path;
use std::sync::{Arc, Mutex as StdMutex, PoisonError};

use seatrial_core::machine::{Cx, Machine, Step};
use seatrial_core::runtime::Runtime;

use crate::check::Check;
#[cfg(feature = "shuttle")]
use crate::cli::explore::{Explorable, serve};
#[cfg(feature = "shuttle")]
use crate::engine::Schedule;
use crate::engine::{Engine, Kind};
use crate::trial::{Budget, Case, Component, Invariant, MachineOf, Scenario, Witness};

use seam::Current;
pub use seam::{Seam, seam};
pub use sync::{Atomic, Condvar, Guard, Mutex, ReadGuard, RwLock, WriteGuard};
pub use threads::{Sleep, Thread};

/// The variable that asks for the page of `explore`, in place of a check.
#[cfg(feature = "shuttle")]
const EXPLORE: &str = "SEATRIAL_EXPLORE";
/// The variable that holds the witness to replay.
const REPLAY: &str = "SEATRIAL_REPLAY";

/// What [`#[seatrial::test]`](macro@crate::test) knows of a test.
#[derive(Clone, Copy, Debug)]
pub struct Test {
    /// The name of the function.
    pub name: &'static str,
    /// The path of its module.
    pub module: &'static str,
    /// The package.
    pub package: &'static str,
    /// The engines, separated by commas; none for the default.
    pub engines: Option<&'static str>,
    /// The budget of each engine.
    pub budget: &'static str,
    /// How many waits may end by their time in the middle of other work.
    pub deadlines: u32,
    /// Where random schedules begin.
    pub seed: u64,
}

/// Runs a test.
///
/// # Panics
/// If it fails on some engine, or no engine of the build runs it, or an argument is not understood.
#[track_caller]
pub fn run(test: &Test, body: fn()) {
    let sometimes = Sometimes::default();
    let noted = sometimes.clone();
    let enter_and_run = move |world: &_| {
        let _inside = Seam::new(world, &noted).enter();
        body();
    };
    let program = Scenario::new(test.name, test.module, enter_and_run, |_| true);
    let case = Case {
        scenario: Arc::new(program.free_deadlines(test.deadlines)),
        make: Arc::new(Programs::machine),
        invariants: Arc::from([]),
    };
    let _current = Current;
    #[cfg(feature = "shuttle")]
    if std::env::var_os(EXPLORE).is_some_and(|asks| asks == "1") {
        return explore(test, case);
    }
    if let Some(witness) = asked_for(test) {
        return replay(&case, &witness);
    }
    let budget = test.budget.parse::<Budget>().unwrap_or_else(|why| panic_any(why));
    Check::of(case).budget(budget).seed(test.seed).program(test.replay()).on(&engines(test));
    let never = sometimes.never();
    assert!(never.is_empty(), "no run reached: {}", never.join(", "));
}

/// The engines that a test asks for.
fn engines(test: &Test) -> Vec<Engine> {
    let Some(named) = test.engines else {
        let runs_it = |it: &&Engine| it.runs() == Kind::Program && **it != Engine::Threads;
        return Engine::ALL.iter().filter(runs_it).copied().collect();
    };
    let engine = |name: &str| {
        let engine = name.trim().parse::<Engine>().unwrap_or_else(|why| panic_any(why));
        assert!(engine.runs() == Kind::Program, "{engine} runs {}", engine.runs().says());
        if let Some(why) = engine.missing() {
            panic!("{why}");
        }
        engine
    };
    named.split(',').map(engine).collect()
}

/// Returns the witness that is to be replayed, if it is of this test.
fn asked_for(test: &Test) -> Option<Witness> {
    let text = std::env::var(REPLAY).ok()?;
    let witness = text.parse::<Witness>().unwrap_or_else(|why| panic!("{REPLAY}: {why}"));
    (witness.component == Programs::NAME && witness.scenario == test.name).then_some(witness)
}

/// Serves a page on which to step through it, from its witness if one is given.
#[cfg(feature = "shuttle")]
fn explore(test: &Test, case: Case<Programs>) {
    let anew = || Witness {
        component: Programs::NAME.to_owned(),
        scenario: test.name.to_owned(),
        mutant: None,
        engine: Engine::Sample,
        route: Schedule::default().into(),
        history: 0,
    };
    let begins = asked_for(test).filter(|it| matches!(it.engine, Engine::Sample | Engine::Trace));
    let explored = Explorable {
        begins: begins.unwrap_or_else(anew),
        says: case.scenario.says,
        stated: Some(case.scenario.stated),
        invariants: Vec::new(),
        run: Box::new(move |beginning| case.explored(beginning)),
    };
    if let Err(failure) = serve(explored, 0, Path::new("witnesses")) {
        panic_any(failure.message);
    }
}

fn replay(case: &Case<Programs>, witness: &Witness) {
    if let Some(why) = witness.engine.missing() {
        panic!("{why}");
    }
    let replayed = witness.route.schedule().and_then(|it| case.replay(witness.engine, it));
    let replayed = replayed.expect("the code has changed: this execution does not exist any more");
    let at = replayed.findings.first().and_then(|it| it.violation.at);
    let picture = crate::picture::picture(&replayed.lines, at);
    match replayed.findings.first() {
        Some(finding) => panic!("{}\n\n{picture}", finding.violation.because),
        None => println!("this execution holds\n\n{picture}"),
    }
}

impl Test {
    /// The command that replays a failure, without the witness.
    fn replay(&self) -> String {
        let path = self.module.split_once("::").map(|(_, path)| format!("{path}::"));
        let test = format!("{}{}", path.unwrap_or_default(), self.name);
        format!("cargo test --package {} -- --exact {test} --nocapture", self.package)
    }
}

/// All programs are one component, which has no machine and promises nothing of its own.
#[derive(Debug)]
struct Programs;

/// The steps of a program; only told.
#[derive(Debug)]
struct Acts;

/// A step of a program.
#[derive(Clone, Debug)]
pub(crate) struct Act(String);

impl Machine for Acts {
    type Op = Act;
    type Ret = ();

    fn step(&mut self, _: &mut Act, _: &mut Cx<'_>) -> Step<()> {
        Step::Done(())
    }
}

impl Component for Programs {
    type Machine = Acts;
    const NAME: &'static str = "test";
    const SAYS: &'static str = "a test of threads";

    fn machine() -> MachineOf<Self> {
        Box::new(Acts)
    }

    fn scenarios() -> Vec<Scenario<Self>> {
        Vec::new()
    }

    fn invariants() -> Vec<Invariant<Self>> {
        Vec::new()
    }

    fn describe(Act(what): &Act, _: &Step<()>) -> String {
        what.clone()
    }
}

/// The cases that some run must reach, and whether one has.
#[derive(Clone, Debug, Default)]
struct Sometimes(Arc<StdMutex<BTreeMap<&'static str, bool>>>);

impl Sometimes {
    fn note(&self, what: &'static str, is_so: bool) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner).entry(what).or_default() |= is_so;
    }

    fn never(&self) -> Vec<&'static str> {
        let all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.iter().filter(|(_, is_so)| !**is_so).map(|(what, _)| *what).collect()
    }
}

impl fmt::Display for Act {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// What a body may return: nothing, or a `Result` whose error fails the test.
pub trait Ends {
    /// Panics on an error.
    fn ends(self);
}

impl Ends for () {
    fn ends(self) {}
}

impl<T: Ends, E: fmt::Debug> Ends for Result<T, E> {
    fn ends(self) {
        match self {
            Ok(value) => value.ends(),
            Err(error) => panic!("the test returned an error: {error:?}"),
        }
    }
}

/// Ends the body of a test.
pub fn ends(value: impl Ends) {
    value.ends();
}

/// Runs the body of an `async` test as the task of the main thread.
pub fn run_task<T: Ends>(body: impl Future<Output = T>) {
    seam().runtime().block_on(body).ends();
}
