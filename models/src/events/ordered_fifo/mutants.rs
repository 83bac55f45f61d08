//! The bugs: one changed rule or one changed wake each.

use seatrial_core::machine::{Passed, Step};
use seatrial_core::ordered_fifo::{Event, Op, POPPERS, Ret, SYNC};

use super::reference::Mistake::{self, *};
use super::tried::{Happened, Tried, ships};
use super::{EventList, Machine, MachineRet, OrderedFifo};
use crate::events::fixtures::{queue_wakes, shell_wakes, transformed_again};
use crate::trial::{Edit, Edited, Forgetful, MachineOf, Mutant, MutantKind};
use crate::trial::{Retell, Retold, at_most, mutants};

pub(super) fn all() -> Vec<Mutant<OrderedFifo>> {
    let mut all = exhibits();
    all.extend(of_changes());
    all.extend(of_lists());
    all.extend(of_the_lock());
    all.extend(of_batches());
    all.extend(of_the_first_list());
    all.extend(of_delivery());
    all.extend(of_waking());
    all.extend(of_answers());
    all
}

/// Tells whether a mutant is the machine that ships with its wakes edited.
pub(super) fn is_of_waking(mutant: &Mutant<OrderedFifo>) -> bool {
    of_waking().iter().any(|edited| edited.name == mutant.name)
}

/// Tells whether a mutant shows only if another caller comes during the processing. A lone caller
/// cannot tell whether the lock is held then.
pub(super) fn is_of_the_lock(mutant: &Mutant<OrderedFifo>) -> bool {
    of_the_lock().iter().any(|other| other.name == mutant.name)
}

/// The sequential object with mistakes.
fn mistaken(mistakes: &'static [Mistake]) -> MachineOf<OrderedFifo> {
    Tried::by(move |config| Box::new(EventList::with(mistakes, config.setup, config.known.clone())))
}

/// The machine that ships, its wakes edited after each step.
fn edited(edit: Edit<Machine>) -> MachineOf<OrderedFifo> {
    Tried::by(move |config| Box::new(Edited { machine: ships(config), edit }))
}

/// The machine that ships, under a shell that forgets to pass something on.
fn forgets(what: Passed) -> MachineOf<OrderedFifo> {
    Tried::by(move |config| Box::new(Forgetful { machine: ships(config), forgets: what }))
}

/// The machine that ships; its answers are edited if there is a transformer.
fn retold_if_transformed(retell: Retell<Machine>) -> MachineOf<OrderedFifo> {
    Tried::by(move |config| match config.setup.transform {
        true => Box::new(Retold { machine: ships(config), retell }),
        false => Box::new(ships(config)),
    })
}

fn exhibits() -> Vec<Mutant<OrderedFifo>> {
    mutants! { mistaken:
        Exhibit "charged_when_processed" from "museum C4, cache:KD-4":
            (&[ChargeWhenProcessed]) breaks ["never_synced_early"];
    }
}

fn of_changes() -> Vec<Mutant<OrderedFifo>> {
    mutants! { mistaken:
        Seeded "changes_are_merged"
            from "cache:RF-1, a new change replaces the queued change of its object":
            (&[MergeChanges]) breaks ["order_of_arrival"];
        Seeded "delete_asks_the_store" from "cache:RF-5, as the DeltaFIFO does":
            (&[DeleteAsksStore]) breaks ["nothing_is_lost"];
        Seeded "close_gates_writers" from "cache:QU-4":
            (&[CloseGatesWriters]) breaks ["nothing_is_lost"];
    }
}

fn of_lists() -> Vec<Mutant<OrderedFifo>> {
    mutants! { mistaken:
        Seeded "list_before_tombstones" from "cache:RF-7, as the DeltaFIFO does":
            (&[ListBeforeTombstones]) breaks ["tombstones_come_first"];
        Seeded "tombstone_behind_deletion" from "cache:RF-8":
            (&[TombstoneAfterDeletion]) breaks ["deletions_are_not_repeated"];
        Seeded "tombstone_from_the_store" from "cache:RF-7":
            (&[TombstoneFromStore]) breaks ["tombstones_carry_the_newest_state"];
        Seeded "queued_is_not_compared" from "article cache:AR-2":
            (&[ListForgetsQueued]) breaks ["nothing_is_lost"];
        Seeded "known_is_not_compared" from "cache:RF-7, step 2 is left out":
            (&[ListForgetsKnown]) breaks ["nothing_is_lost"];
        Seeded "list_clears_the_queue" from "cache:RF-7, as the FIFO does":
            (&[ListClearsQueue]) breaks ["order_of_arrival"];
        Seeded "list_in_pieces" from "museum A20":
            (&[ListInPieces]) breaks ["a_list_is_one_step"];
        Seeded "resync_over_queued" from "museum B2":
            (&[ResyncShowsQueued]) breaks ["resync_never_goes_back", "nothing_is_lost"];
        Seeded "resync_shows_nothing" from "cache:RF-12, as a plain store does":
            (&[ResyncShowsNothing]) breaks ["resync_shows_the_idle"];
        Seeded "bookmarks_everywhere" from "cache:RF-14":
            (&[BookmarkEverywhere]) breaks ["bookmarks_where_asked"];
        Seeded "bookmarks_nowhere" from "cache:RF-14, the test is negated":
            (&[BookmarkNowhere]) breaks ["bookmarks_where_asked"];
        Seeded "atomic_resync_shows_nothing"
            from "cache:RF-13, an atomic queue knows no objects, so a resync seems needless":
            (&[AtomicResyncShowsNothing]) breaks ["resync_shows_the_idle"];
    }
}

