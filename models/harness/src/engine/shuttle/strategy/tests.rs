//! Bugs that the samplers find and a random walk does not, and how fast they find them.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::Arc;

use seatrial_core::runtime::{Ambient, Runtime};

use super::super::{Body, Config, ShuttleRuntime, Strategy, explore};
use crate::engine::{Choice, End, Schedule};
use crate::toy::{Mistake, Program, queue_with_workers};

/// Returns the number of the first execution that does not finish.
fn first_failure(strategy: Strategy, body: Body) -> Option<u64> {
    let mut first = None;
    explore(&Config::default(), strategy, body, &mut |execution| {
        if execution.end == End::Finished {
            return ControlFlow::Continue(());
        }
        first = Some(execution.number);
        ControlFlow::Break(())
    });
    first
}

fn program(program: Program) -> Body {
    Arc::new(move |runtime| {
        program.run(runtime);
    })
}

/// Returns the mean number of the first failing execution over some seeds.
fn mean_to_failure(name: &str, strategy: impl Fn(u64) -> Strategy, seeds: u64) -> f64 {
    let tried: Program = name.parse().unwrap();
    let firsts = (0..seeds).map(|seed| {
        let first = first_failure(strategy(seed), program(tried));
        first.unwrap_or_else(|| panic!("{name} is not found with seed {seed}")) as f64
    });
    firsts.sum::<f64>() / seeds as f64
}

fn is_missed(name: &str, strategy: Strategy) {
    let tried: Program = name.parse().unwrap();
    assert_eq!(first_failure(strategy.clone(), program(tried)), None, "{name}: {strategy:?}");
}

/// One of `n` threads must come first, so the chance of an execution is one in `n`. A
/// random walk has the same chance, since here all threads are there when the first step is taken.
fn is_found_by_pos_and_surw(name: &str, threads: f64, seeds: u64) {
    let pos = |seed| Strategy::Pos { seed, executions: 10_000 };
    let surw = |seed| Strategy::Surw { seed, executions: 10_000 };
    for mean in [mean_to_failure(name, pos, seeds), mean_to_failure(name, surw, seeds)] {
        assert!((0.1 * threads..4.0 * threads).contains(&mean), "{mean}");
    }
}

#[test]
fn pos_and_surw_find_the_one_thread_that_must_come_first() {
    is_found_by_pos_and_surw("reorder_30", 30.0, 5);
    is_missed("reorder_30", Strategy::Pct { seed: 1, depth: 3, executions: 100 });
}

#[test]
#[cfg_attr(debug_assertions, ignore = "slow without optimisation")]
fn pos_and_surw_find_the_one_of_a_hundred_that_must_come_first() {
    is_found_by_pos_and_surw("reorder_100", 100.0, 20);
}

#[test]
fn surw_alone_finds_a_thread_that_is_started_late_and_must_come_first() {
    let name = "reorder_started_40";
    let surw = mean_to_failure(name, |seed| Strategy::Surw { seed, executions: 10_000 }, 5);
    assert!(surw < 400.0, "{surw}");
    let (seed, executions) = (1, 200);
    is_missed(name, Strategy::Random { seed, executions });
    is_missed(name, Strategy::Pct { seed, depth: 3, executions });
    is_missed(name, Strategy::Pos { seed, executions });
}

#[test]
fn pos_finds_turns_of_threads_of_which_one_is_late() {
    let name = "alternate_40";
    let pos = mean_to_failure(name, |seed| Strategy::Pos { seed, executions: 20_000 }, 3);
    assert!(pos < 6_000.0, "{pos}");
    let (seed, executions) = (1, 2_000);
    is_missed(name, Strategy::Random { seed, executions });
    is_missed(name, Strategy::Pct { seed, depth: 3, executions });
}

/// Returns in how many of 2,000 executions PCT finds a mistake that needs one change of priorities.
fn found_by_pct(depth: u32) -> u32 {
    let tried: Program = "stack".parse().unwrap();
    let mut found = 0;
    let strategy = Strategy::Pct { seed: 3, depth, executions: 2_000 };
    explore(&Config::default(), strategy, program(tried), &mut |execution| {
        found += u32::from(execution.end != End::Finished);
        ControlFlow::Continue(())
    });
    found
}

#[test]
fn pct_finds_what_is_as_deep_as_it_is_told() {
    assert_eq!(found_by_pct(1), 0);
    // With as many steps as that program has, one change in a quarter of the executions.
    assert!((400..700).contains(&found_by_pct(2)), "{}", found_by_pct(2));
    assert!((400..700).contains(&found_by_pct(3)), "{}", found_by_pct(3));
}

#[test]
fn members_of_a_portfolio_learn_from_their_executions() {
    let tried: Program = "reorder_started_40".parse().unwrap();
    let surw = Strategy::Surw { seed: 1, executions: 2_000 };
    assert!(first_failure(Strategy::Portfolio(vec![surw]), program(tried)).is_some());
}

