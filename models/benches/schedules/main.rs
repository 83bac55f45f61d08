//! Schedules a second, for each strategy, on two producers and a worker at one queue; schedules
//! until a bug is found that needs one order of a hundred threads; states a second of the search
//! without threads.
//!
//! The toy programs under our search, under plain loom and under plain shuttle in one run.
//!
//! `cargo bench -p seatrial-models --features loom,shuttle --bench schedules`; behind `--` a word
//! limits it to the parts whose names hold it.

mod plain;

use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::{Duration, Instant};

use seatrial_core::queue::WorkQueue;
use seatrial_core::runtime::Runtime;
use seatrial_models::engine::End;
use seatrial_models::engine::Engine;
use seatrial_models::engine::shuttle::{Body, Config, ShuttleRuntime, Strategy, explore};
use seatrial_models::engine::state::{Callers, Limits, Rules, search};
use seatrial_models::queue::states::large;
use seatrial_models::toy::{Program, Toy};
use seatrial_models::trial::{Budget, Plan, StopAt, subject};

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
    let parts: [(&str, fn()); 6] = [
        ("compared", compared),
        ("speed", speed),
        ("until found", || ["reorder_100", "reorder_started_40"].into_iter().for_each(until_found)),
        ("shell", shell),
        ("estimates", estimates),
        ("states", states),
    ];
    let word = std::env::args().skip(1).find(|word| !word.starts_with('-')).unwrap_or_default();
    let wanted = parts.iter().filter(|(name, _)| name.contains(&word));
    assert!(wanted.clone().count() > 0, "no part is called {word:?}: {:?}", parts.map(|it| it.0));
    wanted.for_each(|(_, run)| run());
}

/// Measures how long this thread has been on a processor, where the system tells; else how long it
/// took.
struct Watch(Instant, Option<Duration>);

impl Watch {
    fn start() -> Self {
        Self(Instant::now(), on_processor())
    }

    fn seconds(&self) -> f64 {
        let ran = self.1.zip(on_processor()).map(|(before, after)| after - before);
        ran.unwrap_or_else(|| self.0.elapsed()).as_secs_f64()
    }
}

fn on_processor() -> Option<Duration> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    Some(Duration::from_nanos(text.split_whitespace().next()?.parse().ok()?))
}

/// How long the search of another checker may take.
const PATIENCE: Duration = Duration::from_secs(10);

/// Prints what every search needs for the same programs.
fn compared() {
    for name in ["1p1a1w", "1p2a1w", "2p1a1w", "handoff_1p", "2p2a1w", "2p1a2w", "pair"] {
        let program: Program = name.parse().expect("a program");
        let mut rows = vec![("seatrial trace", traces(program))];
        if name != "pair" {
            rows.push(("plain loom", plain::loom(program, PATIENCE))); // it holds five threads
        }
        rows.push(("plain shuttle", plain::shuttle(program, PATIENCE)));
        for (search, done) in rows {
            let end = if done.finished { "finished" } else { "UNFINISHED" };
            let seconds = done.took.as_secs_f64();
            println!(
                "{name:10} {search:14} {:>10} executions {seconds:>8.3} s {end}",
                done.executions
            );
        }
    }
}

/// Runs one execution of every trace.
fn traces(program: Program) -> plain::Searched {
    let body: Body = Arc::new(move |runtime| {
        program.run(runtime);
    });
    let strategy = Strategy::Trace { executions: u64::MAX };
    let begun = Instant::now();
    let explored = explore(&Config::default(), strategy, body, &mut |_| ControlFlow::Continue(()));
    let (executions, finished) = (explored.executions, explored.exhausted);
    plain::Searched { executions, took: begun.elapsed(), finished }
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
        let begun = Watch::start();
        let exploration = explore(&Config::default(), strategy, body, &mut |execution| {
            assert_eq!(execution.end, End::Finished);
            ControlFlow::Continue(())
        });
        let seconds = begun.seconds();
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
        if name == "reorder_100" && matches!(strategy, "pos" | "surw") {
            assert!(firsts.len() as u64 == SEEDS && mean <= 150.0, "{strategy} fell short");
        }
    }
}