fn of_the_lock() -> Vec<Mutant<OrderedFifo>> {
    mutants! { mistaken:
        Seeded "plain_mode_is_unlocked" from "cache:QU-12":
            (&[UnlockPlain]) breaks ["one_at_a_time", "long_queues_keep_the_lock"];
        Seeded "long_queue_is_unlocked" from "cache:RF-31":
            (&[UnlockLongQueue]) breaks ["long_queues_keep_the_lock"];
        Seeded "never_unlocked" from "cache:RF-31, the test is negated":
            (&[KeepLocked]) breaks ["long_queues_keep_the_lock"];
        Seeded "second_consumer_is_let_in" from "cache:RF-32":
            (&[SecondConsumer]) breaks ["one_at_a_time"];
        Seeded "whole_lists_are_unlocked"
            from "cache:RF-31, the lock is released for every event that is handed out alone":
            (&[UnlockWholeLists]) breaks ["one_at_a_time", "long_queues_keep_the_lock"];
        Seeded "locked_wakes_nobody"
            from "own: a consumer that processes under the lock does not wake the consumers that \
                  waited for an unlocked one":
            (&[LockedWakesNobody]) breaks ["no_lost_wakeup"];
    }
}

fn of_batches() -> Vec<Mutant<OrderedFifo>> {
    mutants! { mistaken:
        Seeded "list_in_a_batch" from "museum A16":
            (&[BatchWhateverComes]) breaks ["batches_are_of_changes"];
        Seeded "batch_repeats_objects" from "cache:RF-22":
            (&[BatchRepeatsKeys]) breaks ["batches_are_of_different_objects"];
        Seeded "batch_crosses_the_first_list" from "cache:RF-19":
            (&[BatchAcrossFirstList]) breaks ["batches_end_with_the_first_list"];
        Seeded "batch_without_limit" from "cache:RF-19":
            (&[BatchWithoutLimit]) breaks ["batches_have_a_limit"];
        Seeded "batch_of_one" from "cache:RF-19":
            (&[BatchOfOne]) breaks ["agrees_with_the_sequential_object"];
    }
}

fn of_the_first_list() -> Vec<Mutant<OrderedFifo>> {
    mutants! { mistaken:
        Seeded "counted_when_taken" from "museum A18":
            (&[CountWhenTaken]) breaks ["never_synced_early"];
        Seeded "every_list_counts" from "cache:RF-11, the test for the first list is left out":
            (&[CountEveryList]) breaks ["synced_for_good", "initial_until_synced"];
        Seeded "processed_is_not_counted" from "cache:RF-16":
            (&[NeverCount]) breaks ["synced_once_processed", "initial_until_synced"];
        Seeded "flag_after_count" from "cache:QU-20":
            (&[FlagAfterCount]) breaks ["initial_until_synced"];
        Seeded "resync_is_a_write" from "cache:QU-14":
            (&[ResyncPopulates]) breaks ["never_synced_early"];
        Seeded "bookmark_is_a_write" from "cache:RF-14":
            (&[BookmarkPopulates]) breaks ["never_synced_early"];
        Seeded "refused_is_no_write" from "cache:RF-6":
            (&[RefusedIsNoWrite]) breaks ["synced_once_processed"];
        Seeded "put_is_no_write" from "cache:QU-14":
            (&[PutIsNoWrite]) breaks ["synced_once_processed"];
        Seeded "delete_is_no_write" from "cache:QU-14":
            (&[DeleteIsNoWrite]) breaks ["synced_once_processed"];
        Seeded "close_ends_the_wait" from "own: a closed queue is taken for a drained one":
            (&[CloseEndsTheWait]) breaks ["synced_once_processed"];
    }
}

