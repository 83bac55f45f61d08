//! The bugs: one changed line each, in the plain informer.

use super::Informer;
use super::book::{Book, Which};
use crate::engine::Engine;
use crate::trial::{MachineOf, Mutant, mistakes, mutants};

mistakes! {
    /// The mistakes that a mutant can make.
    pub enum Mistake {
        // Mistakes in driving the reflector.
        /// The pause after a failed list does not end with the informer.
        PauseOfListsDelaysTheEnd,
        /// The pause after a failed stream does not end with the informer.
        PauseOfStreamsDelaysTheEnd,
        /// The last stream is left open.
        StreamStaysOpen,
        /// A list goes on although no caller waits for it any more.
        ListGoesOn,
        /// The back-off is computed with another clock than the informer's.
        BackOffHasAnotherClock,
        /// The pauses are timed with another clock than the informer's.
        PausesOnAnotherClock,
        /// Lists are stored without being transformed.
        ListsStayAsTheyCame,
        /// Objects of a list are transformed on arrival and again for the queue.
        ListsAreTransformedTwice,

        // Mistakes in changing the store and telling the handlers.
        /// The queue is still emptied after the end.
        GoesOnBehindTheEnd,
        /// Handlers are told before the store has the change.
        ToldBeforeItIsStored,
        /// The first list counts as told as soon as it is stored.
        SyncedBeforeItIsTold,
        /// Handlers are not told that an empty list is complete.
        EmptyIsNeverSynced,
        /// The next change comes only when all handlers have taken the last one.
        WaitsForEachHandler,
        /// One change that an index function refuses stops all changes of its batch.
        RefusedStopsItsBatch,
        /// One object that an index function refuses stops the list that has it.
        RefusedStopsItsList,
        /// An object whose new state is refused in a list is told as deleted.
        RefusedIsGone,
        /// Unchanged objects are shown to all handlers.
        ResyncIsForAll,
        /// Unchanged objects are shown to all that want them whenever they are shown to one.
        OnePeriodForAll,
        /// Unchanged objects are never shown.
        NeverResyncs,

        // Mistakes in ending a run.
        /// A second run is accepted.
        RunsTwice,
        /// After a panic the run waits for its reflector without stopping it.
        PanicLeavesTheReflector,
        /// Handlers end with the signal that ends the reflector.
        OneSignalForAll,
        /// Handlers that wait for a change are not told of the end.
        EndIsNotTold,
        /// The run waits for the handlers under the lock that they need.
        JoinsUnderTheLock,
        /// The run returns while handlers are still being called.
        RunLeavesItsHandlers,
        /// Handlers of an informer that never ran stay when the informer is dropped.
        HandlersOfWhatNeverRanStay,

        // Mistakes in adding and removing handlers.
        /// The stored objects are read before a late handler is subscribed to changes.
        LateHandlersMissChanges,
        /// The stored objects are read after a late handler was subscribed to changes.
        LateHandlersSeeTwice,
        /// A late handler has synced before it gets the stored objects.
        SyncedBeforeTheFirstIsTold,
        /// An informer that has stopped accepts handlers.
        StoppedTakesHandlers,
        /// A handler has synced when the informer has.
        SyncedWithTheInformer,
        /// A removal removes the handler at the old position, even if another handler is there now.
        RemovesByPlace,
        /// A handler that waits for a change is not told that it is removed.
        RemovalIsNotTold,
        /// A removal does not wait for the last call.
        RemovalIsNotAwaited,
        /// A removal waits under the lock that the handler needs.
        WaitsForRemovalUnderTheLock,

        // Mistakes in calling handlers.
        /// A change counts as seen when it is taken.
        SyncedWhenItIsTold,
        /// A handler that panics gets no more changes.
        PanicEndsTheHandler,
        /// A panic is not reported.
        PanicIsNotReported,
        /// An object counts as seen although the handler panicked at it.
        PanickedIsSeen,
        /// The pause after a panic does not end with the informer.
        PauseDelaysTheEnd,
        /// There is no pause after a panic.
        NoPauseBehindAPanic,
        /// A slow handler is not reported.
        SlowIsNotReported,
        /// A handler is reported as slow although few changes wait.
        EverybodyIsSlow,
    }
}

fn mistaken(mistake: Option<Mistake>) -> MachineOf<Informer> {
    Box::new(Book::of(Which::Plain(mistake)))
}

pub(super) fn all() -> Vec<Mutant<Informer>> {
    [of_the_reflector(), of_the_store(), of_ends(), of_handlers(), of_calls()].concat()
}

