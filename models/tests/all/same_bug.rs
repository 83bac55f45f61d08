//! A witness that is made small shows the same bug as before, and no other bug.

use std::sync::Arc;

use seatrial_core::runtime::Runtime;
use seatrial_models::engine::Engine;
use seatrial_models::trial::{
    Budget, Component, HistoryOf, Invariant, MachineOf, NoMachine, Plan, Scenario, StopAt,
    Violation, subject,
};

/// Two threads compete for a lock; each of two promises forbids one of the possible orders.
struct Race;

impl Component for Race {
    type Machine = NoMachine;
    const NAME: &'static str = "race";
    const SAYS: &'static str = "two threads, of which one comes first";

    fn machine() -> MachineOf<Self> {
        Box::new(NoMachine)
    }
    fn scenarios() -> Vec<Scenario<Self>> {
        vec![to_the_lock()]
    }
    fn invariants() -> Vec<Invariant<Self>> {
        vec![
            Invariant::always("main_is_first", "main comes first", &[], |history| {
                never_begins_with(history, &[1])
            }),
            Invariant::always("main_comes_twice", "nobody comes between", &[], |history| {
                never_begins_with(history, &[0, 1])
            }),
        ]
    }
}

fn never_begins_with(history: &HistoryOf<Race>, wrong: &[u64]) -> Result<(), Violation> {
    let came: Vec<_> = history.events.iter().filter_map(|event| event.noted("came")).collect();
    if came.starts_with(wrong) {
        return Err(Violation::overall(format!("threads {wrong:?} come first")));
    }
    Ok(())
}

fn to_the_lock() -> Scenario<Race> {
    Scenario::new(
        "to_the_lock",
        "both take a lock three times",
        |world| {
            let lock = Arc::new(world.runtime().mutex(()));
            let (theirs, inner) = (Arc::clone(&lock), world.clone());
            let other = world.spawn("other", move || {
                for _ in 0..3 {
                    let _held = inner.runtime().lock(&theirs);
                    inner.note("came", 1);
                }
            });
            for _ in 0..3 {
                let _held = world.runtime().lock(&lock);
                world.note("came", 0);
            }
            world.join(other);
        },
        |history| history.finished(),
    )
}

#[test]
fn a_finding_that_is_made_small_breaks_what_it_broke() {
    let subject = subject::<Race>();
    for engine in [Engine::Sample, Engine::Trace] {
        let plan = Plan {
            engine,
            budget: Budget::smoke(),
            seed: 0,
            stop_at: StopAt::End,
            minimise: true,
            time: None,
        };
        let trial = subject.run("to_the_lock", None, &plan).expect("there is one");
        let mut found: Vec<_> = trial.findings.iter().map(|finding| finding.invariant).collect();
        found.sort_unstable();
        assert_eq!(found, ["main_comes_twice", "main_is_first"], "{engine}");
        for finding in &trial.findings {
            let route = finding.route.as_ref().expect("it leads there");
            let again = subject.replay("to_the_lock", None, engine, route).expect("it is followed");
            let broken: Vec<_> = again.findings.iter().map(|it| it.invariant).collect();
            assert_eq!(broken, [finding.invariant], "{engine}: {route}");
            // A thread that comes in between interrupts main; the other may run as soon as it is
            // started.
            let least = u32::from(finding.invariant == "main_comes_twice");
            assert_eq!((finding.preemptions, finding.proved_minimum), (Some(least), Some(true)));
        }
    }
}