#[test]
fn every_sampler_draws_from_its_seed() {
    const EXECUTIONS: u64 = 20;
    let members: [fn(u64) -> Strategy; 6] = [
        |seed| Strategy::Random { seed, executions: EXECUTIONS },
        |seed| Strategy::Pct { seed, depth: 3, executions: EXECUTIONS },
        |seed| Strategy::Urw { seed, executions: EXECUTIONS },
        |seed| Strategy::Pos { seed, executions: EXECUTIONS },
        |seed| Strategy::Surw { seed, executions: EXECUTIONS },
        |seed| Strategy::Walk { seed, executions: EXECUTIONS },
    ];
    for member in members {
        let drawn = |seed| {
            let mut schedules = vec![];
            let tried: Program = "2p2a2w".parse().unwrap();
            explore(&Config::default(), member(seed), program(tried), &mut |execution| {
                schedules.push(execution.schedule.unwrap().to_string());
                ControlFlow::Continue(())
            });
            schedules
        };
        assert_eq!(drawn(1), drawn(1), "{:?}", member(1));
        assert_ne!(drawn(1), drawn(2), "{:?}", member(1));
    }
}

#[test]
fn the_portfolio_finds_every_mistake_of_the_toy_queue() {
    for (mistake, adds, workers) in [
        (Mistake::NoRequeue, 2, 1),
        (Mistake::ShutDownWakesOne, 1, 2),
        (Mistake::CheckThenAct, 2, 1),
    ] {
        let body: Body = Arc::new(move |runtime: &ShuttleRuntime| {
            queue_with_workers(runtime, mistake, 2, adds, workers);
        });
        let first = first_failure(Strategy::portfolio(1, 6_000), body);
        assert!(first.is_some(), "{mistake:?}");
    }
}

#[test]
fn a_portfolio_runs_every_execution_of_its_members() {
    let member = |executions| Strategy::Random { seed: 1, executions };
    let body: Body = Arc::new(|_| {});
    let run = |strategy| {
        explore(&Config::default(), strategy, Arc::clone(&body), &mut |_| ControlFlow::Continue(()))
            .executions
    };
    assert_eq!(run(Strategy::Portfolio(vec![member(3), member(0), member(5)])), 8);
    assert_eq!(run(Strategy::portfolio(1, 20)), 20);
    assert_eq!(run(Strategy::Portfolio(vec![])), 0);
}

/// Two threads of two and of four steps; returns how often each interleaving came.
fn interleavings(strategy: Strategy) -> BTreeMap<String, u64> {
    let body: Body = Arc::new(|runtime: &ShuttleRuntime| {
        let cell = Arc::new(runtime.published(Arc::new(0)));
        let writer = |steps: u8| {
            let (seam, cell) = (*runtime, Arc::clone(&cell));
            runtime.spawn("writer", move || {
                (0..steps).for_each(|step| seam.publish(&cell, Arc::new(step)));
            })
        };
        for writer in [writer(2), writer(4)] {
            runtime.join(writer).unwrap();
        }
    });
    let mut seen = BTreeMap::new();
    explore(&Config::default(), strategy, body, &mut |execution| {
        // The first execution tells the lengths of the threads and is a random walk.
        if execution.number > 1 {
            *seen.entry(execution.schedule.unwrap().to_string()).or_default() += 1;
        }
        ControlFlow::Continue(())
    });
    seen
}

#[test]
fn urw_and_surw_draw_every_interleaving_equally_often_and_random_does_not() {
    const EXECUTIONS: u64 = 7_501;
    let spread = |strategy| {
        let seen = interleavings(strategy);
        assert_eq!(seen.len(), 15, "4 of 6 places");
        *seen.values().max().unwrap() as f64 / *seen.values().min().unwrap() as f64
    };
    let urw = spread(Strategy::Urw { seed: 5, executions: EXECUTIONS });
    let surw = spread(Strategy::Surw { seed: 5, executions: EXECUTIONS });
    let random = spread(Strategy::Random { seed: 5, executions: EXECUTIONS });
    assert!(urw < 1.4, "{urw}");
    assert!(surw < 1.4, "{surw}");
    assert!(random > 3.0, "{random}");
}

#[test]
fn bytes_decide_and_zeros_let_threads_run() {
    let schedule_of = |bytes: &[u8]| {
        let mut schedule = Schedule::default();
        let body = program("2p1a1w".parse().unwrap());
        explore(&Config::default(), Strategy::Bytes(bytes.to_vec()), body, &mut |execution| {
            assert_eq!(execution.end, End::Finished);
            schedule = execution.schedule.unwrap().clone();
            ControlFlow::Continue(())
        });
        schedule
    };
    let quiet = schedule_of(&[]);
    assert_eq!(quiet, schedule_of(&[0; 40]));
    let first = |schedule: &Schedule| schedule.choices[0];
    assert_eq!(first(&quiet), Choice::Thread(1));
    assert_eq!(first(&schedule_of(&[1])), Choice::Thread(2));
    assert_eq!(first(&schedule_of(&[5])), Choice::Thread(3), "the rest of a division by three");
}

#[test]
fn bytes_decide_data_of_any_size() {
    for (options, bytes, answer) in
        [(2, vec![7], 1), (256, vec![255], 255), (70_000, vec![1, 0, 2], 65_538)]
    {
        let body: Body = Arc::new(move |runtime: &ShuttleRuntime| {
            assert_eq!(runtime.choose(options), answer);
        });
        assert_eq!(first_failure(Strategy::Bytes(bytes), body), None, "{options}");
    }
}