/// Explores the work queue itself, its shell and its machine: two producers add one item each, two
/// workers process, and the main thread shuts down, or waits until all is done.
fn shell() {
    for (name, strict, known) in [
        ("shutdown", None, 9_104),
        ("drain", Some(false), 15_656),
        ("strict drain", Some(true), 18_816),
    ] {
        let body: Body = Arc::new(move |runtime| {
            let queue = Arc::new(WorkQueue::<u8, ShuttleRuntime>::new(runtime));
            let spawn = |name: &str, run: fn(&WorkQueue<u8, ShuttleRuntime>, u8), key| {
                let queue = Arc::clone(&queue);
                runtime.spawn(name, move || run(&queue, key))
            };
            let workers = [0; 2].map(|key| spawn("worker", |queue, _| queue.work(|_| {}), key));
            let producers = [0, 1].map(|key| spawn("producer", |queue, key| queue.add(key), key));
            for producer in producers {
                runtime.join(producer).expect("a producer does not panic");
            }
            match strict {
                None => queue.shut_down(),
                Some(false) => queue.shut_down_with_drain(),
                Some(true) => queue.shut_down_when_done(),
            }
            for worker in workers {
                runtime.join(worker).expect("a worker does not panic");
            }
        });
        let mut traces = std::collections::HashSet::new();
        let strategy = Strategy::Trace { executions: 100_000_000 };
        let begun = Watch::start();
        let explored = explore(&Config::default(), strategy, body, &mut |execution| {
            assert_eq!(execution.end, End::Finished);
            traces.insert(execution.trace);
            ControlFlow::Continue(())
        });
        assert!(explored.exhausted);
        assert_eq!(explored.executions, traces.len() as u64, "no trace twice");
        assert_eq!(explored.executions, known, "{name}");
        let seconds = begun.seconds();
        println!("work queue, {name}: {} executions = traces, {seconds:.1} s", traces.len());
    }
}

/// Prints how well the number of traces is estimated: twenty seeds, three thousand schedules each.
fn estimates() {
    for (name, traces) in [
        ("2p1a1w", 76.0),
        ("handoff_2p", 720.0),
        ("2p2a1w", 5_124.0),
        ("pair", 5_776.0),
        ("2p1a2w", 9_104.0),
        ("3p1a2w", 734_256.0),
        ("2p2a2w", 13_992_840.0),
    ] {
        let lefts = (0..20).filter_map(|seed| {
            let budget = Budget { schedules: 3_000, ..Budget::smoke() };
            let (engine, stop_at) = (Engine::Sample, StopAt::End);
            let plan = Plan { engine, budget, seed, stop_at, minimise: false, time: None };
            subject::<Toy>().run(name, None, &plan)?.left
        });
        let lefts: Vec<_> = lefts.collect();
        let mut off: Vec<f64> = lefts
            .iter()
            .filter_map(|left| left.estimated_traces)
            .map(|about| (about / traces - 1.0).abs())
            .collect();
        off.sort_by(f64::total_cmp);
        let holds = |interval: &[f64; 2]| interval[0] <= traces && traces <= interval[1];
        let held = lefts.iter().filter_map(|left| left.estimated_traces_interval);
        let held = held.filter(holds).count();
        let median = off.get(off.len() / 2).map_or(f64::NAN, |off| off * 100.0);
        println!(
            "{name:10} {traces:>10} traces: {} estimates, off {median:.0} % in the median, \
             {held} intervals hold it",
            off.len()
        );
        assert!(held >= 16 && (median < 25.0 || traces > 10_000.0), "{name} is estimated badly");
    }
}

/// Prints how fast states are visited, and how many there are with and without symmetry.
fn states() {
    for (symmetric, known) in [(true, 2_126_322), (false, 3_821_618)] {
        let model = Callers { subject: large(), rules: Rules { symmetric, ..Rules::default() } };
        let begun = Instant::now();
        let space = search(&model, Limits::default());
        assert!(space.exhausted && space.wrong.is_empty(), "{:?}", space.wrong);
        assert_eq!(space.states, known);
        let seconds = begun.elapsed().as_secs_f64();
        println!(
            "states{} {:>9} in {seconds:.2} s, {:.0}/s, {:.0} steps/s",
            if symmetric { ", symmetric" } else { "" },
            space.states,
            space.states as f64 / seconds,
            space.steps as f64 / seconds
        );
    }
}
