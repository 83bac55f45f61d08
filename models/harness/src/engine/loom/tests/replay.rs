//! The way back to an execution.

use std::ops::ControlFlow;

use seatrial_core::runtime::{Ambient, Instant, Runtime};

use super::{MS, all, body, toy};
use crate::engine::loom::{Config, LoomRuntime, explore, replay};
use crate::engine::{End, Schedule};

#[test]
fn a_schedule_leads_back_to_its_execution() {
    /// A toy that also asks, sleeps and waits for the clock.
    fn program(runtime: &LoomRuntime) {
        let inner = runtime.clone();
        let sleeper = runtime.spawn("sleeper", move || {
            inner.sleep_until(Instant::ZERO + inner.choose(2) * MS);
        });
        toy(runtime, 1, 1);
        runtime.join(sleeper).unwrap();
    }
    let mut recorded = vec![];
    explore(&Config::default(), body(program), &mut |execution| {
        let text = execution.schedule.unwrap().to_string();
        recorded.push((text, execution.trace, execution.steps, execution.preemptions));
        ControlFlow::Continue(())
    });
    for recorded in recorded.iter().step_by(7) {
        let mut replayed = vec![];
        let schedule: Schedule = recorded.0.parse().unwrap();
        let explored = replay(&Config::default(), &schedule, body(program), &mut |execution| {
            let text = execution.schedule.unwrap().to_string();
            replayed.push((text, execution.trace, execution.steps, execution.preemptions));
            ControlFlow::Continue(())
        });
        assert_eq!(explored.executions, 1);
        assert_eq!(replayed, std::slice::from_ref(recorded));
    }
}

#[test]
fn a_replay_of_other_code_says_where_it_diverges() {
    let schedule = all(&Config::default(), |runtime| toy(runtime, 2, 1)).remove(5).1;
    let replay_of = |schedule: &Schedule, program: fn(&LoomRuntime)| {
        let mut ends = vec![];
        replay(&Config::default(), schedule, body(program), &mut |execution| {
            ends.push(execution.end.clone());
            ControlFlow::Continue(())
        });
        assert_eq!(ends.len(), 1);
        match ends.remove(0) {
            End::Diverged(because) => because,
            other => panic!("{other:?}"),
        }
    };
    let fewer = replay_of(&schedule, |runtime| toy(runtime, 1, 1));
    assert!(fewer.contains("cannot be taken"), "{fewer}");
    let shorter = replay_of(&schedule, |_| {});
    assert!(shorter.starts_with("decision 2 of the schedule"), "{shorter}");
    let start = Schedule { choices: schedule.choices[..4].to_vec() };
    let longer = replay_of(&start, |runtime| toy(runtime, 2, 1));
    assert_eq!(longer, "the schedule ends after 4 decisions, the program goes on");
    let nothing = replay_of(&Schedule::default(), |runtime| toy(runtime, 2, 1));
    assert_eq!(nothing, "the schedule ends after 0 decisions, the program goes on");
    let other_answer = "a=7".parse().unwrap();
    let answer = replay_of(&other_answer, |runtime| {
        assert!(runtime.choose(2) < 2);
    });
    assert_eq!(answer, "decision 2 of the schedule, `=7`, cannot be taken");
}
