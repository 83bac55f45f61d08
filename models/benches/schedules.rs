//! Schedules a second, for each strategy, on two producers and a worker at one queue; schedules
//! until a bug is found that needs one order of a hundred threads; states a second of the search
//! without threads.
//!
//! `cargo bench -p seatrial-models --features shuttle --bench schedules`

use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Instant;

use seatrial_core::queue::WorkQueue;
use seatrial_core::runtime::Runtime;
use seatrial_models::engine::End;
use seatrial_models::engine::shuttle::{Body, Config, ShuttleRuntime, Strategy, explore};
use seatrial_models::engine::state::{Callers, Limits, Rules, search};
use seatrial_models::queue::states::large;
use seatrial_models::toy::Program;

fn two_producers_and_a_worker(runtime: &ShuttleRuntime) {
    let queue = Arc::new(WorkQueue::<u8, ShuttleRuntime>::new(runtime));
    let work = Arc::clone(&queue);
    let worker = runtime.spawn("worker", move || work.work(|_| {}));
    let producers: Vec<_> = (0..2)
        .map(|key| {
            let queue = Arc::clone(&queue);
            runtime.spawn("producer", move || queue.add(key))
        })
        .collect();
    for producer in producers {
        runtime.join(producer).expect("a producer does not panic");
    }
    queue.shut_down();
    runtime.join(worker).expect("a worker does not panic");
}

fn main() {
    speed();
    until_found("reorder_100");
    until_found("reorder_started_40");
    states();
}

fn speed() {
    const EXECUTIONS: u64 = 200_000;
    let strategies = [
        ("random", Strategy::Random { seed: 1, executions: EXECUTIONS }),
        ("pct", Strategy::Pct { seed: 1, depth: 3, executions: EXECUTIONS }),
        ("pos", Strategy::Pos { seed: 1, executions: EXECUTIONS }),
        ("surw", Strategy::Surw { seed: 1, executions: EXECUTIONS }),
        ("urw", Strategy::Urw { seed: 1, executions: EXECUTIONS }),
    ];
    for (name, strategy) in strategies {
        let body: Body = Arc::new(two_producers_and_a_worker);
        let begun = Instant::now();
        let exploration = explore(&Config::default(), strategy, body, &mut |execution| {
            assert_eq!(execution.end, End::Finished);
            ControlFlow::Continue(())
        });
        let seconds = begun.elapsed().as_secs_f64();
        let (executions, steps) = (exploration.executions as f64, exploration.steps as f64);
        println!(
            "{name:8} {:>8.0} schedules/s {:>10.0} steps/s",
            executions / seconds,
            steps / seconds
        );
    }
}

/// Prints how many schedules each strategy needs until a program's known bug shows: ten seeds, at
/// most 10,000 schedules each.
fn until_found(name: &str) {
    const SEEDS: u64 = 10;
    let executions = 10_000;
    let program: Program = name.parse().expect("a program");
    type Make = fn(u64, u64) -> Strategy;
    let strategies: [(&str, Make); 5] = [
        ("random", |seed, executions| Strategy::Random { seed, executions }),
        ("pct", |seed, executions| Strategy::Pct { seed, depth: 3, executions }),
        ("pos", |seed, executions| Strategy::Pos { seed, executions }),
        ("surw", |seed, executions| Strategy::Surw { seed, executions }),
        ("walk", |seed, executions| Strategy::Walk { seed, executions }),
    ];
    for (strategy, make) in strategies {
        let firsts: Vec<u64> = (0..SEEDS)
            .filter_map(|seed| {
                let body: Body = Arc::new(move |runtime| {
                    program.run(runtime);
                });
                let mut first = None;
                explore(&Config::default(), make(seed, executions), body, &mut |execution| {
                    if execution.end == End::Finished {
                        return ControlFlow::Continue(());
                    }
                    first = Some(execution.number);
                    ControlFlow::Break(())
                });
                first
            })
            .collect();
        let mean = firsts.iter().sum::<u64>() as f64 / firsts.len().max(1) as f64;
        println!("{name}: {strategy:8} finds it in {} of {SEEDS}, mean {mean:.0}", firsts.len());
    }
}

/// Prints how fast states are visited, and how many there are with and without symmetry.
fn states() {
    for symmetric in [true, false] {
        let model = Callers { world: large(), rules: Rules { symmetric, ..Rules::default() } };
        let begun = Instant::now();
        let space = search(&model, Limits::default());
        assert!(space.wrong.is_empty(), "{:?}", space.wrong);
        let seconds = begun.elapsed().as_secs_f64();
        println!(
            "states{} {:>9} in {seconds:.2} s, {:.0}/s, {}",
            if symmetric { ", symmetric" } else { "" },
            space.states,
            space.states as f64 / seconds,
            if space.exhausted { "all" } else { "not all" }
        );
    }
}
