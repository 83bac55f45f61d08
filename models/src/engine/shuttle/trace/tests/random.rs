//! On random programs, the search finds exactly the traces that the search without reduction
//! finds, each once. No execution is cut short for being redundant: the search would panic.

use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use super::program::{Features, Generator, run};
use super::{Config, Strategy, WakeUps, search};
use crate::engine::quietly;
use crate::engine::shuttle::trace::weak::Weakness;

/// What a comparison covered.
#[derive(Default, Debug)]
struct Covered {
    compared: u32,
    skipped: u32,
    with_deadlock: u32,
    with_several_traces: u32,
    traces: u64,
    schedules: u64,
}

impl Covered {
    fn add(&mut self, more: Self) {
        self.compared += more.compared;
        self.skipped += more.skipped;
        self.with_deadlock += more.with_deadlock;
        self.with_several_traces += more.with_several_traces;
        self.traces += more.traces;
        self.schedules += more.schedules;
    }
}

/// Compares the two searches on a program.
fn compare(seed: u64, features: Features, config: &Config, most: u64, covered: &mut Covered) {
    let mut generator = Generator::new(seed, features);
    let (threads, budget) = (2 + generator.below(2) as usize, 2 + generator.below(4) as u32);
    let program = Arc::new(generator.program(threads, budget));
    let explore = |strategy| {
        let program = Arc::clone(&program);
        search(config, strategy, move |runtime| run(runtime, &program, features.locks))
    };
    let all = explore(Strategy::All { preemptions: None, executions: most });
    if !all.exhausted {
        covered.skipped += 1;
        return;
    }
    let context = || format!("seed {seed}, {features:?}, {config:?}: {program:?}");
    let reduced = explore(Strategy::Trace { executions: most });
    assert!(reduced.exhausted, "{}", context());
    assert_eq!(reduced.executions, reduced.traces.len() as u64, "a trace twice: {}", context());
    assert_eq!(reduced.traces.len(), all.traces.len(), "{}", context());
    assert_eq!(reduced.traces, all.traces, "{}", context());
    assert_eq!(reduced.outcomes, all.outcomes, "{}", context());
    covered.compared += 1;
    covered.with_deadlock += u32::from(all.deadlocks > 0);
    covered.with_several_traces += u32::from(all.traces.len() > 1);
    covered.traces += reduced.executions;
    covered.schedules += all.executions;
}

fn config(nth: u64) -> Config {
    Config {
        wake_ups: if nth.is_multiple_of(3) { WakeUps::InOrder } else { WakeUps::Any },
        ..Config::default()
    }
}

/// Programs of one kind, and under which rules they run.
#[derive(Clone, Copy)]
struct Kind {
    features: Features,
    config: fn(u64) -> Config,
}

impl Kind {
    /// Compares programs, up to so many schedules each; programs that have more are passed over.
    fn compare(&self, programs: std::ops::Range<u64>, most: u64) -> Covered {
        let mut covered = Covered::default();
        for seed in programs {
            let features =
                Features { locks: 1 + seed as usize % self.features.locks, ..self.features };
            compare(seed, features, &(self.config)(seed), most, &mut covered);
        }
        covered
    }
}

const PLAIN: Features = Features { locks: 3, data: false, cells: false, time: false };
const TIMED: Features = Features { time: true, ..PLAIN };

const KINDS: [(&str, Kind); 7] = [
    ("locks and condition variables", Kind { features: PLAIN, config }),
    ("choices of data", Kind { features: Features { data: true, ..PLAIN }, config }),
    ("published values", Kind { features: Features { cells: true, ..PLAIN }, config }),
    ("deadlines at a standstill", Kind { features: TIMED, config }),
    (
        "deadlines at any time",
        Kind {
            features: TIMED,
            config: |nth| Config { free_jumps: 1 + (nth % 2) as u32, ..config(nth) },
        },
    ),
    (
        "spurious wake-ups",
        Kind { features: PLAIN, config: |nth| Config { spurious_wake_ups: 1, ..config(nth) } },
    ),
    (
        "everything",
        Kind {
            features: Features { locks: 2, data: true, cells: true, time: true },
            config: |nth| Config {
                free_jumps: 1,
                spurious_wake_ups: (nth % 2) as u32,
                ..config(nth)
            },
        },
    ),
];

#[test]
fn few_programs_of_every_kind_have_the_traces_of_the_search_without_reduction() {
    for (name, kind) in KINDS {
        let covered = kind.compare(0..60, 1_000);
        assert!(covered.compared > 15, "{name}: {covered:?}");
        assert!(covered.with_several_traces > 15, "{name}: {covered:?}");
    }
}

/// A program by its kind and its seed.
type Known = (&'static str, u64);

/// Returns the programs of all kinds that find out a search which forgets something, so many of
/// them at most. A weakened search may panic, or do the same for ever.
fn convictions(weakness: Weakness, seeds: Range<u64>, most: u64, wanted: usize) -> Vec<Known> {
    let programs = move || {
        weakness.choose();
        let kinds = KINDS.into_iter().flat_map(|kind| seeds.clone().map(move |seed| (kind, seed)));
        let notices = |((name, kind), seed): ((&'static str, Kind), u64)| {
            let compare = || kind.compare(seed..seed + 1, most);
            let compared = quietly(|| catch_unwind(AssertUnwindSafe(compare)));
            compared.is_err().then_some((name, seed))
        };
        kinds.filter_map(notices).take(wanted).collect()
    };
    // What a panic leaves behind in the engine must not meet the next one.
    std::thread::spawn(programs).join().expect("panics are caught")
}

#[test]
fn few_programs_find_out_a_search_that_forgets_something() {
    let is_unnoticed = |weakness: &Weakness| convictions(*weakness, 0..60, 1_000, 1).is_empty();
    let unnoticed: Vec<_> = Weakness::ALL.into_iter().filter(is_unnoticed).collect();
    assert_eq!(unnoticed, []);
}

#[test]
#[cfg_attr(debug_assertions, ignore = "minutes without optimisation")]
fn how_many_programs_find_out_a_search_that_forgets_something() {
    for weakness in Weakness::ALL {
        let found = convictions(weakness, 0..720, 5_000, usize::MAX);
        println!("{weakness:?}: {} programs, {:?}", found.len(), &found[..found.len().min(5)]);
        assert!(!found.is_empty(), "{weakness:?}");
    }
}

#[test]
#[cfg_attr(debug_assertions, ignore = "minutes without optimisation")]
fn five_thousand_programs_have_the_traces_of_the_search_without_reduction() {
    const WANTED: u32 = 5_000;
    let mut compared = 0;
    for (name, kind) in KINDS {
        let mut covered = Covered::default();
        while covered.compared <= WANTED / KINDS.len() as u32 {
            let seed = u64::from(covered.compared + covered.skipped);
            covered.add(kind.compare(seed..seed + 1, 20_000));
        }
        println!("{name}: {covered:?}");
        assert!(covered.with_several_traces > covered.compared / 3, "{name}: {covered:?}");
        compared += covered.compared;
    }
    assert!(compared >= WANTED, "{compared}");
}
