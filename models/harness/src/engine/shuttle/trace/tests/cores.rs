//! On several cores the search runs the executions that it runs on one, in the same order.

use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use seatrial_core::runtime::Runtime as _;

use super::super::super::cores::explore_lending;
use super::super::super::part::Lends;
use super::super::super::{Body, Config, Judging, ShuttleMutex, explore, explore_on_cores};
use super::super::weak::Weakness;
use super::random::{KINDS, programs};
use super::{ShuttleRuntime, Strategy, in_order};
use crate::engine::{End, Execution, Exploration, quietly};
use crate::toy::{Mistake, Program, queue_with_workers};

/// What was seen of every execution, in order.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
struct Seen {
    executions: Vec<(String, u64, u64)>,
    /// Whether the first failure ends the search.
    stops: bool,
    /// The trace that the judge cannot bear.
    panics_at: Option<u64>,
    diverged: bool,
    /// How many executions were taken over.
    taken: usize,
}

impl Judging for Seen {
    fn judge(&mut self, execution: &Execution<'_>) -> ControlFlow<()> {
        assert_eq!(execution.number, self.executions.len() as u64 + 1);
        let count = self.executions.len();
        assert!(execution.trace != self.panics_at, "the judge fails after {count}");
        let schedule = execution.schedule.expect("it has one").to_string();
        self.executions.push((schedule, execution.trace.expect("it has one"), execution.steps));
        self.diverged |= matches!(execution.end, End::Diverged(_));
        match &execution.end {
            End::Deadlock(_) | End::Panicked(_) if self.stops => ControlFlow::Break(()),
            _ => ControlFlow::Continue(()),
        }
    }

    fn absorb(&mut self, next: Self, before: u64) {
        assert_eq!(before, self.executions.len() as u64);
        self.diverged |= next.diverged;
        self.taken += next.executions.len();
        self.executions.extend(next.executions);
    }
}

/// A search to be repeated.
struct Search {
    config: Config,
    body: Body,
    executions: u64,
    stops: bool,
    panics_at: Option<u64>,
}

impl Search {
    fn new(config: Config, body: Body) -> Self {
        Self { config, body, executions: u64::MAX, stops: false, panics_at: None }
    }

    fn begin(&self) -> (Body, Seen) {
        (
            Arc::clone(&self.body),
            Seen { stops: self.stops, panics_at: self.panics_at, ..Seen::default() },
        )
    }

    fn alone(&self) -> (Exploration, Seen) {
        let (body, mut seen) = self.begin();
        let strategy = Strategy::Trace { executions: self.executions };
        let explored = explore(&self.config, strategy, body, &mut |it| seen.judge(it));
        (explored, seen)
    }

    /// Tells also how many executions were taken over.
    fn lending(&self, lends: Lends) -> ((Exploration, Seen), usize) {
        let begin = || self.begin();
        let (explored, mut seen, shared) =
            explore_lending(lends, &self.config, self.executions, &begin);
        let taken = std::mem::take(&mut seen.taken);
        assert!(shared || taken == 0);
        ((explored, seen), taken)
    }

    fn eagerly(&self) -> (Exploration, Seen) {
        self.lending(Lends::AtOnce).0
    }

    fn on_cores(&self, helpers: usize) -> (Exploration, Seen) {
        let begin = || self.begin();
        let (explored, seen, _) = explore_on_cores(&self.config, self.executions, helpers, &begin);
        (explored, Seen { taken: 0, ..seen })
    }

    /// Compares all of them; returns what was found.
    fn compare(&self, name: &str) -> (Exploration, Seen) {
        let alone = self.alone();
        if alone.0.executions < 300 {
            assert_eq!(self.eagerly(), alone, "{name}: every part in advance");
            assert_eq!(self.lending(Lends::ToAnother).0, alone, "{name}: every part elsewhere");
        }
        for helpers in 0..3 {
            assert_eq!(self.on_cores(helpers), alone, "{name}: {helpers} helpers");
        }
        alone
    }
}

fn toy(name: &'static str, config: Config) -> Search {
    let program: Program = name.parse().unwrap();
    Search::new(config, Arc::new(move |runtime| _ = program.run(runtime)))
}

