//! A broken counter: an engine that finds nothing wrong with it is blind.
//!
//! It reads under the lock, lets go, and writes what it computed under the lock again, so two
//! increments may become one. Every engine must convict it in every run.

mod states;

use seatrial_core::machine::{Cx, Operation, Step};
use seatrial_core::monitor::Monitor;
use seatrial_core::runtime::{Ambient as _, Runtime as _};

use std::sync::Arc;
use std::time::Duration;

use crate::engine::Engine;
use crate::trial::{
    Component, HistoryOf, Invariant, MachineOf, Scenario, Simulation, Violation, World,
};

/// The broken counter, as a component.
#[derive(Clone, Copy, Debug)]
pub struct Canary;

/// A number that can be read and written, but not incremented.
#[derive(Clone, Debug, Default)]
pub struct Counter(u64);

/// Reads the number.
#[derive(Clone, Debug)]
pub struct Read;

/// Writes the number.
#[derive(Clone, Debug)]
pub struct Write(u64);

seatrial_core::operations! {
    [] Counter: Op, Ret { Read(Read) -> u64, Write(Write) -> () } describe = |counter| format!("{counter:?}")
}

impl Operation<Counter> for Read {
    fn step(&mut self, counter: &mut Counter, _: &mut Cx<'_>) -> Step<u64> {
        Step::Done(counter.0)
    }
}

impl Operation<Counter> for Write {
    fn step(&mut self, counter: &mut Counter, _: &mut Cx<'_>) -> Step<()> {
        counter.0 = self.0;
        Step::Done(())
    }
}

impl Component for Canary {
    type Machine = Counter;

    const NAME: &'static str = "canary";
    const SAYS: &'static str = "a broken counter that every engine must convict";

    fn machine() -> MachineOf<Self> {
        Box::new(Counter::default())
    }

    fn scenarios() -> Vec<Scenario<Self>> {
        let rarely = "the window is nanoseconds wide: real threads rarely meet in it";
        vec![
            Scenario::new(
                "lost_update",
                "two threads increment at a time",
                |world| two_increments(world, Duration::ZERO),
                |history| history.finished(),
            )
            .not_on(move |engine| (engine == Engine::Threads).then_some(rarely)),
            Scenario::new(
                "slow_update",
                "two threads increment at a time, with a pause after the read",
                |world| two_increments(world, Duration::from_millis(5)),
                |history| history.finished(),
            ),
        ]
    }

    fn simulations() -> Vec<Box<dyn Simulation<Self>>> {
        vec![Box::new(states::LOST_UPDATE)]
    }

    fn invariants() -> Vec<Invariant<Self>> {
        let counts = Invariant::eventually(
            "counts_every_increment",
            "the counter ends at the number of increments",
            &[],
            counts_every_increment,
        );
        vec![counts.expected_to_break()]
    }
}

fn counts_every_increment(history: &HistoryOf<Canary>) -> Result<(), Violation> {
    let writes =
        history.events.iter().filter(|event| matches!(event.returned(), Some((Op::Write(_), _))));
    let increments = writes.count() as u64;
    let last = history.events.iter().rev().find_map(|event| match event.returned() {
        Some((Op::Read(_), Ret::Read(value))) => Some(*value),
        _ => None,
    });
    match last {
        Some(value) if history.finished() && value != increments => {
            Err(Violation::overall(format!("{increments} increments count as {value}")))
        }
        _ => Ok(()),
    }
}

/// Runs two increments at a time and reads the sum; `pause` comes between read and write.
fn two_increments(world: &World<Canary>, pause: Duration) {
    let counter = Arc::new(Monitor::<Counter, _>::new(world.runtime(), world.machine()));
    let increment = {
        let (counter, runtime) = (Arc::clone(&counter), world.runtime().clone());
        move || {
            let value = counter.call(Read);
            if !pause.is_zero() {
                runtime.sleep_until(runtime.now() + pause);
            }
            counter.call(Write(value + 1));
        }
    };
    let other = world.spawn("other", increment.clone());
    increment();
    world.join(other);
    counter.call(Read);
}
