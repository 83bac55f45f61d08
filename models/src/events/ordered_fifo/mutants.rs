//! The bugs: one changed rule or one changed wake each.

use seatrial_core::machine::Step;
use seatrial_core::ordered_fifo::{Event, Op, POPPERS, Ret};

use super::{Happened, OrderedFifo};
use crate::events::fixtures::{
    Object, Objects, edited, mistaken, of_waking, retold_if_transformed, transformed_again,
};
use crate::trial::{Mutant, MutantKind, at_most, mutants};

type Rules = <OrderedFifo as Objects>::Rules;

pub(super) fn all() -> Vec<Mutant<OrderedFifo>> {
    [of_rules(), of_wakes(), of_answers()].concat()
}

/// The bugs of the rules: the plain queue with mistakes.
pub(super) fn of_rules() -> Vec<Mutant<OrderedFifo>> {
    let of_writes = [exhibits(), of_changes(), of_lists()].concat();
    [of_writes, of_the_lock(), of_batches(), of_the_first_list(), of_delivery()].concat()
}

/// Tells whether a mutant shows only if another caller comes during the processing. A lone caller
/// cannot tell whether the lock is held then.
pub(super) fn is_of_the_lock(mutant: &Mutant<OrderedFifo>) -> bool {
    of_the_lock().iter().any(|other| other.name == mutant.name)
}

/// Mistakes of no mutant: no scenario has a consumer whose objects lack a key.
pub(crate) const OTHERS: &[&str] = &["resync_hides_refused"];

fn exhibits() -> Vec<Mutant<OrderedFifo>> {
    mutants! { mistaken:
        Exhibit "charged_when_processed" from "museum C4, cache:KD-4" breaks ["never_synced_early"];
    }
}

fn of_changes() -> Vec<Mutant<OrderedFifo>> {
    mutants! { mistaken:
        Seeded "changes_are_merged"
            from "cache:RF-1, a new change replaces the queued change of its object"
            breaks ["agrees_with_the_sequential_object"];
        Seeded "delete_asks_the_store" from "cache:RF-5, as the DeltaFIFO does"
            breaks ["nothing_is_lost"];
        Seeded "close_gates_writers" from "cache:QU-4" breaks ["nothing_is_lost"];
    }
}

fn of_lists() -> Vec<Mutant<OrderedFifo>> {
    mutants! { mistaken:
        Seeded "list_before_tombstones" from "cache:RF-7, as the DeltaFIFO does"
            breaks ["agrees_with_the_sequential_object"];
        Seeded "tombstone_behind_deletion" from "cache:RF-8"
            breaks ["agrees_with_the_sequential_object"];
        Seeded "tombstone_from_the_store" from "cache:RF-7"
            breaks ["agrees_with_the_sequential_object"];
        Seeded "queued_is_not_compared" from "article cache:AR-2" breaks ["nothing_is_lost"];
        Seeded "known_is_not_compared" from "cache:RF-7, step 2 is left out"
            breaks ["nothing_is_lost"];
        Seeded "list_clears_the_queue" from "cache:RF-7, as the FIFO does"
            breaks ["agrees_with_the_sequential_object"];
        Seeded "list_in_pieces" from "museum A20" breaks ["agrees_with_the_sequential_object"];
        Seeded "resync_over_queued" from "museum B2"
            breaks ["agrees_with_the_sequential_object", "nothing_is_lost"];
        Seeded "resync_shows_nothing" from "cache:RF-12, as a plain store does"
            breaks ["agrees_with_the_sequential_object"];
        Seeded "bookmarks_everywhere" from "cache:RF-14"
            breaks ["agrees_with_the_sequential_object"];
        Seeded "bookmarks_nowhere" from "cache:RF-14, the test is negated"
            breaks ["agrees_with_the_sequential_object"];
        Seeded "atomic_resync_shows_nothing"
            from "cache:RF-13, an atomic queue knows no objects, so a resync seems needless"
            breaks ["agrees_with_the_sequential_object"];
    }
}

fn of_the_lock() -> Vec<Mutant<OrderedFifo>> {
    mutants! { mistaken:
        Seeded "plain_mode_is_unlocked" from "cache:QU-12"
            breaks ["one_at_a_time", "agrees_with_the_sequential_object"];
        Seeded "long_queue_is_unlocked" from "cache:RF-31"
            breaks ["agrees_with_the_sequential_object"];
        Seeded "never_unlocked" from "cache:RF-31, the test is negated"
            breaks ["agrees_with_the_sequential_object"];
        Seeded "second_consumer_is_let_in" from "cache:RF-32" breaks ["one_at_a_time"];
        Seeded "whole_lists_are_unlocked"
            from "cache:RF-31, the lock is released for every event that is handed out alone"
            breaks ["one_at_a_time", "agrees_with_the_sequential_object"];
        Seeded "locked_wakes_nobody"
            from "own: a consumer that processes under the lock does not wake the consumers that \
                  waited for an unlocked one"
            breaks ["no_lost_wakeup"];
    }
}

