//! Consumers that are tasks, beside consumers that are threads.

use seatrial_core::runtime::Runtime;

use super::{Stage, some};
use crate::delta_fifo::ledger::DeltaLedger;
use crate::delta_fifo::{DeltaFifo, History};
use crate::events::fixtures::Bed;
use crate::trial::{DynScenario, Ledger as _, Scenario, What, World};

pub(super) fn all() -> Vec<Box<dyn DynScenario<DeltaFifo>>> {
    vec![Box::new(TaskAndThread), Box::new(DroppedPopper)]
}

/// A consumer that is a task, and one that is a thread, wait for two objects.
struct TaskAndThread;

impl Scenario<DeltaFifo> for TaskAndThread {
    const NAME: &'static str = "task_and_thread";
    const SAYS: &'static str =
        "a task and a thread pop a list of two objects; another task waits until it is processed";

    fn run<R: Runtime>(&self, world: &World<R, DeltaFifo>) {
        Stage::informer(world, []).task_and_thread();
    }

    /// All sleep when the list comes.
    fn reaches(history: &History) -> bool {
        some(history, |before, over| {
            over.listed().is_some()
                && before.asleep.count(Bed::Pop) == 2
                && before.asleep.count(Bed::Sync) == 1
        })
    }
}

/// A task gives up while an object comes: its wake-up goes to the thread that also sleeps.
struct DroppedPopper;

impl Scenario<DeltaFifo> for DroppedPopper {
    const NAME: &'static str = "dropped_popper";
    const SAYS: &'static str =
        "a task gives up its pop while an object is added and a thread waits";

    fn run<R: Runtime>(&self, world: &World<R, DeltaFifo>) {
        Stage::informer(world, []).dropped_popper();
    }

    /// The task gives up its pop after an object came, while the object is still pending.
    fn reaches(history: &History) -> bool {
        DeltaLedger::some(history, |before, event| {
            matches!(event.what, What::Cancel { .. }) && !before.state.pending.is_empty()
        })
    }
}
