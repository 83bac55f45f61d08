//! Our engines beside published figures: executions of programs that others have counted, states of models
//! that others have searched, and schedules until bugs show that others have looked for.
//!
//! `cargo bench -p seatrial --features loom,shuttle --bench published`; behind `--` a word limits it to the parts
//! whose names hold it. As a test it runs what is small, and asserts the same counts.

mod bugs;
mod counted;
mod noted;
mod two_phase;

use std::collections::HashSet;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Instant;

use seatrial::engine::shuttle::{Body, Config, Judging, Strategy, explore, explore_on_cores};
use seatrial::engine::state::{Limits, search};
use seatrial::engine::{End, Execution};

use bugs::{BUGGY, Buggy};
use counted::{COUNTED, Counted};
use noted::Notes;
use two_phase::TwoPhase;

/// In a test, programs with more executions than this are left out.
const SMALL: u64 = 200;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let most = if arguments.iter().any(|it| it == "--bench") { u64::MAX } else { SMALL };
    let parts = ["executions", "cores", "states", "schedules"];
    // A number belongs to an option of the test harness.
    let is_word = |it: &String| !it.starts_with('-') && it.parse::<u64>().is_err();
    let word = arguments.into_iter().find(is_word).unwrap_or_default();
    let is_option = most == SMALL && parts.iter().all(|it| !it.contains(&word));
    assert!(
        parts.iter().any(|it| it.contains(&word)) || is_option,
        "{word:?} is none of {parts:?}"
    );
    for part in parts.into_iter().filter(|it| it.contains(&word)) {
        match part {
            "executions" => executions(most),
            "cores" => cores(most),
            "states" => states(most),
            _ => schedules(most),
        }
    }
}

/// One execution of each trace: how many there are, how many classes they make, and whether any was in vain.
fn executions(most: u64) {
    println!("| program | from | published | classes | executions | in vain | s |");
    println!("|---|---|---|---|---|---|---|");
    for program in COUNTED {
        for &(size, count) in program.counts.iter().filter(|(_, count)| *count <= most) {
            executed(program, size, count);
        }
    }
}

fn executed(program: &Counted, size: usize, published: u64) {
    let notes = Notes::default();
    let body: Body = Arc::new({
        let (run, notes) = (program.run, notes.clone());
        move |runtime| run(runtime, size, &notes)
    });
    let (mut classes, mut traces) = (HashSet::new(), HashSet::new());
    let strategy = Strategy::Trace { executions: u64::MAX };
    let begun = Instant::now();
    let explored = explore(&Config::default(), strategy, body, &mut |execution| {
        assert_eq!(execution.end, End::Finished, "no execution is blocked");
        traces.insert(execution.trace);
        classes.insert(notes.take());
        ControlFlow::Continue(())
    });
    let seconds = begun.elapsed().as_secs_f64();
    let Counted { name, source, says, .. } = program;
    let (executions, traces) = (explored.executions, traces.len() as u64);
    // The classes of a program that has locks alone are its traces.
    let has_notes = classes.iter().any(|(written, read)| !written.is_empty() || !read.is_empty());
    let classes = if has_notes { classes.len() as u64 } else { traces };
    assert_eq!(has_notes, *source != "DPU", "{name}: what is noted");
    let in_vain = executions - traces;
    println!(
        "| {name}({size}) | {source} | {published} | {classes} | {executions} | {in_vain} | {seconds:.2} |"
    );
    assert!(explored.exhausted && in_vain == 0, "{name}({size}): {says}");
    assert_eq!(classes, published, "{name}({size}): {says}");
}

/// Counts executions, each on its own core's behalf.
#[derive(Default)]
struct Count {
    executions: u64,
    /// Of all, whatever their order.
    traces: u64,
}

impl Judging for Count {
    fn judge(&mut self, execution: &Execution<'_>) -> ControlFlow<()> {
        self.executions += 1;
        self.traces = self.traces.wrapping_add(execution.trace.expect("it has one"));
        ControlFlow::Continue(())
    }

    fn absorb(&mut self, next: Self, before: u64) {
        assert_eq!(self.executions, before);
        self.executions += next.executions;
        self.traces = self.traces.wrapping_add(next.traces);
    }
}

