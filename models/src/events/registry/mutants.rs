//! The bugs: one changed line each, in the registry of `reference`.

use super::Registry;
use super::book::{Book, Which};
use crate::trial::{MachineOf, Mutant, mistakes, mutants};

mistakes! {
    /// The mistakes that a mutant can make.
    pub enum Mistake {
        /// A caller that made a member puts it in, even if another one is there by then.
        TwoOfAKind,
        /// Members are made under the lock.
        MakesUnderTheLock,
        /// Members that are added after the first start are not started.
        StartsOnce,
        /// A start starts only one member.
        StartsOne,
        /// A start starts running members again.
        StartsAllAgain,
        /// All members count as synced when the first has synced.
        SyncedWhenOneIs,
        /// No caller waits for a first list.
        SyncIsNotAwaited,
        /// A caller that waits for a first list is not woken when the list will not come.
        SyncWakesNobody,
        /// All members after a late one are called late.
        AllAreLate,
        /// A removal does not wait for the end of the run.
        RemovalIsNotAwaited,
        /// A stop of all members does not wait for members that are being removed.
        RemovalIsNobodysAffair,
        /// A stop of all members does not wait for the ends of the runs.
        ShutDownIsNotAwaited,
        /// The second caller that stops all members finds nothing to wait for.
        OneShutDownWaits,
        /// Threads are joined under the lock.
        JoinsUnderTheLock,
        /// A stop of all members panics before the other members have ended.
        PanicsGoOnAtOnce,
        /// A panic is not passed on.
        PanicsAreLost,
        /// A run that panics does not signal its end.
        EndIsNotToldByAPanic,
        /// A registry that is over takes members and starts them.
        TakesMoreBehindTheEnd,
        /// Dropping the registry ends nothing.
        DroppedGoesOn,
    }
}

fn mistaken(mistake: Option<Mistake>) -> MachineOf<Registry> {
    Box::new(Book::of(Which::Reference(mistake)))
}

pub(super) fn all() -> Vec<Mutant<Registry>> {
    [of_starts(), of_ends()].concat()
}

fn of_starts() -> Vec<Mutant<Registry>> {
    use Mistake::*;
    mutants! { mistaken:
        Equivalent("a table under a lock, without a mistake, does what the shipped registry does")
        "plain" from "the obvious first algorithm":
            (None) breaks [];
        Seeded "two_of_a_kind"
            from "own: the table is not looked at again after the informer is made":
            (Some(TwoOfAKind)) breaks ["one_of_a_kind"];
        Seeded "makes_under_the_lock" from "own: foreign code runs where it must not":
            (Some(MakesUnderTheLock)) breaks ["terminates"];
        Seeded "starts_once"
            from "own: one flag records the start, where each informer needs its own":
            (Some(StartsOnce)) breaks ["all_run"];
        Seeded "starts_one" from "own: the loop that starts informers ends too early":
            (Some(StartsOne)) breaks ["all_run"];
        Seeded "starts_all_again" from "own: running informers are not recorded":
            (Some(StartsAllAgain)) breaks ["runs_once"];
        Seeded "synced_when_one_is" from "cache:WS-2":
            (Some(SyncedWhenOneIs)) breaks ["synced_not_early"];
        Seeded "sync_is_not_awaited" from "cache:WS-3":
            (Some(SyncIsNotAwaited)) breaks ["synced_not_early"];
        Seeded "sync_wakes_nobody" from "cache:WS-3":
            (Some(SyncWakesNobody)) breaks ["synced_not_stuck"];
        Seeded "all_are_late" from "own: one late informer makes all later ones count as late":
            (Some(AllAreLate)) breaks ["synced_not_early"];
    }
}

fn of_ends() -> Vec<Mutant<Registry>> {
    use Mistake::*;
    mutants! { mistaken:
        Seeded "removal_is_not_awaited"
            from "own: the thread of a removed informer outlives the removal":
            (Some(RemovalIsNotAwaited)) breaks ["nothing_runs_on"];
        Seeded "removal_is_nobodys_affair"
            from "own: a shutdown does not know of a removal that is under way":
            (Some(RemovalIsNobodysAffair)) breaks ["nothing_runs_on"];
        Seeded "shut_down_is_not_awaited" from "client-go before SharedInformerFactory.Shutdown":
            (Some(ShutDownIsNotAwaited)) breaks ["nothing_runs_on"];
        Seeded "one_shut_down_waits" from "own: the second shutdown finds an empty table":
            (Some(OneShutDownWaits)) breaks ["nothing_runs_on"];
        Seeded "joins_under_the_lock" from "own: the joined thread needs the lock to end":
            (Some(JoinsUnderTheLock)) breaks ["terminates"];
        Seeded "panics_go_on_at_once" from "own: a panic that leaves threads":
            (Some(PanicsGoOnAtOnce)) breaks ["nothing_runs_on"];
        Seeded "panics_are_lost" from "own: the result of a join is dropped":
            (Some(PanicsAreLost)) breaks ["panics_come_out"];
        Seeded "end_is_not_told_by_a_panic"
            from "own: the last line of the thread signals the end, and a panic skips it":
            (Some(EndIsNotToldByAPanic)) breaks ["never_panics"];
        Seeded "takes_more_behind_the_end"
            from "own: a closed registry accepts and starts informers":
            (Some(TakesMoreBehindTheEnd)) breaks ["nothing_behind_the_end"];
        Seeded "dropped_goes_on" from "own: threads that nobody can reach":
            (Some(DroppedGoesOn)) breaks ["nothing_is_left"];
    }
}
