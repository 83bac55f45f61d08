use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use super::*;
use crate::trial::{
    Budget, Component, Invariant, MachineOf, Mutant, NoMachine, Scenario, World, mutants, subject,
};

/// Two threads that do nothing wrong, whatever becomes of the machine.
struct Harmless;

impl Component for Harmless {
    type Machine = NoMachine;
    const NAME: &'static str = "harmless";
    const SAYS: &'static str = "two threads that do nothing wrong";

    fn machine() -> MachineOf<Self> {
        Box::new(NoMachine)
    }

    fn scenarios() -> Vec<Scenario<Self>> {
        let two_threads = |name| {
            let run = |world: &World<Self>| world.join(world.spawn("other", || ()));
            Scenario::new(name, "two threads end", run, |history| history.finished())
        };
        ["a", "b", "c", "d", "e", "f", "g", "h"].map(two_threads).into()
    }

    fn invariants() -> Vec<Invariant<Self>> {
        Vec::new()
    }

    fn mutants() -> Vec<Mutant<Self>> {
        fn same(machine: NoMachine) -> MachineOf<Harmless> {
            Box::new(machine)
        }
        mutants! { same: Equivalent("it is the same") "same" from "made up": (NoMachine) breaks []; }
    }
}

/// How long this thread has been on a processor, if the system tells.
fn on_processor() -> Option<Duration> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    Some(Duration::from_nanos(text.split_whitespace().next()?.parse().ok()?))
}

#[test]
fn scenarios_share_the_time_of_their_mutant() {
    let subject = subject::<Harmless>();
    let mutant = &subject.mutants()[0];
    let time = Some(Duration::from_millis(500));
    let plan = Plan {
        engine: Engine::Sample,
        budget: Budget { time, ..Budget::smoke() },
        seed: 0,
        stop_at: StopAt::FirstViolation,
        minimise: false,
        time,
    };
    let before = on_processor();
    let conviction = convict(subject, mutant.name, &plan);
    assert!(conviction.finding.is_none() && conviction.executions > 0);
    // A busy machine makes it shorter: what is spent on the processor is never more than what passed.
    let spent = before.zip(on_processor()).map(|(before, after)| after - before);
    assert!(spent.is_none_or(|spent| spent < Duration::from_secs(3)), "{spent:?}");
}

#[test]
fn a_glance_leaves_out_the_whole_budget() {
    let subject = subject::<Harmless>();
    let plan = Plan {
        engine: Engine::Sample,
        budget: Budget::smoke(),
        seed: 0,
        stop_at: StopAt::FirstViolation,
        minimise: false,
        time: None,
    };
    // A sample ends after an execution without a choice: each search takes one of each scenario.
    assert_eq!(glance(subject, "same", &plan).executions, 16);
    assert_eq!(convict(subject, "same", &plan).executions, 24);
}

/// A component whose third execution panics, so that the search behind both glances sees it.
struct Late;

static EXECUTIONS: AtomicU32 = AtomicU32::new(0);

impl Component for Late {
    type Machine = NoMachine;
    const NAME: &'static str = "late";
    const SAYS: &'static str = "the third execution panics";

    fn machine() -> MachineOf<Self> {
        Box::new(NoMachine)
    }

    fn scenarios() -> Vec<Scenario<Self>> {
        let run = |_: &World<Self>| {
            assert!(EXECUTIONS.fetch_add(1, Ordering::Relaxed) < 2, "it is late");
        };
        vec![Scenario::new("third_panics", Self::SAYS, run, |history| history.finished())]
    }

    fn invariants() -> Vec<Invariant<Self>> {
        Vec::new()
    }

    fn mutants() -> Vec<Mutant<Self>> {
        fn same(machine: NoMachine) -> MachineOf<Late> {
            Box::new(machine)
        }
        mutants! { same: Equivalent("as it says") "same" from "made up": (NoMachine) breaks []; }
    }
}

#[test]
fn a_mutant_that_is_trusted_is_only_glanced_at() {
    let subject = subject::<Late>();
    let fate = |trust_equivalents| {
        EXECUTIONS.store(0, Ordering::Relaxed);
        let case = MutantCase { subject, mutant: subject.mutants()[0].clone() };
        let engines = vec![Engine::Sample];
        let request = Request { engines, trust_equivalents, by_name: true, ..Request::default() };
        try_mutant(&case, &request, 1).outcome
    };
    assert_eq!(fate(true), Fate::Equivalent);
    assert_eq!(fate(false), Fate::Killed);
}
