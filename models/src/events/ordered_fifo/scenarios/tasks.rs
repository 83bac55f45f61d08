//! Consumers that are tasks, beside consumers that are threads.

use seatrial_core::runtime::Runtime;

use super::{Stage, lists, some};
use crate::events::fixtures::Bed;
use crate::ordered_fifo::ledger::OrderedLedger;
use crate::ordered_fifo::{History, OrderedFifo};
use crate::trial::{DynScenario, Ledger as _, Scenario, What, World};

pub(super) fn all() -> Vec<Box<dyn DynScenario<OrderedFifo>>> {
    vec![Box::new(TaskAndThread), Box::new(DroppedPopper)]
}

/// A consumer that is a task, and one that is a thread, wait for two objects.
struct TaskAndThread;

impl Scenario<OrderedFifo> for TaskAndThread {
    const NAME: &'static str = "task_and_thread";
    const SAYS: &'static str =
        "a task and a thread pop a list of two objects; another task waits until it is processed";

    fn run<R: Runtime>(&self, world: &World<R, OrderedFifo>) {
        Stage::plain(world, []).task_and_thread();
    }

    /// All sleep when the list comes.
    fn reaches(history: &History) -> bool {
        some(history, |before, over| {
            lists(over.op)
                && before.asleep.count(Bed::Pop) == 2
                && before.asleep.count(Bed::Sync) == 1
        })
    }
}

/// A task gives up while an object comes: its wake-up goes to the thread that also sleeps.
struct DroppedPopper;

impl Scenario<OrderedFifo> for DroppedPopper {
    const NAME: &'static str = "dropped_popper";
    const SAYS: &'static str =
        "a task gives up its pop while an object is added and a thread waits";

    fn run<R: Runtime>(&self, world: &World<R, OrderedFifo>) {
        Stage::plain(world, []).dropped_popper();
    }

    /// The task gives up its pop after an object came, while the object still waits.
    fn reaches(history: &History) -> bool {
        OrderedLedger::some(history, |before, event| {
            matches!(event.what, What::Cancel { .. }) && !before.state.events.is_empty()
        })
    }
}
