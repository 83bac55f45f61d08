//! Schedules a second, for each strategy, on two producers and a worker at one queue.
//!
//! `cargo bench -p seatrial-models --features shuttle --bench schedules`

use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Instant;

use seatrial_core::queue::WorkQueue;
use seatrial_core::runtime::Runtime;
use seatrial_models::engine::End;
use seatrial_models::engine::shuttle::{Body, Config, ShuttleRuntime, Strategy, explore};

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