/// Tells whether an engine can convict this mutant. Some mutants show only in programs that are too
/// large for the engine's search.
pub(super) fn shows(engine: Engine, mutant: &str) -> bool {
    const OF_LARGE: &[&str] = &[
        "waits_for_each_handler",
        "late_handlers_miss_changes",
        "late_handlers_see_twice",
        "synced_before_the_first_is_told",
        "slow_is_not_reported",
        "everybody_is_slow",
        "resync_is_for_all",
        "one_period_for_all",
        "never_resyncs",
    ];
    const OF_MANY_TRACES: &[&str] = &[
        "goes_on_behind_the_end",
        "synced_before_it_is_told",
        "stopped_takes_handlers",
        "synced_with_the_informer",
        "removes_by_place",
        "synced_when_it_is_told",
        "panicked_is_seen",
        "no_pause_behind_a_panic",
        "removal_is_not_told",
        "refused_stops_its_batch",
    ];
    match (engine, mutant) {
        // Its thread waits for ever in a destructor, so nothing more can run on that system thread.
        (Engine::Trace | Engine::Sample, "waits_for_removal_under_the_lock") => return false,
        // It runs two whole informers, which needs more preemptions than the bound allows; so does a
        // store after the last look at the token.
        (Engine::Loom, "runs_twice" | "goes_on_behind_the_end") => return false,
        _ => {}
    }
    let large = matches!(engine, Engine::Loom | Engine::Trace) && OF_LARGE.contains(&mutant);
    !(large || engine == Engine::Trace && OF_MANY_TRACES.contains(&mutant))
}

fn of_the_reflector() -> Vec<Mutant<Informer>> {
    use Mistake::*;
    mutants! { mistaken:
        Seeded "pause_of_lists_delays_the_end" from "museum A46":
            (Some(PauseOfListsDelaysTheEnd)) breaks ["ends_at_once"];
        Seeded "pause_of_streams_delays_the_end" from "museum C8":
            (Some(PauseOfStreamsDelaysTheEnd)) breaks ["ends_at_once"];
        Seeded "stream_stays_open" from "museum A48":
            (Some(StreamStaysOpen)) breaks ["nothing_is_left"];
        Seeded "list_goes_on" from "museum C16":
            (Some(ListGoesOn)) breaks ["nothing_is_left"];
        Seeded "back_off_has_another_clock" from "museum A54":
            (Some(BackOffHasAnotherClock)) breaks ["failures_pause"];
        Seeded "pauses_on_another_clock" from "museum C10":
            (Some(PausesOnAnotherClock)) breaks ["failures_pause"];
        Seeded "lists_stay_as_they_came" from "museum A56":
            (Some(ListsStayAsTheyCame)) breaks ["transformed_once"];
        Seeded "lists_are_transformed_twice" from "cache:WL-14":
            (Some(ListsAreTransformedTwice)) breaks ["transformed_once"];
    }
}

fn of_the_store() -> Vec<Mutant<Informer>> {
    use Mistake::*;
    mutants! { mistaken:
        Equivalent("the plain algorithm without a mistake calls handlers and ends as the shipped \
                    informer does")
        "plain" from "the obvious first algorithm":
            (None) breaks [];
        Seeded "goes_on_behind_the_end" from "museum A24":
            (Some(GoesOnBehindTheEnd)) breaks ["stores_nothing_behind_the_end"];
        Seeded "told_before_it_is_stored" from "cache:SI-6":
            (Some(ToldBeforeItIsStored)) breaks ["stored_before_told"];
        Seeded "synced_before_it_is_told" from "cache:PL-22":
            (Some(SyncedBeforeItIsTold)) breaks ["synced_not_early"];
        Seeded "empty_is_never_synced" from "cache:PL-23":
            (Some(EmptyIsNeverSynced)) breaks ["synced_not_stuck"];
        Seeded "waits_for_each_handler" from "cache:PL-9":
            (Some(WaitsForEachHandler)) breaks ["nobody_waits_for_another"];
        Seeded "refused_stops_its_batch" from "cache:CT-13":
            (Some(RefusedStopsItsBatch)) breaks ["all_is_told"];
        Seeded "refused_stops_its_list" from "own: no object of a list is stored if an index function refuses one":
            (Some(RefusedStopsItsList)) breaks ["all_is_told"];
        Seeded "refused_is_gone"
            from "own: what the store refuses of a list is missing from it":
            (Some(RefusedIsGone)) breaks ["a_legal_sequence"];
        Seeded "resync_is_for_all" from "cache:SI-21":
            (Some(ResyncIsForAll)) breaks ["resyncs_as_wanted"];
        Seeded "one_period_for_all" from "cache:SI-28":
            (Some(OnePeriodForAll)) breaks ["resyncs_as_wanted"];
        Seeded "never_resyncs" from "cache:SI-28":
            (Some(NeverResyncs)) breaks ["resyncs_come"];
    }
}

