//! A component with atomic numbers, and a mistake in their orderings that only an engine with weak
//! memory can find. For the other engines it is the same program.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::Ordering::{self, Acquire, Relaxed, Release};

use seatrial_core::runtime::{Atomic, Runtime};
use seatrial_models::engine::{End, Execution, Exploration, Judge, Schedule, loom, shuttle};

/// Hands one value from one thread to another; a flag says that the value is there.
struct Mailbox<R: Runtime> {
    value: R::Atomic,
    is_there: R::Atomic,
}

impl<R: Runtime> Mailbox<R> {
    fn new(runtime: &R) -> Self {
        Self { value: runtime.atomic(0), is_there: runtime.atomic(0) }
    }

    fn put(&self, value: u64, announced: Ordering) {
        self.value.store(value, Relaxed);
        self.is_there.store(1, announced);
    }

    fn take(&self, noticed: Ordering) -> Option<u64> {
        (self.is_there.load(noticed) == 1).then(|| self.value.load(Relaxed))
    }
}

/// One thread puts a value and another takes it: it gets that value or none.
fn hand_over<R: Runtime>(runtime: &R, announced: Ordering, noticed: Ordering) {
    let mailbox = Arc::new(Mailbox::new(runtime));
    let theirs = Arc::clone(&mailbox);
    let writer = runtime.spawn("writer", move || theirs.put(7, announced));
    if let Some(value) = mailbox.take(noticed) {
        assert_eq!(value, 7, "the flag came before the value");
    }
    runtime.join(writer).expect("to put does not panic");
}

/// The course of an exploration, and the route to its first violation.
#[derive(Debug, Default)]
struct Found {
    executions: u64,
    exhausted: bool,
    violation: Option<(End, Schedule)>,
}

fn first_violation(explore: impl FnOnce(&mut Judge<'_>) -> Exploration) -> Found {
    let mut violation = None;
    let explored = explore(&mut |execution: &Execution<'_>| {
        if execution.end == End::Finished {
            return ControlFlow::Continue(());
        }
        let schedule = execution.schedule.expect("an execution has one").clone();
        violation = Some((execution.end.clone(), schedule));
        ControlFlow::Break(())
    });
    let Exploration { executions, exhausted, .. } = explored;
    Found { executions, exhausted, violation }
}

fn on_loom(announced: Ordering, noticed: Ordering) -> Found {
    let body: loom::Body = Arc::new(move |runtime| hand_over(runtime, announced, noticed));
    first_violation(|judge| loom::explore(&loom::Config::default(), body, judge))
}

fn on_trace(announced: Ordering, noticed: Ordering) -> Found {
    let body: shuttle::Body = Arc::new(move |runtime| hand_over(runtime, announced, noticed));
    let strategy = shuttle::Strategy::Trace { executions: 1_000 };
    first_violation(|judge| shuttle::explore(&shuttle::Config::default(), strategy, body, judge))
}

#[test]
fn a_value_that_is_released_and_acquired_arrives_on_every_engine() {
    for found in [on_loom(Release, Acquire), on_trace(Release, Acquire)] {
        assert!(found.exhausted && found.violation.is_none(), "{found:?}");
        assert!(found.executions > 1, "{found:?}");
    }
}

#[test]
fn a_relaxed_flag_is_convicted_by_weak_memory_alone() {
    for (announced, noticed) in [(Relaxed, Acquire), (Release, Relaxed), (Relaxed, Relaxed)] {
        let found = on_loom(announced, noticed);
        let (end, _) = found.violation.expect("loom lets an older value be read");
        assert!(format!("{end:?}").contains("the flag came before the value"), "{end:?}");
        let found = on_trace(announced, noticed);
        assert!(found.exhausted && found.violation.is_none(), "{found:?}");
    }
}

#[test]
fn what_was_read_is_part_of_the_way_back() {
    let (end, schedule) = on_loom(Relaxed, Relaxed).violation.expect("it is found");
    for _ in 0..100 {
        let body: loom::Body = Arc::new(|runtime| hand_over(runtime, Relaxed, Relaxed));
        let config = loom::Config::default();
        let again = first_violation(|judge| loom::replay(&config, &schedule, body, judge));
        assert_eq!(again.violation, Some((end.clone(), schedule.clone())));
    }
    let text = schedule.to_string();
    assert!(text.contains("=1"), "the value before the newest was read: {text}");
    let newest: Schedule = text.replace("=1", "=0").parse().expect("it is a schedule");
    let body: loom::Body = Arc::new(|runtime| hand_over(runtime, Relaxed, Relaxed));
    let found =
        first_violation(|judge| loom::replay(&loom::Config::default(), &newest, body, judge));
    assert!(found.violation.is_none(), "{found:?}");
}