/// One search on one core and on two: the same executions, in less time.
fn cores(most: u64) {
    println!("\n| program | executions | s on one core | s on two | ratio |");
    println!("|---|---|---|---|---|");
    for (name, size) in [("Pi", 5), ("Pi", 8), ("Mpat", 7)] {
        let program = COUNTED.iter().find(|it| it.name == name).expect("it is counted");
        let count = program.counts.iter().find(|it| it.0 == size).expect("of that size").1;
        if count > most {
            continue;
        }
        let run = program.run;
        let begin = || -> (Body, Count) {
            let notes = Notes::default();
            (Arc::new(move |runtime| run(runtime, size, &notes)), Count::default())
        };
        let [one, two] = [0, 1].map(|helpers| {
            let begun = Instant::now();
            let (explored, counted, _) =
                explore_on_cores(&Config::default(), u64::MAX, helpers, &begin);
            assert!(explored.exhausted && explored.executions == counted.executions, "{name}");
            (begun.elapsed().as_secs_f64(), counted)
        });
        assert_eq!((one.1.executions, one.1.traces), (two.1.executions, two.1.traces), "{name}");
        let (executions, ratio) = (one.1.executions, two.0 / one.0);
        println!("| {name}({size}) | {executions} | {:.2} | {:.2} | {ratio:.2} |", one.0, two.0);
    }
}

/// The states of two-phase commit: as TLC and stateright count them.
fn states(most: u64) {
    println!("\n| model | published | states | steps | s | states/s |");
    println!("|---|---|---|---|---|---|");
    for (managers, published) in [(3, 288), (5, 8_832), (10, 61_515_776)] {
        if most == SMALL && managers > 5 {
            continue;
        }
        let begun = Instant::now();
        let space = search(&TwoPhase(managers), Limits::default());
        let (seconds, states) = (begun.elapsed().as_secs_f64(), space.states as u64);
        let speed = states as f64 / seconds;
        let steps = space.steps;
        println!(
            "| 2pc({managers}) | {published} | {states} | {steps} | {seconds:.2} | {speed:.0} |"
        );
        assert!(space.exhausted && space.reached && space.wrong.is_empty(), "{:?}", space.wrong);
        assert_eq!(states, published);
    }
}

type Make = fn(u64, u64) -> Strategy;

const SAMPLERS: [(&str, Make); 6] = [
    ("random", |seed, executions| Strategy::Random { seed, executions }),
    ("PCT-3", |seed, executions| Strategy::Pct { seed, depth: 3, executions }),
    ("PCT-10", |seed, executions| Strategy::Pct { seed, depth: 10, executions }),
    ("POS", |seed, executions| Strategy::Pos { seed, executions }),
    ("URW", |seed, executions| Strategy::Urw { seed, executions }),
    ("SURW", |seed, executions| Strategy::Surw { seed, executions }),
];

/// Schedules to the first bug: mean and deviation over twenty seeds, at most 10,000 schedules each.
fn schedules(most: u64) {
    let (seeds, cap) = if most == u64::MAX { (20, 10_000) } else { (2, 500) };
    let names = SAMPLERS.map(|(name, _)| name).join(" | ");
    println!(
        "\nOurs, and published in parentheses; [n]: how many of {seeds} seeds find it; `-`: none; `?`: not published.\n"
    );
    println!("| program | {names} |\n|---|---|---|---|---|---|---|");
    for buggy in BUGGY {
        let cell = |(at, (_, make)): (usize, &(&str, Make))| {
            let firsts: Vec<u64> =
                (0..seeds).filter_map(|seed| first(buggy, make(seed, cap))).collect();
            format!("{} ({})", shown(&firsts, seeds), buggy.published[at])
        };
        let cells: Vec<String> = SAMPLERS.iter().enumerate().map(cell).collect();
        println!("| {} | {} |", buggy.name, cells.join(" | "));
        assert!(cells.iter().any(|it| !it.starts_with("- ")), "{}: nobody finds it", buggy.name);
    }
}

/// The first schedule that shows a bug.
fn first(buggy: &'static Buggy, strategy: Strategy) -> Option<u64> {
    let body: Body = Arc::new(move |runtime| buggy.run.run(runtime));
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

fn shown(firsts: &[u64], seeds: u64) -> String {
    let count = firsts.len() as f64;
    let mean = firsts.iter().sum::<u64>() as f64 / count;
    let variance = firsts.iter().map(|it| (*it as f64 - mean).powi(2)).sum::<f64>() / count;
    match firsts.len() as u64 {
        0 => "-".to_owned(),
        found if found == seeds => format!("{mean:.0}±{:.0}", variance.sqrt()),
        found => format!("{mean:.0}±{:.0} [{found}]", variance.sqrt()),
    }
}
