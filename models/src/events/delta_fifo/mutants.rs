//! The bugs: one changed rule or one changed wake each.

use seatrial_core::delta_fifo::{Deltas, Op, POPPERS, Popped, Ret};
use seatrial_core::machine::Step;

use super::DeltaFifo;
use crate::events::fixtures::{
    Object, Objects, edited, mistaken, of_requeues, of_waking, retold, retold_if_transformed,
    transformed_again,
};
use crate::trial::{Mutant, at_most, mutants};

type Rules = <DeltaFifo as Objects>::Rules;

pub(super) fn all() -> Vec<Mutant<DeltaFifo>> {
    [of_rules(), of_wakes(), of_answers()].concat()
}

/// The bugs of the rules: the plain queue with mistakes.
pub(super) fn of_rules() -> Vec<Mutant<DeltaFifo>> {
    [exhibits(), reported(), of_changes(), of_lists(), of_delivery()].concat()
}

/// The mutants that change whom a step wakes, and nothing else.
pub(super) fn of_wakes() -> Vec<Mutant<DeltaFifo>> {
    [of_waking(), of_requeues(), of_waking_here()].concat()
}

fn exhibits() -> Vec<Mutant<DeltaFifo>> {
    mutants! { mistaken:
        Exhibit "latch_set_when_taken" from "cache:KD-1, museum A18"
            breaks ["agrees_with_the_sequential_object"];
    }
}

/// Bugs that were reported of the reference, or that the article names.
fn reported() -> Vec<Mutant<DeltaFifo>> {
    mutants! { mistaken:
        Seeded "sync_lost_behind_deletion" from "museum A2, article cache:AR-3"
            breaks ["agrees_with_the_sequential_object", "nothing_is_lost"];
        Seeded "listed_object_lost_behind_deletion" from "museum A2, article cache:AR-3"
            breaks ["agrees_with_the_sequential_object", "nothing_is_lost"];
        Seeded "tombstone_in_a_tombstone" from "museum A4"
            breaks ["agrees_with_the_sequential_object"];
        Seeded "batch_counts_objects" from "museum A6, article cache:AR-19"
            breaks ["synced_once_processed", "sync_wakes_everybody"];
        Seeded "list_looks_like_resync" from "museum A10"
            breaks ["agrees_with_the_sequential_object"];
        Seeded "requeued_without_being_asked" from "museum A12, article cache:AR-8"
            breaks ["agrees_with_the_sequential_object"];
        Seeded "requeue_overwrites_newer" from "museum A12, article cache:AR-9"
            breaks ["agrees_with_the_sequential_object", "nothing_is_lost"];
        Seeded "resync_over_pending" from "museum B2"
            breaks ["agrees_with_the_sequential_object", "nothing_is_lost"];
        Seeded "batch_without_deletions" from "museum B4, article cache:AR-19"
            breaks ["agrees_with_the_sequential_object", "never_synced_early"];
        Seeded "closed_flag_has_its_own_lock" from "museum B6, article cache:AR-17"
            breaks ["close_wakes_everybody"];
        Seeded "listed_and_unknown_is_deleted" from "article cache:AR-1"
            breaks ["agrees_with_the_sequential_object", "nothing_is_lost"];
        Seeded "pending_is_not_compared" from "article cache:AR-2"
            breaks ["nothing_is_lost", "agrees_with_the_sequential_object"];
        Seeded "delete_asks_the_queue_only" from "article cache:AR-21" breaks ["nothing_is_lost"];
    }
}

fn of_changes() -> Vec<Mutant<DeltaFifo>> {
    mutants! { mistaken:
        Seeded "no_deduplication" from "cache:DF-6, the last change of the entry is not looked at"
            breaks ["deletions_are_deduplicated"];
        Seeded "newer_deletion_wins" from "cache:DF-6, article cache:AR-22"
            breaks ["agrees_with_the_sequential_object"];
        Seeded "older_tombstone_wins" from "cache:DF-6, article cache:AR-22"
            breaks ["agrees_with_the_sequential_object"];
        Seeded "deduplicates_across_changes"
            from "cache:DF-7, the whole entry is searched for a deletion"
            breaks ["agrees_with_the_sequential_object"];
        Seeded "updates_are_merged" from "cache:DF-7" breaks ["agrees_with_the_sequential_object"];
        Seeded "deletion_cancels_addition"
            from "cache:DF-7, no consumer has seen the object, so the deletion seems needless"
            breaks ["agrees_with_the_sequential_object"];
        Seeded "deletion_forgets_history" from "cache:DF-7"
            breaks ["agrees_with_the_sequential_object"];
        Seeded "delete_takes_the_entry" from "cache:DF-11, as the FIFO does"
            breaks ["agrees_with_the_sequential_object", "nothing_is_lost"];
        Seeded "verb_is_corrected" from "cache:DF-8" breaks ["agrees_with_the_sequential_object"];
        Seeded "queued_for_every_change"
            from "cache:DF-1, the test for an existing entry is left out"
            breaks ["agrees_with_the_sequential_object"];
        Seeded "change_moves_to_the_tail" from "cache:DF-26"
            breaks ["agrees_with_the_sequential_object"];
        Seeded "delete_asks_the_store_only" from "cache:DF-9" breaks ["nothing_is_lost"];
        Seeded "delete_asks_nobody" from "cache:DF-9" breaks ["agrees_with_the_sequential_object"];
        Seeded "failed_lookup_is_absence" from "cache:DF-9" breaks ["nothing_is_lost"];
        Seeded "ignored_deletion_is_no_write" from "cache:DF-10" breaks ["synced_once_processed"];
        Seeded "put_is_no_write" from "cache:QU-14"
            breaks ["synced_once_processed", "agrees_with_the_sequential_object"];
        Seeded "put_back_is_no_write" from "cache:QU-10, QU-14"
            breaks ["synced_once_processed", "agrees_with_the_sequential_object"];
        Seeded "refused_put_is_no_write" from "cache:QU-19" breaks ["synced_once_processed"];
    }
}

