//! Trials under loom.

use std::sync::atomic::Ordering;

use crate::engine::Observed;
use crate::engine::loom::{self, Body, Config, LoomRuntime};
use crate::engine::{Exploration, Judge, Schedule};
use crate::outcome::Plan;

impl Observed for LoomRuntime {
    fn jumps_when_quiet(&self) -> bool {
        true
    }

    fn thread(&self) -> u8 {
        self.current_thread()
    }

    fn thread_name(&self, thread: u8) -> String {
        LoomRuntime::thread_name(self, thread)
    }

    fn is_given_up(&self) -> bool {
        LoomRuntime::is_given_up(self)
    }

    fn fence(&self, order: Ordering) {
        LoomRuntime::fence(self, order);
    }
}

/// Explores what the plan's bound and budget allow.
pub(super) fn explore(
    plan: &Plan,
    free_jumps: u32,
    body: Body,
    judge: &mut Judge<'_>,
) -> Exploration {
    let config = Config {
        free_jumps,
        preemption_bound: plan.budget.loom_preemptions,
        max_executions: plan.budget.loom_executions,
        max_duration: plan.time,
        ..Config::default()
    };
    loom::explore(&config, body, judge)
}

/// Runs the execution of a schedule.
pub(super) fn replay(schedule: &Schedule, free_jumps: u32, body: Body, judge: &mut Judge<'_>) {
    let config = Config { free_jumps, ..Config::default() };
    loom::replay(&config, schedule, body, judge);
}
