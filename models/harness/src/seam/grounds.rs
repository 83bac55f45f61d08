//! Places to run a promise: real threads, a clock moved by hand, and the checkers.

#[cfg(any(feature = "loom", feature = "shuttle"))]
use std::ops::ControlFlow;
use std::panic::{self, AssertUnwindSafe};
use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use seatrial_core::runtime::{Manual, Runtime, System};

use super::{Facts, Ground, Program};
#[cfg(any(feature = "loom", feature = "shuttle"))]
use crate::engine::End;
#[cfg(any(feature = "loom", feature = "shuttle"))]
use crate::engine::{Execution, Exploration, Judge};
use crate::engine::{panic_text, quietly};

/// After this long a program on real threads counts as stuck.
const PATIENCE: Duration = Duration::from_secs(10);

/// Real threads and real time.
#[derive(Clone, Copy, Debug)]
pub struct SystemGround {
    /// How often to run.
    pub executions: u32,
}

impl Ground for SystemGround {
    type Runtime = System;

    fn facts(&self) -> Facts {
        Facts { exact_time: false, meets_every_course: false }
    }

    fn run(&self, program: Program<System>) -> Result<(), String> {
        (0..self.executions).try_for_each(|_| run_once(&program, System::new(), |_| {}))
    }
}

/// Real threads, and a clock that moves whenever a thread waits for it.
#[derive(Clone, Copy, Debug)]
pub struct ManualGround {
    /// How often to run.
    pub executions: u32,
}

impl Ground for ManualGround {
    type Runtime = Manual;

    fn facts(&self) -> Facts {
        Facts { exact_time: false, meets_every_course: false }
    }

    fn run(&self, program: Program<Manual>) -> Result<(), String> {
        let move_clock = |runtime: &Manual| {
            if runtime.until_waiting(1, Duration::from_millis(1)) {
                runtime.advance(Duration::from_micros(500));
            }
        };
        (0..self.executions)
            .try_for_each(|n| run_once(&program, Manual::seeded(n.into()), move_clock))
    }
}

/// Runs a program on a thread of its own, calling `meanwhile` until it ends.
fn run_once<R: Runtime>(
    program: &Program<R>,
    runtime: R,
    meanwhile: impl Fn(&R),
) -> Result<(), String> {
    let (report, ended) = channel();
    let (inner, program) = (runtime.clone(), Arc::clone(program));
    let main = runtime.spawn("main", move || {
        let run = || panic::catch_unwind(AssertUnwindSafe(|| program(&inner)));
        let outcome = quietly(run).map_err(|payload| panic_text(&*payload));
        // If a program was given up as stuck, no receiver is left.
        drop(report.send(outcome));
    });
    drop(main); // what it returns comes through the channel
    let began = Instant::now();
    while began.elapsed() < PATIENCE {
        meanwhile(&runtime);
        match ended.recv_timeout(Duration::from_millis(1)) {
            Ok(outcome) => return outcome,
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return Err("main vanished".to_owned()),
        }
    }
    Err(format!("stuck for {PATIENCE:?}"))
}

/// Every schedule, by loom.
#[cfg(feature = "loom")]
#[derive(Clone, Debug, Default)]
pub struct LoomGround {
    /// The bounds.
    pub config: crate::engine::loom::Config,
}

#[cfg(feature = "loom")]
impl Ground for LoomGround {
    type Runtime = crate::engine::loom::LoomRuntime;

    fn facts(&self) -> Facts {
        Facts { exact_time: true, meets_every_course: true }
    }

    fn run(&self, program: Program<Self::Runtime>) -> Result<(), String> {
        first_failure(|judge| crate::engine::loom::explore(&self.config, program, judge))
            .and_then(exhausted)
    }
}

/// Random schedules, by shuttle.
#[cfg(feature = "shuttle")]
#[derive(Clone, Debug)]
pub struct ShuttleGround {
    /// The events that the engine may try, and its limits.
    pub config: crate::engine::shuttle::Config,
    /// The seed of the random numbers.
    pub seed: u64,
    /// How often to run.
    pub executions: u64,
}

#[cfg(feature = "shuttle")]
impl Ground for ShuttleGround {
    type Runtime = crate::engine::shuttle::ShuttleRuntime;

