//! On random programs, the search finds exactly the traces that the search without reduction
//! finds, each once. No execution is cut short for being redundant: the search would panic.

use std::sync::Arc;

use super::program::{Features, Generator, Instruction, run};
use super::{Body, Config, ShuttleRuntime, Strategy, WakeUps, search};

/// Counts of what a comparison covered.
#[derive(Default, Debug)]
pub(super) struct Covered {
    pub(super) compared: u32,
    pub(super) skipped: u32,
    with_deadlock: u32,
    pub(super) with_several_traces: u32,
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

/// Compares the two searches on a random program.
fn compare(seed: u64, features: Features, config: &Config, most: u64, covered: &mut Covered) {
    let mut generator = Generator::new(seed, features);
    let (threads, budget) = (2 + generator.below(2) as usize, 2 + generator.below(4) as u32);
    let program = generator.program(threads, budget);
    agree(&program, features.locks, seed.is_multiple_of(2), config, most, covered);
}

/// Compares the two searches on a program, unless the one without reduction runs too many.
pub(super) fn agree(
    program: &[Vec<Instruction>],
    locks: usize,
    takes_part: bool,
    config: &Config,
    most: u64,
    covered: &mut Covered,
) {
    let program: Arc<[_]> = program.into();
    let explore = |strategy| {
        let program = Arc::clone(&program);
        search(config, strategy, move |runtime| run(runtime, &program, locks, takes_part))
    };
    let all = explore(Strategy::All { preemptions: None, executions: most });
    if !all.exhausted {
        covered.skipped += 1;
        return;
    }
    let context = || format!("{takes_part} {config:?}: {program:?}");
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
pub(super) struct Kind {
    features: Features,
    config: fn(u64) -> Config,
}

impl Kind {
    /// Compares programs, up to this number of schedules each; programs that have more are passed over.
    pub(super) fn compare(&self, programs: std::ops::Range<u64>, most: u64) -> Covered {
        let mut covered = Covered::default();
        for seed in programs {
            let features =
                Features { locks: 1 + seed as usize % self.features.locks, ..self.features };
            compare(seed, features, &(self.config)(seed), most, &mut covered);
        }
        covered
    }
}

/// Returns programs of one kind, and under which rules they run.
pub(super) fn programs(
    kind: &Kind,
    seeds: std::ops::Range<u64>,
) -> impl Iterator<Item = (Config, Body)> {
    let Kind { features, config } = *kind;
    seeds.map(move |seed| {
        let mut generator = Generator::new(seed, features);
        let program: Arc<[_]> = generator.program(3, 4).into();
        let body = move |runtime: &ShuttleRuntime| {
            run(runtime, &program, features.locks, seed.is_multiple_of(2));
        };
        let body: Body = Arc::new(body);
        (config(seed), body)
    })
}

const PLAIN: Features =
    Features { locks: 3, data: false, cells: false, time: false, shared: false };
const TIMED: Features = Features { time: true, ..PLAIN };

pub(super) const KINDS: [(&str, Kind); 8] = [
    ("locks and condition variables", Kind { features: PLAIN, config }),
    ("choices of data", Kind { features: Features { data: true, ..PLAIN }, config }),
    ("published values", Kind { features: Features { cells: true, ..PLAIN }, config }),
    (
        "atomic numbers and read-write locks",
        Kind { features: Features { shared: true, ..PLAIN }, config },
    ),
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
            features: Features { locks: 2, data: true, cells: true, time: true, shared: false },
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