fn of_batches() -> Vec<Mutant<OrderedFifo>> {
    mutants! { mistaken:
        Seeded "list_in_a_batch" from "museum A16" breaks ["agrees_with_the_sequential_object"];
        Seeded "batch_repeats_objects" from "cache:RF-22"
            breaks ["agrees_with_the_sequential_object"];
        Seeded "batch_crosses_the_first_list" from "cache:RF-19"
            breaks ["agrees_with_the_sequential_object"];
        Seeded "batch_without_limit" from "cache:RF-19"
            breaks ["agrees_with_the_sequential_object"];
        Seeded "batch_of_one" from "cache:RF-19" breaks ["agrees_with_the_sequential_object"];
    }
}

fn of_the_first_list() -> Vec<Mutant<OrderedFifo>> {
    mutants! { mistaken:
        Seeded "counted_when_taken" from "museum A18" breaks ["never_synced_early"];
        Seeded "every_list_counts" from "cache:RF-11, the test for the first list is left out"
            breaks ["synced_for_good", "agrees_with_the_sequential_object"];
        Seeded "processed_is_not_counted" from "cache:RF-16"
            breaks ["synced_once_processed", "agrees_with_the_sequential_object"];
        Seeded "flag_after_count" from "cache:QU-20" breaks ["agrees_with_the_sequential_object"];
        Seeded "resync_is_a_write" from "cache:QU-14" breaks ["never_synced_early"];
        Seeded "bookmark_is_a_write" from "cache:RF-14" breaks ["never_synced_early"];
        Seeded "refused_is_no_write" from "cache:RF-6" breaks ["synced_once_processed"];
        Seeded "put_is_no_write" from "cache:QU-14" breaks ["synced_once_processed"];
        Seeded "delete_is_no_write" from "cache:QU-14" breaks ["synced_once_processed"];
        Seeded "close_ends_the_wait" from "own: a closed queue is taken for a drained one"
            breaks ["synced_once_processed"];
    }
}

fn of_delivery() -> Vec<Mutant<OrderedFifo>> {
    mutants! { mistaken:
        Seeded "last_in_first_out" from "cache:RF-15, events are popped at the wrong end"
            breaks ["agrees_with_the_sequential_object"];
        Seeded "taken_stays" from "cache:QU-8" breaks ["agrees_with_the_sequential_object"];
        Seeded "what_is_left_counts_the_taken"
            from "cache:QU-21, the count is made before the events are taken out"
            breaks ["agrees_with_the_sequential_object"];
        Seeded "close_discards" from "cache:QU-3" breaks ["agrees_with_the_sequential_object"];
        Seeded "empty_is_closed" from "cache:QU-2" breaks ["agrees_with_the_sequential_object"];
        Seeded "empty_batch_is_closed"
            from "cache:QU-2, only a batch takes an empty queue for a closed one"
            breaks ["agrees_with_the_sequential_object"];
        Seeded "len_counts_what_is_in_process" from "cache:RF-32"
            breaks ["agrees_with_the_sequential_object"];
        Seeded "list_newest_first" from "cache:QU-1" breaks ["agrees_with_the_sequential_object"];
        Seeded "closed_is_denied" from "cache:QU-1" breaks ["agrees_with_the_sequential_object"];
    }
}

/// Why it does no harm here that several new events wake only one consumer.
const PASSED_ON: &str = "no consumer takes events while another one processes, and the end of \
                         processing wakes a consumer for the events that are left: the wake-up is \
                         passed on";

/// The mutants that change whom a step wakes, and nothing else.
pub(super) fn of_wakes() -> Vec<Mutant<OrderedFifo>> {
    let mut all = [of_waking(), of_waking_here()].concat();
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
            (|op, wakes, rules: &Rules| if matches!(op, Op::Put(_)) && rules.len() > 1 {
                wakes.set(POPPERS, 0);
            }) breaks [];
        Seeded "done_leaves_who_had_to_wait" from "cache:RF-32, the signal is left out":
            (at_most!(0, POPPERS, Op::Processed(_))) breaks ["no_lost_wakeup"];
        Seeded "done_leaves_who_waits_for_the_end"
            from "cache:QU-5, the queue is closed while a consumer processes":
            (|op, wakes, rules: &Rules| if matches!(op, Op::Processed(_)) && rules.is_closed() {
                wakes.set(POPPERS, 0);
            }) breaks ["close_wakes_everybody"];
    }
}

fn of_answers() -> Vec<Mutant<OrderedFifo>> {
    mutants! { retold_if_transformed:
        Seeded "transformed_when_taken" from "museum A14":
            (|step, _| transform_again(step))
            breaks ["transformed_once", "agrees_with_the_sequential_object"];
    }
}

/// Transforms objects again when they are handed out, though they were transformed on the way in.
fn transform_again(step: &mut Step<Ret<u8, Object>>) {
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
