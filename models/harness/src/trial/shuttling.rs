//! Trials on the runtime over shuttle: the samplers' portfolio, the search of all traces, replay.

use std::sync::Arc;

use crate::author::{Component, Scenario};
use crate::engine::Observed;
pub(super) use crate::engine::shuttle::watch;
use crate::engine::shuttle::{
    Config, Judging, ShuttleRuntime, Strategy, WakeUps, explore as run, explore_on_cores,
};
use crate::engine::{Exploration, Judge, Schedule};
use crate::outcome::Plan;

impl Observed for ShuttleRuntime {
    fn jumps_when_quiet(&self) -> bool {
        true
    }

    fn thread(&self) -> u8 {
        self.current_thread()
    }

    fn thread_name(&self, thread: u8) -> String {
        ShuttleRuntime::thread_name(*self, thread)
    }

    fn is_given_up(&self) -> bool {
        ShuttleRuntime::is_given_up(*self)
    }
}

/// Returns what a scenario may meet.
pub(super) fn config<C: Component>(scenario: &Scenario<C>) -> Config {
    let wake_ups = if scenario.wakes_in_order { WakeUps::InOrder } else { WakeUps::Any };
    Config { wake_ups, free_jumps: scenario.free_deadlines, ..Config::default() }
}

type Body = Arc<dyn Fn(&ShuttleRuntime) + Send + Sync>;

/// Samples as many schedules as the plan says. No sampler finds every bug: PCT alone missed one
/// that a random walk finds at once, and the other way round, so all of them take turns.
pub(super) fn explore(
    plan: &Plan,
    config: &Config,
    body: &Body,
    judge: &mut Judge<'_>,
) -> Exploration {
    let (seed, executions) = (plan.seed, plan.budget.schedules);
    let strategy = match plan.budget.plain {
        true => Strategy::Random { seed, executions },
        false => Strategy::portfolio(seed, executions),
    };
    run(config, strategy, Arc::clone(body), judge)
}

/// Runs one execution of every trace, as far as the plan's budget goes, also on cores that have
/// nothing else to do. Tells also whether some ran beside others.
pub(super) fn explore_all<J: Judging>(
    plan: &Plan,
    config: &Config,
    begin: &(dyn Fn() -> (Body, J) + Sync),
) -> (Exploration, J, bool) {
    explore_on_cores(config, plan.budget.trace_executions, 0, begin)
}

/// The same on this core alone.
pub(super) fn explore_alone(
    plan: &Plan,
    config: &Config,
    body: &Body,
    judge: &mut Judge<'_>,
) -> Exploration {
    let strategy = Strategy::Trace { executions: plan.budget.trace_executions };
    run(config, strategy, Arc::clone(body), judge)
}

/// Runs an execution as near to a schedule as the code can follow it.
pub(super) fn follow(schedule: &Schedule, config: &Config, body: &Body, judge: &mut Judge<'_>) {
    run(config, Strategy::Follow(schedule.clone()), Arc::clone(body), judge);
}

/// Runs every schedule with at most this number of preemptions, if they are few enough.
pub(super) fn explore_bounded(
    preemptions: u32,
    executions: u64,
    config: &Config,
    body: &Body,
    judge: &mut Judge<'_>,
) -> Exploration {
    let strategy = Strategy::All { preemptions: Some(preemptions), executions };
    run(config, strategy, Arc::clone(body), judge)
}

/// Runs the execution of a schedule.
pub(super) fn replay(schedule: &Schedule, config: &Config, body: &Body, judge: &mut Judge<'_>) {
    run(config, Strategy::Replay(schedule.clone()), Arc::clone(body), judge);
}

/// Runs the one execution that bytes decide.
pub(super) fn decided_by(bytes: &[u8], config: &Config, body: &Body, judge: &mut Judge<'_>) {
    run(config, Strategy::Bytes(bytes.to_vec()), Arc::clone(body), judge);
}