#[test]
fn any_number_of_cores_runs_the_same_executions_in_the_same_order() {
    for name in ["1p2a1w", "2p1a1w", "handoff_nested_2p", "opposite_locks"] {
        let (explored, _) = toy(name, Config::default()).compare(name);
        assert!(explored.exhausted, "{name}");
    }
    toy("2p1a1w", in_order()).compare("in order");
}

/// Two threads that take one lock, which is another one the second time that the program runs.
fn two_threads(is_same: bool, after: fn(&ShuttleRuntime, [u32; 2])) -> Search {
    let runs = AtomicU32::new(0);
    let body = move |runtime: &ShuttleRuntime| {
        let is_second = runs.fetch_add(1, Ordering::Relaxed) == 1;
        let locks = [Arc::new(runtime.mutex(0)), Arc::new(runtime.mutex(0))];
        let lock = &locks[usize::from(is_second && !is_same)];
        let seam = *runtime;
        let adds = || {
            let lock = Arc::clone(lock);
            runtime.spawn("adds", move || {
                let mut count = seam.lock(&lock);
                *count += 1;
                *count
            })
        };
        let threads = [adds(), adds()];
        after(runtime, threads.map(|thread| runtime.join(thread).unwrap()));
    };
    Search::new(Config::default(), Arc::new(body))
}

#[test]
fn what_another_core_has_explored_is_taken_over() {
    let search = two_threads(true, |_, _| {});
    let alone = search.alone();
    assert_eq!(alone.1.executions.len(), 2);
    assert_eq!(search.lending(Lends::ToAnother), (alone.clone(), 1));
    assert_eq!(search.lending(Lends::AtOnce), (alone, 1));
}

#[test]
fn a_part_that_diverges_is_not_forgotten() {
    let alone = two_threads(false, |_, _| {}).alone();
    assert!(alone.1.diverged && !alone.0.exhausted);
    for lends in [Lends::AtOnce, Lends::ToAnother] {
        assert_eq!(two_threads(false, |_, _| {}).lending(lends), (alone.clone(), 1));
    }
}

#[test]
fn a_part_with_a_stack_that_is_stuck_is_left_to_the_search() {
    struct Locks<'a>(&'a ShuttleMutex<()>);
    impl Drop for Locks<'_> {
        fn drop(&mut self) {
            drop(ShuttleRuntime.lock(self.0));
        }
    }
    let begin = |executions| {
        let search = two_threads(true, |runtime, order| {
            let mutex = runtime.mutex(());
            let held = (order == [2, 1]).then(|| runtime.lock(&mutex));
            let _first = Locks(&mutex);
            let _held = held;
            let _locks = Locks(&mutex);
            assert!(order == [1, 2], "while holding");
        });
        Search { executions, ..search }
    };
    for executions in [1, u64::MAX] {
        let of_thread = |explore: fn(&Search) -> (Exploration, Seen)| {
            let explore = move || (explore(&begin(executions)), std::thread::panicking());
            std::thread::spawn(explore).join().unwrap()
        };
        let alone = of_thread(Search::alone);
        assert_eq!(alone.1, executions > 1, "it is met");
        assert_eq!(of_thread(|search| search.lending(Lends::ToAnother).0), alone);
    }
}

#[test]
fn any_number_of_cores_stops_at_the_same_execution() {
    for executions in [1, 7, 50, 75, 76, 77] {
        let search = Search { executions, ..toy("2p1a1w", Config::default()) };
        let (explored, seen) = search.compare("a budget");
        assert_eq!(explored.executions, executions.min(76));
        assert_eq!(
            (explored.exhausted, seen.executions.len() as u64),
            (executions >= 76, executions.min(76))
        );
    }
    for (mistake, producers, adds, workers) in [
        (Mistake::NoRequeue, 1, 2, 1),
        (Mistake::ShutDownWakesOne, 1, 1, 2),
        (Mistake::CheckThenAct, 1, 2, 1),
    ] {
        let body = move |runtime: &ShuttleRuntime| {
            let _seen = queue_with_workers(runtime, mistake, producers, adds, workers);
        };
        let search = Search { stops: true, ..Search::new(Config::default(), Arc::new(body)) };
        let (explored, _) = search.compare("a mistake");
        assert!(!explored.exhausted, "{mistake:?} is found");
    }
}

