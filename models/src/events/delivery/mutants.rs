//! The bugs: one changed line each, between the reflector and the worker.

use super::Delivery;
use super::chain::Chain;
use crate::events::fixtures::Mistakes;
use crate::trial::{MachineOf, Mutant, mutants};

fn mistaken(mistakes: Mistakes) -> MachineOf<Delivery> {
    Box::new(Chain::new(mistakes[0]))
}

pub(super) fn all() -> Vec<Mutant<Delivery>> {
    [seeded(), equivalent()].concat()
}

fn equivalent() -> Vec<Mutant<Delivery>> {
    mutants! { mistaken:
        Equivalent("the retry reads the store when it runs, and the store has the change by then")
            "keys_that_failed_are_not_told"
            from "own: a key that waits for its retry is taken to need no other notice" breaks [];
        Equivalent("the thread that ends a reconcile is a worker, and it looks at the time of the \
                    next retry itself")
            "retries_wake_nobody" from "own: the wake-up for an earlier retry is left out"
            breaks [];
    }
}

fn seeded() -> Vec<Mutant<Delivery>> {
    mutants! { mistaken:
        Seeded "told_before_it_is_stored" from "cache:CT-8"
            breaks ["work_sees_what_was_told", "every_change_is_reconciled"];
        Seeded "deletions_are_not_told" from "cache:PT-5" breaks ["every_change_is_reconciled"];
        Seeded "changes_are_told_once" from "cache:CT-7" breaks ["every_change_is_reconciled"];
        Seeded "busy_keys_are_not_told" from "workqueue:WQ-6" breaks ["every_change_is_reconciled"];
        Seeded "lists_tell_no_deletions" from "cache:CT-9" breaks ["every_change_is_reconciled"];
        Seeded "lists_tell_no_changes" from "museum A10" breaks ["every_change_is_reconciled"];
        Seeded "failures_are_forgotten" from "cache:PT-1" breaks ["every_change_is_reconciled"];
        Seeded "one_retry_at_a_time" from "own: all keys share one timer"
            breaks ["every_change_is_reconciled"];
        Seeded "reads_what_was_told" from "cache:PT-9"
            breaks ["work_sees_what_was_told", "every_change_is_reconciled"];
        Seeded "new_work_wakes_nobody" from "own: the wake-up for new work is left out"
            breaks ["every_change_is_reconciled"];
    }
}