fn of_delivery() -> Vec<Mutant<OrderedFifo>> {
    mutants! { mistaken:
        Seeded "last_in_first_out" from "cache:RF-15, events are popped at the wrong end":
            (&[LastInFirstOut]) breaks ["order_of_arrival"];
        Seeded "taken_stays" from "cache:QU-8":
            (&[TakenStays]) breaks ["order_of_arrival"];
        Seeded "what_is_left_counts_the_taken"
            from "cache:QU-21, the count is made before the events are taken out":
            (&[LeftCountsTaken]) breaks ["what_is_left_is_told"];
        Seeded "close_discards" from "cache:QU-3":
            (&[CloseDiscards]) breaks ["close_discards_nothing"];
        Seeded "empty_is_closed" from "cache:QU-2":
            (&[EmptyIsClosed]) breaks ["close_discards_nothing"];
        Seeded "empty_batch_is_closed"
            from "cache:QU-2, only a batch takes an empty queue for a closed one":
            (&[EmptyBatchIsClosed]) breaks ["close_discards_nothing"];
        Seeded "len_counts_what_is_in_process" from "cache:RF-32":
            (&[LenCountsInProcess]) breaks ["reads_agree"];
        Seeded "list_newest_first" from "cache:QU-1":
            (&[ListNewestFirst]) breaks ["reads_agree"];
        Seeded "closed_is_denied" from "cache:QU-1":
            (&[ClosedIsDenied]) breaks ["reads_agree"];
    }
}

/// Why it does no harm here that several new events wake only one consumer.
const PASSED_ON: &str = "no consumer takes events while another one processes, and the end of \
                         processing wakes a consumer for the events that are left: the wake-up is \
                         passed on";

fn of_waking() -> Vec<Mutant<OrderedFifo>> {
    let mut all = [queue_wakes! { edited }, of_waking_here(), shell_wakes! { forgets }].concat();
    for mutant in all.iter_mut().filter(|mutant| mutant.name == "list_wakes_one") {
        (mutant.kind, mutant.breaks) = (MutantKind::Equivalent(PASSED_ON), &[]);
    }
    all
}

fn of_waking_here() -> Vec<Mutant<OrderedFifo>> {
    mutants! { edited:
        Seeded "deletion_never_wakes" from "cache:QU-7, the signal is left out":
            (at_most!(0, POPPERS, Op::Delete(_))) breaks ["no_lost_wakeup"];
        Seeded "whole_list_never_wakes" from "cache:QU-7, the signal is left out":
            (at_most!(0, POPPERS, Op::ReplaceAll(_))) breaks ["no_lost_wakeup"];
        Seeded "resync_never_wakes" from "cache:QU-7, the signal is left out":
            (at_most!(0, POPPERS, Op::Resync(_))) breaks ["no_lost_wakeup"];
        Seeded "bookmark_never_wakes" from "cache:QU-7, the signal is left out":
            (at_most!(0, POPPERS, Op::Mark(_))) breaks ["no_lost_wakeup"];
        Equivalent(PASSED_ON) "wakes_if_it_was_empty"
            from "cache:QU-7, a put signals only if the queue was empty":
            (|op, wakes, rules| if matches!(op, Op::Put(_)) && rules.len() > 1 {
                wakes.set(POPPERS, 0);
            }) breaks [];
        Seeded "done_leaves_who_had_to_wait" from "cache:RF-32, the signal is left out":
            (at_most!(0, POPPERS, Op::Processed(_))) breaks ["no_lost_wakeup"];
        Seeded "done_leaves_who_waits_for_the_end"
            from "cache:QU-5, the queue is closed while a consumer processes":
            (|op, wakes, rules| if matches!(op, Op::Processed(_)) && rules.is_closed() {
                wakes.set(POPPERS, 0);
            }) breaks ["close_wakes_everybody"];
    }
}

fn of_answers() -> Vec<Mutant<OrderedFifo>> {
    mutants! { retold_if_transformed:
        Seeded "transformed_when_taken" from "museum A14":
            (|step, _| transform_again(step)) breaks ["transformed_once"];
    }
}

/// Transforms objects again when they are handed out, though they were transformed on the way in.
fn transform_again(step: &mut Step<MachineRet>) {
    if let Step::Held(Ret::Pop(Some(popped))) = step {
        popped.event = again(&popped.event);
    }
}

fn again(event: &Happened) -> Happened {
    match event {
        Event::Delta(delta) => Event::Delta(transformed_again(delta)),
        other => other.clone(),
    }
}
