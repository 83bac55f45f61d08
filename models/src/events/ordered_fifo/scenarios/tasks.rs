//! Consumers that are tasks, beside consumers that are threads.

use super::{Stage, lists, some};
use crate::events::fixtures::Bed;
use crate::ordered_fifo::OrderedFifo;
use crate::ordered_fifo::ledger::OrderedLedger;
use crate::trial::{Ledger as _, Scenario, What};

pub(super) fn all() -> Vec<Scenario<OrderedFifo>> {
    vec![task_and_thread(), dropped_popper()]
}

/// A consumer that is a task, and one that is a thread, wait for two objects.
fn task_and_thread() -> Scenario<OrderedFifo> {
    Scenario::new(
        "task_and_thread",
        "a task and a thread pop a list of two objects; another task waits until it is processed",
        |world| Stage::plain(world, []).task_and_thread(),
        // All sleep when the list comes.
        |history| {
            some(history, |before, over| {
                lists(over.op)
                    && before.asleep.count(Bed::Pop) == 2
                    && before.asleep.count(Bed::Sync) == 1
            })
        },
    )
}

/// A task gives up while an object comes: its wake-up goes to the thread that also sleeps.
fn dropped_popper() -> Scenario<OrderedFifo> {
    Scenario::new(
        "dropped_popper",
        "a task gives up its pop while an object is added and a thread waits",
        |world| Stage::plain(world, []).dropped_popper(),
        // The task gives up its pop after an object came, while the object still waits.
        |history| {
            OrderedLedger::some(history, |before, event| {
                matches!(event.what, What::Cancel { .. }) && !before.state.events.is_empty()
            })
        },
    )
}