fn of_lists() -> Vec<Mutant<DeltaFifo>> {
    mutants! { mistaken:
        Seeded "known_is_not_compared" from "cache:DF-12, step 3 is left out"
            breaks ["nothing_is_lost"];
        Seeded "tombstone_from_the_store" from "cache:DF-13"
            breaks ["agrees_with_the_sequential_object"];
        Seeded "no_tombstone_without_lookup" from "cache:DF-15" breaks ["nothing_is_lost"];
        Seeded "every_list_counts" from "cache:DF-18, the test for the first list is left out"
            breaks ["synced_for_good", "agrees_with_the_sequential_object"];
        Seeded "refused_list_counts" from "cache:DF-20"
            breaks ["never_synced_early", "agrees_with_the_sequential_object"];
        Seeded "refused_list_deletes" from "cache:DF-20"
            breaks ["agrees_with_the_sequential_object"];
        Seeded "list_clears_pending" from "cache:DF-12, as the FIFO does"
            breaks ["agrees_with_the_sequential_object"];
        Seeded "resync_shows_nothing" from "cache:DF-21, as a plain store does"
            breaks ["agrees_with_the_sequential_object"];
        Seeded "resync_deletes_the_unreadable" from "cache:DF-21"
            breaks ["agrees_with_the_sequential_object"];
        Seeded "resync_is_a_write" from "cache:QU-14"
            breaks ["never_synced_early", "agrees_with_the_sequential_object"];
    }
}

fn of_delivery() -> Vec<Mutant<DeltaFifo>> {
    mutants! { mistaken:
        Seeded "flag_after_count" from "cache:QU-20" breaks ["agrees_with_the_sequential_object"];
        Seeded "close_ends_the_wait" from "own: a closed queue is taken for a drained one"
            breaks ["synced_once_processed"];
        Seeded "processed_is_not_counted" from "cache:QU-15"
            breaks ["synced_once_processed", "agrees_with_the_sequential_object"];
        Seeded "unlocked_while_processing" from "cache:DF-29, QU-12" breaks ["one_at_a_time"];
        Seeded "last_in_first_out" from "cache:DF-24, entries are popped at the wrong end"
            breaks ["agrees_with_the_sequential_object"];
        Seeded "newest_change_only" from "cache:DF-24" breaks ["agrees_with_the_sequential_object"];
        Seeded "close_discards" from "cache:QU-3" breaks ["agrees_with_the_sequential_object"];
        Seeded "empty_is_closed" from "cache:QU-2" breaks ["agrees_with_the_sequential_object"];
        Seeded "close_gates_writers" from "cache:QU-4" breaks ["nothing_is_lost"];
        Seeded "requeue_in_front" from "cache:QU-11" breaks ["agrees_with_the_sequential_object"];
        Seeded "get_newest_only" from "cache:DF-28, article cache:AR-14"
            breaks ["agrees_with_the_sequential_object"];
        Seeded "list_by_key" from "cache:DF-28, article cache:AR-14"
            breaks ["agrees_with_the_sequential_object"];
        Seeded "len_counts_changes" from "cache:DF-28" breaks ["agrees_with_the_sequential_object"];
    }
}

fn of_waking_here() -> Vec<Mutant<DeltaFifo>> {
    mutants! { edited:
        Seeded "deletion_never_wakes" from "cache:QU-7, the signal is left out":
            (at_most!(0, POPPERS, Op::Delete(_))) breaks ["no_lost_wakeup"];
        Seeded "resync_never_wakes" from "cache:QU-7, the signal is left out":
            (at_most!(0, POPPERS, Op::Resync(_))) breaks ["no_lost_wakeup"];
        Seeded "wakes_if_it_was_empty" from "cache:QU-7, a put signals only if the queue was empty":
            (|op, wakes, rules: &Rules| if matches!(op, Op::Put(_) | Op::Delete(_)) && rules.len() > 1 {
                wakes.set(POPPERS, 0);
            }) breaks ["no_lost_wakeup"];
    }
}

fn of_answers() -> Vec<Mutant<DeltaFifo>> {
    let mut all = mutants! { retold:
        Seeded "closed_is_not_synced" from "cache:QU-16":
            (|step, rules: &Rules| if let Step::Done(Ret::HasSynced(says)) = step {
                *says &= !rules.is_closed();
            }) breaks ["synced_for_good"];
    };
    all.extend(mutants! { retold_if_transformed:
        Seeded "transformed_when_taken" from "museum A14":
            (|step, _| transform_again(step))
            breaks ["transformed_once", "agrees_with_the_sequential_object"];
    });
    all
}

/// Transforms objects again when they are handed out, though they were transformed on the way in.
fn transform_again(step: &mut Step<Ret<u8, Object>>) {
    if let Step::Held(Ret::Pop(Some(Popped { deltas, .. }))) = step {
        *deltas = deltas.iter().map(transformed_again).collect::<Deltas<_, _>>();
    }
}
