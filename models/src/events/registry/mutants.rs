//! The bugs: one changed line each, in the registry of `reference`.

use super::Registry;
use crate::events::fixtures::booked;
use crate::trial::{Mutant, mutants};

/// It behaves as the part that ships.
fn plain() -> Vec<Mutant<Registry>> {
    mutants! { booked:
        Equivalent("a table under a lock, without a mistake, does what the shipped registry does")
        "plain" from "the obvious first algorithm": (&[]) breaks [];
    }
}

pub(super) fn all() -> Vec<Mutant<Registry>> {
    [plain(), of_starts(), of_ends()].concat()
}

fn of_starts() -> Vec<Mutant<Registry>> {
    mutants! { booked:
        Seeded "two_of_a_kind"
            from "own: the table is not looked at again after the informer is made"
            breaks ["one_of_a_kind"];
        Seeded "makes_under_the_lock" from "own: foreign code runs where it must not"
            breaks ["terminates"];
        Seeded "starts_once"
            from "own: one flag records the start, where each informer needs its own"
            breaks ["all_run"];
        Seeded "starts_one" from "own: the loop that starts informers ends too early"
            breaks ["all_run"];
        Seeded "starts_all_again" from "own: running informers are not recorded"
            breaks ["runs_once"];
        Seeded "synced_when_one_is" from "cache:WS-2" breaks ["synced_not_early"];
        Seeded "sync_is_not_awaited" from "cache:WS-3" breaks ["synced_not_early"];
        Seeded "sync_wakes_nobody" from "cache:WS-3" breaks ["synced_not_stuck"];
        Seeded "all_are_late" from "own: one late informer makes all later ones count as late"
            breaks ["synced_not_early"];
    }
}

fn of_ends() -> Vec<Mutant<Registry>> {
    mutants! { booked:
        Seeded "removal_is_not_awaited"
            from "own: the thread of a removed informer outlives the removal"
            breaks ["nothing_runs_on"];
        Seeded "removal_is_nobodys_affair"
            from "own: a shutdown does not know of a removal that is under way"
            breaks ["nothing_runs_on"];
        Seeded "shut_down_is_not_awaited" from "client-go before SharedInformerFactory.Shutdown"
            breaks ["nothing_runs_on"];
        Seeded "one_shut_down_waits" from "own: the second shutdown finds an empty table"
            breaks ["nothing_runs_on"];
        Seeded "joins_under_the_lock" from "own: the joined thread needs the lock to end"
            breaks ["terminates"];
        Seeded "panics_go_on_at_once" from "own: a panic that leaves threads"
            breaks ["nothing_runs_on"];
        Seeded "panics_are_lost" from "own: the result of a join is dropped"
            breaks ["panics_come_out"];
        Seeded "end_is_not_told_by_a_panic"
            from "own: the last line of the thread signals the end, and a panic skips it"
            breaks ["never_panics"];
        Seeded "takes_more_behind_the_end"
            from "own: a closed registry accepts and starts informers"
            breaks ["nothing_behind_the_end"];
        Seeded "dropped_goes_on" from "own: threads that nobody can reach"
            breaks ["nothing_is_left"];
    }
}
