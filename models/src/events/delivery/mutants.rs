//! The bugs: one changed line each, between the reflector and the worker.

use super::Delivery;
use super::chain::Chain;
use crate::trial::{MachineOf, Mutant, mistakes, mutants};

mistakes! {
    /// The mistakes that a mutant can make.
    pub enum Mistake {
        /// A key is told before the store has the change.
        ToldBeforeItIsStored,
        /// Deletions are not told.
        DeletionsAreNotTold,
        /// A key that was reconciled once is not told again.
        ChangesAreToldOnce,
        /// A key that is being reconciled is not told.
        BusyKeysAreNotTold,
        /// A key that waits for its next try is not told, and the store is not read again.
        KeysThatFailedAreNotTold,
        /// A list does not tell the objects that it lacks.
        ListsTellNoDeletions,
        /// A list does not tell the objects that it has in another version.
        ListsTellNoChanges,
        /// A key that failed is not tried again.
        FailuresAreForgotten,
        /// There is one timer for retries: a key that fails while the timer runs is not tried
        /// again.
        OneRetryAtATime,
        /// A worker sees the store as it was when the key was told.
        ReadsWhatWasTold,
        /// No worker wakes for new work.
        NewWorkWakesNobody,
        /// No worker wakes for a retry that is due sooner than it thinks.
        RetriesWakeNobody,
    }
}

fn mistaken(mistake: Mistake) -> MachineOf<Delivery> {
    Box::new(Chain::new(Some(mistake)))
}

pub(super) fn all() -> Vec<Mutant<Delivery>> {
    use Mistake::*;
    mutants! { mistaken:
        Seeded "told_before_it_is_stored" from "cache:CT-8":
            (ToldBeforeItIsStored) breaks ["work_sees_what_was_told", "every_change_is_reconciled"];
        Seeded "deletions_are_not_told" from "cache:PT-5":
            (DeletionsAreNotTold) breaks ["every_change_is_reconciled"];
        Seeded "changes_are_told_once" from "cache:CT-7":
            (ChangesAreToldOnce) breaks ["every_change_is_reconciled"];
        Seeded "busy_keys_are_not_told" from "workqueue:WQ-6":
            (BusyKeysAreNotTold) breaks ["every_change_is_reconciled"];
        Seeded "lists_tell_no_deletions" from "cache:CT-9":
            (ListsTellNoDeletions) breaks ["every_change_is_reconciled"];
        Seeded "lists_tell_no_changes" from "museum A10":
            (ListsTellNoChanges) breaks ["every_change_is_reconciled"];
        Seeded "failures_are_forgotten" from "cache:PT-1":
            (FailuresAreForgotten) breaks ["every_change_is_reconciled"];
        Seeded "one_retry_at_a_time" from "own: all keys share one timer":
            (OneRetryAtATime) breaks ["every_change_is_reconciled"];
        Seeded "reads_what_was_told" from "cache:PT-9":
            (ReadsWhatWasTold) breaks ["work_sees_what_was_told", "every_change_is_reconciled"];
        Seeded "new_work_wakes_nobody" from "own: the wake-up for new work is left out":
            (NewWorkWakesNobody) breaks ["every_change_is_reconciled"];
        Equivalent("the retry reads the store when it runs, and the store has the change by then")
            "keys_that_failed_are_not_told"
            from "own: a key that waits for its retry is taken to need no other notice":
            (KeysThatFailedAreNotTold) breaks [];
        Equivalent("the thread that ends a reconcile is a worker, and it looks at the time of the \
                    next retry itself")
            "retries_wake_nobody" from "own: the wake-up for an earlier retry is left out":
            (RetriesWakeNobody) breaks [];
    }
}