fn of_ends() -> Vec<Mutant<Informer>> {
    use Mistake::*;
    mutants! { mistaken:
        Seeded "runs_twice" from "museum A70":
            (Some(RunsTwice)) breaks ["runs_once"];
        Seeded "panic_leaves_the_reflector" from "museum A62":
            (Some(PanicLeavesTheReflector)) breaks ["panics_come_out"];
        Seeded "one_signal_for_all" from "museum A64":
            (Some(OneSignalForAll)) breaks ["ends_in_order"];
        Seeded "end_is_not_told" from "cache:PL-3":
            (Some(EndIsNotTold)) breaks ["terminates"];
        Seeded "joins_under_the_lock" from "museum C6":
            (Some(JoinsUnderTheLock)) breaks ["terminates"];
        Seeded "run_leaves_its_handlers" from "cache:SI-12":
            (Some(RunLeavesItsHandlers)) breaks ["nothing_is_left"];
        Seeded "handlers_of_what_never_ran_stay" from "museum C18":
            (Some(HandlersOfWhatNeverRanStay)) breaks ["terminates"];
    }
}

fn of_handlers() -> Vec<Mutant<Informer>> {
    use Mistake::*;
    mutants! { mistaken:
        Seeded "late_handlers_miss_changes" from "cache:SI-33":
            (Some(LateHandlersMissChanges)) breaks ["all_is_told"];
        Seeded "late_handlers_see_twice" from "cache:SI-33":
            (Some(LateHandlersSeeTwice)) breaks ["a_legal_sequence"];
        Seeded "synced_before_the_first_is_told" from "cache:PL-21":
            (Some(SyncedBeforeTheFirstIsTold)) breaks ["synced_not_early"];
        Seeded "stopped_takes_handlers" from "cache:SI-32":
            (Some(StoppedTakesHandlers)) breaks ["ends_in_order"];
        Seeded "synced_with_the_informer" from "cache:SI-15":
            (Some(SyncedWithTheInformer)) breaks ["synced_not_early"];
        Seeded "removes_by_place" from "museum A68":
            (Some(RemovesByPlace)) breaks ["all_is_told"];
        Seeded "removal_is_not_told" from "cache:PL-13":
            (Some(RemovalIsNotTold)) breaks ["removed_goes"];
        Seeded "removal_is_not_awaited" from "cache:SI-38":
            (Some(RemovalIsNotAwaited)) breaks ["removed_is_left_alone"];
        Seeded "waits_for_removal_under_the_lock" from "cache:SI-39":
            (Some(WaitsForRemovalUnderTheLock)) breaks ["terminates"];
    }
}

fn of_calls() -> Vec<Mutant<Informer>> {
    use Mistake::*;
    mutants! { mistaken:
        Seeded "synced_when_it_is_told" from "cache:PL-20":
            (Some(SyncedWhenItIsTold)) breaks ["synced_not_early"];
        Seeded "panic_ends_the_handler" from "museum A66":
            (Some(PanicEndsTheHandler)) breaks ["a_panic_costs_one_change"];
        Seeded "panic_is_not_reported" from "cache:PL-15":
            (Some(PanicIsNotReported)) breaks ["a_panic_costs_one_change"];
        Seeded "panicked_is_seen" from "cache:PL-16":
            (Some(PanickedIsSeen)) breaks ["synced_not_early"];
        Seeded "pause_delays_the_end" from "cache:PL-15":
            (Some(PauseDelaysTheEnd)) breaks ["ends_at_once"];
        Seeded "no_pause_behind_a_panic" from "cache:PL-15":
            (Some(NoPauseBehindAPanic)) breaks ["a_panic_costs_one_change"];
        Seeded "slow_is_not_reported" from "cache:PL-17":
            (Some(SlowIsNotReported)) breaks ["slow_is_reported"];
        Seeded "everybody_is_slow" from "cache:PL-17":
            (Some(EverybodyIsSlow)) breaks ["slow_is_reported"];
    }
}
