//! The portfolio of samplers: no single one finds every bug.
//!
//! PCT alone missed a bug that a random walk finds at once, and the other way round, so the
//! schedules are dealt out to all of them in turn, in small hands.

use std::ops::ControlFlow;
use std::sync::Arc;

use super::case::Plan;
use super::world::Observed;
use crate::engine::shuttle::{Config, ShuttleRuntime, Strategy, explore as run};
use crate::engine::{Execution, Exploration, Judge, Schedule};

type Body = Arc<dyn Fn(&ShuttleRuntime) + Send + Sync>;

/// How many schedules a sampler gets in its first turn; every round doubles it.
const FIRST_HAND: u64 = 100;

impl Observed for ShuttleRuntime {
    const JUMPS_WHEN_QUIET: bool = true;

    fn thread(&self) -> u8 {
        self.current_thread()
    }

    fn thread_name(&self, thread: u8) -> String {
        ShuttleRuntime::thread_name(*self, thread)
    }
}

fn config() -> Config {
    Config::default()
}

/// Samples as many schedules as the plan says.
pub(super) fn explore(plan: &Plan, body: &Body, judge: &mut Judge<'_>) -> Exploration {
    let mut total = Exploration::default();
    let mut hand = FIRST_HAND;
    for turn in 0_u64.. {
        let left = plan.budget.schedules - total.executions;
        if left == 0 {
            break;
        }
        let executions = hand.min(left);
        let seed = plan.seed.wrapping_mul(0x9E37_79B9_7F4A_7C15).wrapping_add(turn);
        let strategy = match turn % 3 {
            0 => Strategy::Random { seed, executions },
            1 => Strategy::Pct { seed, depth: 3, executions },
            _ => Strategy::Urw { seed, executions },
        };
        if turn % 3 == 2 {
            hand = hand.saturating_mul(2);
        }
        let (before, mut stopped) = (total.executions, false);
        let one = run(&config(), strategy, Arc::clone(body), &mut |execution| {
            let numbered = Execution {
                number: before + execution.number,
                end: execution.end.clone(),
                schedule: execution.schedule,
                ..*execution
            };
            let verdict = judge(&numbered);
            stopped = verdict == ControlFlow::Break(());
            verdict
        });
        total.executions += one.executions;
        total.steps += one.steps;
        if stopped {
            break;
        }
    }
    total
}

/// Runs the execution of a schedule.
pub(super) fn replay(schedule: &Schedule, body: &Body, judge: &mut Judge<'_>) {
    run(&config(), Strategy::Replay(schedule.clone()), Arc::clone(body), judge);
}