#[test]
fn random_programs_are_searched_alike_on_any_number_of_cores() {
    for (name, kind) in KINDS {
        let mut several = 0;
        for (config, body) in programs(&kind, 0..40) {
            let search = Search { executions: 150, ..Search::new(config, body) };
            let (explored, _) = search.compare(name);
            several += u32::from(explored.executions > 5);
        }
        assert!(several > 5, "{name}: {several} of some size");
    }
}

#[test]
fn a_part_that_is_refused_ends_as_it_does_on_one_core() {
    let body = |runtime: &ShuttleRuntime| {
        let (seam, lock) = (*runtime, Arc::new(runtime.mutex(0)));
        let spawn = || {
            let lock = Arc::clone(&lock);
            runtime.spawn("adds", move || *seam.lock(&lock) += 1)
        };
        let first = [spawn(), spawn(), spawn()];
        let are_done = *runtime.lock(&lock) == 3;
        let more: Vec<_> = (0..if are_done { 20 } else { 0 }).map(|_| spawn()).collect();
        for thread in first.into_iter().chain(more) {
            runtime.join(thread).unwrap();
        }
    };
    let search = Search::new(Config::default(), Arc::new(body));
    let (explored, seen) = search.compare("refused");
    assert!(!explored.exhausted && seen.executions.len() > 1, "{seen:?}");
}

#[test]
fn a_part_whose_new_thread_never_takes_a_step_is_left_to_the_search() {
    let body = |runtime: &ShuttleRuntime| {
        let seam = *runtime;
        let locks = Arc::new([0; 3].map(|it| runtime.mutex(it)));
        let held = runtime.lock(&locks[0]);
        let theirs = Arc::clone(&locks);
        let waits = runtime.spawn("waits", move || {
            *seam.lock(&theirs[1]) = 1;
            let _second = seam.lock(&theirs[2]);
            drop(seam.lock(&theirs[0]));
        });
        if *runtime.lock(&locks[1]) == 1 {
            let theirs = Arc::clone(&locks);
            let late = runtime.spawn("late", move || *seam.lock(&theirs[2]) += 1);
            runtime.join(late).unwrap(); // never, if the other one has the lock
        }
        drop(held);
        runtime.join(waits).unwrap();
    };
    let (_, seen) = Search::new(Config::default(), Arc::new(body)).compare("deadlocks");
    assert!(seen.executions.len() > 2, "{seen:?}");
}

#[test]
fn a_judge_that_panics_is_heard_as_on_one_core() {
    let all = toy("2p1a1w", Config::default()).alone().1.executions;
    let panics_at = Some(all[40].1);
    let search = Search { panics_at, ..toy("2p1a1w", Config::default()) };
    let text = |explore: &dyn Fn() -> (Exploration, Seen)| {
        let panic = quietly(|| catch_unwind(AssertUnwindSafe(explore))).expect_err("it panics");
        crate::engine::panic_text(&*panic)
    };
    assert_eq!(text(&|| search.alone()), "the judge fails after 40");
    assert_eq!(text(&|| search.eagerly()), "the judge fails after 40");
    let handed_over = || search.lending(Lends::ToAnother).0;
    assert_eq!(text(&handed_over), "the judge fails after 40");
    assert_eq!(text(&|| search.on_cores(2)), "the judge fails after 40");
}

#[test]
fn a_search_that_forgets_what_loans_need_is_found_out() {
    for weakness in [Weakness::EndOfLoan, Weakness::Owed, Weakness::SleepOfLoan] {
        let notices = move || {
            weakness.choose();
            let differs = |search: &Search| {
                let compare = || assert_eq!(search.eagerly(), search.alone());
                quietly(|| catch_unwind(AssertUnwindSafe(compare))).is_err()
            };
            KINDS.iter().any(|(_, kind)| {
                programs(kind, 0..60).any(|(config, body)| {
                    differs(&Search { executions: 300, ..Search::new(config, body) })
                })
            })
        };
        assert!(std::thread::spawn(notices).join().unwrap(), "{weakness:?}");
    }
}