    fn facts(&self) -> Facts {
        Facts { exact_time: true, meets_every_course: true }
    }

    fn run(&self, program: Program<Self::Runtime>) -> Result<(), String> {
        use crate::engine::shuttle::{Strategy, explore};
        let strategy = Strategy::Random { seed: self.seed, executions: self.executions };
        first_failure(|judge| explore(&self.config, strategy, program, judge)).map(drop)
    }
}

/// Every trace, by our own search.
#[cfg(feature = "shuttle")]
#[derive(Clone, Debug, Default)]
pub struct TraceGround {
    /// The events that the engine may try, and its limits.
    pub config: crate::engine::shuttle::Config,
}

#[cfg(feature = "shuttle")]
impl Ground for TraceGround {
    type Runtime = crate::engine::shuttle::ShuttleRuntime;

    fn facts(&self) -> Facts {
        Facts { exact_time: true, meets_every_course: true }
    }

    fn run(&self, program: Program<Self::Runtime>) -> Result<(), String> {
        use crate::engine::shuttle::{Strategy, explore};
        let strategy = Strategy::Trace { executions: u64::MAX };
        first_failure(|judge| explore(&self.config, strategy, program, judge)).and_then(exhausted)
    }
}

/// Refuses an exploration that was cut short.
#[cfg(any(feature = "loom", feature = "shuttle"))]
fn exhausted(explored: Exploration) -> Result<(), String> {
    if explored.exhausted {
        Ok(())
    } else {
        Err(format!("not exhausted after {} executions", explored.executions))
    }
}

/// Explores until an execution does not run to its end, and returns how that one ended.
#[cfg(any(feature = "loom", feature = "shuttle"))]
fn first_failure(
    explore: impl FnOnce(&mut Judge<'_>) -> Exploration,
) -> Result<Exploration, String> {
    let mut failure = None;
    let explored = explore(&mut |execution: &Execution<'_>| match &execution.end {
        End::Finished => ControlFlow::Continue(()),
        end => {
            let schedule = execution.schedule.map(ToString::to_string).unwrap_or_default();
            failure = Some(format!("execution {}: {end:?} by {schedule}", execution.number));
            ControlFlow::Break(())
        }
    });
    failure.map_or(Ok(explored), Err)
}

#[cfg(all(test, feature = "loom", feature = "shuttle"))]
mod tests {
    use super::*;

    fn spins<R: Runtime>(runtime: &R) {
        let lock = Arc::new(runtime.mutex(false));
        let (inner, theirs) = (runtime.clone(), Arc::clone(&lock));
        let other = runtime.spawn("other", move || *inner.lock(&theirs) = true);
        while !*runtime.lock(&lock) {}
        assert!(runtime.join(other).is_ok());
    }

    fn adds<R: Runtime>(runtime: &R) {
        let lock = Arc::new(runtime.mutex(0));
        let (inner, theirs) = (runtime.clone(), Arc::clone(&lock));
        let other = runtime.spawn("other", move || *inner.lock(&theirs) += 1);
        *runtime.lock(&lock) += 1;
        assert!(runtime.join(other).is_ok());
    }

    #[test]
    fn a_promise_that_is_not_explored_to_the_end_is_not_kept() {
        let config = crate::engine::loom::Config { max_executions: 1, ..Default::default() };
        let cut = LoomGround { config }.run(Arc::new(adds));
        assert_eq!(cut, Err("not exhausted after 1 executions".to_owned()));
        assert_eq!(LoomGround::default().run(Arc::new(adds)), Ok(()));
        assert_eq!(TraceGround::default().run(Arc::new(adds)), Ok(()));
    }

    #[test]
    fn an_execution_that_does_not_end_is_a_failure() {
        let config = crate::engine::shuttle::Config { max_steps: 50, ..Default::default() };
        let endless = TraceGround { config }.run(Arc::new(spins)).unwrap_err();
        assert!(endless.contains("Endless"), "{endless}");
        let config = crate::engine::loom::Config { max_steps: 50, ..Default::default() };
        let endless = LoomGround { config }.run(Arc::new(spins)).unwrap_err();
        assert!(endless.contains("Endless"), "{endless}");
    }
}
