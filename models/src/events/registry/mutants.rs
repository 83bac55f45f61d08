//! The bugs: one changed line each, in the registry of `reference`.

use super::Registry;
use super::book::{Book, Which};
use crate::trial::{MachineOf, Mutant, mistakes, mutants};

mistakes! {
    /// What one may get wrong.
    pub enum Mistake {
        /// Who made a member puts it in, whichever was there before.
        TwoOfAKind,
        /// Members are made under the lock.
        MakesUnderTheLock,
        /// What comes after the first start is not started.
        StartsOnce,
        /// A start starts one.
        StartsOne,
        /// A start starts also what runs.
        StartsAllAgain,
        /// All have synced when the first has.
        SyncedWhenOneIs,
        /// Nobody waits for a first list.
        SyncIsNotAwaited,
        /// Who waits for a first list is not woken when it will not come.
        SyncWakesNobody,
        /// Who comes behind one that is late is called late.
        AllAreLate,
        /// A removal does not wait for the end of the run.
        RemovalIsNotAwaited,
        /// Who stops all does not wait for what is being removed.
        RemovalIsNobodysAffair,
        /// Who stops all does not wait for the ends of the runs.
        ShutDownIsNotAwaited,
        /// The second who stops all finds nothing to wait for.
        OneShutDownWaits,
        /// Threads are joined under the lock.
        JoinsUnderTheLock,
        /// Who stops all panics before the others have ended.
        PanicsGoOnAtOnce,
        /// A panic is told nobody.
        PanicsAreLost,
        /// A run that panics does not tell of its end.
        EndIsNotToldByAPanic,
        /// One that is over takes members and starts them.
        TakesMoreBehindTheEnd,
        /// To drop it ends nothing.
        DroppedGoesOn,
    }
}

fn mistaken(mistake: Option<Mistake>) -> MachineOf<Registry> {
    Box::new(Book(Which::Reference(mistake)))
}

pub(super) fn all() -> Vec<Mutant<Registry>> {
    [of_starts(), of_ends()].concat()
}

fn of_starts() -> Vec<Mutant<Registry>> {
    use Mistake::*;
    mutants! { mistaken:
        Equivalent("a table under a lock, without a mistake, does what ours does")
        "plain" from "what one writes first":
            (None) breaks [];
        Seeded "two_of_a_kind" from "own: looked, made, and not looked again":
            (Some(TwoOfAKind)) breaks ["one_of_a_kind"];
        Seeded "makes_under_the_lock" from "own: foreign code runs where it must not":
            (Some(MakesUnderTheLock)) breaks ["terminates"];
        Seeded "starts_once" from "own: a flag where a set belongs":
            (Some(StartsOnce)) breaks ["all_run"];
        Seeded "starts_one" from "own: a loop that ends too early":
            (Some(StartsOne)) breaks ["all_run"];
        Seeded "starts_all_again" from "own: nobody notes what runs":
            (Some(StartsAllAgain)) breaks ["runs_once"];
        Seeded "synced_when_one_is" from "cache:WS-2":
            (Some(SyncedWhenOneIs)) breaks ["synced_not_early"];
        Seeded "sync_is_not_awaited" from "cache:WS-3":
            (Some(SyncIsNotAwaited)) breaks ["synced_not_early"];
        Seeded "sync_wakes_nobody" from "cache:WS-3":
            (Some(SyncWakesNobody)) breaks ["synced_not_stuck"];
        Seeded "all_are_late" from "own: a flag where a set belongs":
            (Some(AllAreLate)) breaks ["synced_not_early"];
    }
}

fn of_ends() -> Vec<Mutant<Registry>> {
    use Mistake::*;
    mutants! { mistaken:
        Seeded "removal_is_not_awaited" from "own: a thread outlives its removal":
            (Some(RemovalIsNotAwaited)) breaks ["nothing_runs_on"];
        Seeded "removal_is_nobodys_affair" from "own: two ends do not know of each other":
            (Some(RemovalIsNobodysAffair)) breaks ["nothing_runs_on"];
        Seeded "shut_down_is_not_awaited" from "client-go before SharedInformerFactory.Shutdown":
            (Some(ShutDownIsNotAwaited)) breaks ["nothing_runs_on"];
        Seeded "one_shut_down_waits" from "own: the second finds an empty table":
            (Some(OneShutDownWaits)) breaks ["nothing_runs_on"];
        Seeded "joins_under_the_lock" from "own: the thread needs the lock to end":
            (Some(JoinsUnderTheLock)) breaks ["terminates"];
        Seeded "panics_go_on_at_once" from "own: a panic that leaves threads":
            (Some(PanicsGoOnAtOnce)) breaks ["nothing_runs_on"];
        Seeded "panics_are_lost" from "own: the result of a join is dropped":
            (Some(PanicsAreLost)) breaks ["panics_come_out"];
        Seeded "end_is_not_told_by_a_panic" from "own: the end is told by the last line":
            (Some(EndIsNotToldByAPanic)) breaks ["terminates"];
        Seeded "takes_more_behind_the_end" from "own: started behind the end":
            (Some(TakesMoreBehindTheEnd)) breaks ["nothing_behind_the_end"];
        Seeded "dropped_goes_on" from "own: threads that nobody can reach":
            (Some(DroppedGoesOn)) breaks ["nothing_is_left"];
    }
}
