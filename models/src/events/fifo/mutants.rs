//! The bugs: one changed rule or one changed wake each.

use seatrial_core::fifo::{Op, POPPERS, Ret, SYNC};
use seatrial_core::machine::Step;

use super::Fifo;
use crate::events::fixtures::{Objects, edited, mistaken, of_requeues, of_waking, retold};
use crate::trial::{Mutant, at_most, mutants};

type Rules = <Fifo as Objects>::Rules;

pub(super) fn all() -> Vec<Mutant<Fifo>> {
    [of_rules(), of_wakes(), of_answers()].concat()
}

/// The bugs of the rules: the plain queue with mistakes.
pub(super) fn of_rules() -> Vec<Mutant<Fifo>> {
    [exhibits(), reported(), of_places(), of_the_first_list(), of_popping()].concat()
}

/// The mutants that change whom a step wakes, and nothing else.
pub(super) fn of_wakes() -> Vec<Mutant<Fifo>> {
    [of_waking(), of_requeues(), of_waking_here()].concat()
}

fn exhibits() -> Vec<Mutant<Fifo>> {
    mutants! { mistaken:
        Exhibit "latch_looked_at_when_pop_returns" from "museum C2, cache:KD-2"

            breaks ["synced_once_processed", "agrees_with_the_sequential_object", "sync_wakes_everybody"];
        Exhibit "list_in_the_order_of_a_map" from "cache:FF-9, the article"
            breaks ["agrees_with_the_sequential_object"];
    }
}

/// Bugs that were reported of the reference, or that the article names.
fn reported() -> Vec<Mutant<Fifo>> {
    mutants! { mistaken:
        Seeded "batch_counts_objects" from "museum A6, the article"
            breaks ["synced_once_processed", "sync_wakes_everybody"];
        Seeded "requeued_without_being_asked" from "museum A12, the article"
            breaks ["agrees_with_the_sequential_object"];
        Seeded "requeue_overwrites_newer" from "museum A12, the article"
            breaks ["agrees_with_the_sequential_object"];
        Seeded "closed_flag_has_its_own_lock" from "museum B6, the article"
            breaks ["close_wakes_everybody"];
        Seeded "resync_queues_again" from "the article"
            breaks ["agrees_with_the_sequential_object"];
        Seeded "one_place_each" from "the article" breaks ["agrees_with_the_sequential_object"];
    }
}

fn of_places() -> Vec<Mutant<Fifo>> {
    mutants! { mistaken:
        Seeded "update_moves" from "cache:FF-8" breaks ["agrees_with_the_sequential_object"];
        Seeded "update_loses_its_place" from "cache:FF-1"
            breaks ["nothing_is_lost"];
        Seeded "first_state_wins" from "cache:FF-2" breaks ["agrees_with_the_sequential_object"];
        Seeded "delete_removes_the_place" from "cache:FF-4, FF-7"
            breaks ["agrees_with_the_sequential_object", "synced_once_processed"];
        Seeded "delete_does_nothing" from "cache:FF-4" breaks ["agrees_with_the_sequential_object"];
        Seeded "list_keeps_what_it_misses" from "cache:FF-9"
            breaks ["agrees_with_the_sequential_object"];
        Seeded "last_in_first_out" from "cache:FF-8, objects are popped at the wrong end"
            breaks ["agrees_with_the_sequential_object"];
        Seeded "requeue_in_front" from "cache:QU-11" breaks ["agrees_with_the_sequential_object"];
        Seeded "requeue_forgets" from "cache:QU-9"
            breaks ["nothing_is_lost", "agrees_with_the_sequential_object"];
    }
}

fn of_the_first_list() -> Vec<Mutant<Fifo>> {
    mutants! { mistaken:
        Seeded "flag_after_count" from "cache:QU-20" breaks ["agrees_with_the_sequential_object"];
        Seeded "stale_places_do_not_count" from "cache:FF-12"

            breaks ["synced_once_processed", "agrees_with_the_sequential_object", "sync_wakes_everybody"];
        Seeded "every_list_counts" from "cache:FF-10, the test for the first list is left out"

            breaks ["synced_for_good", "agrees_with_the_sequential_object", "synced_once_processed"];
        Seeded "processed_is_not_counted" from "cache:QU-15"
            breaks ["synced_once_processed", "agrees_with_the_sequential_object"];
        Seeded "put_is_no_write" from "cache:QU-14"
            breaks ["agrees_with_the_sequential_object", "synced_once_processed"];
        Seeded "delete_is_no_write" from "cache:QU-14" breaks ["synced_once_processed"];
        Seeded "put_back_is_no_write" from "cache:QU-10, QU-14"
            breaks ["agrees_with_the_sequential_object", "synced_once_processed"];
    }
}

fn of_popping() -> Vec<Mutant<Fifo>> {
    mutants! { mistaken:
        Seeded "unlocked_while_processing" from "cache:QU-12" breaks ["one_at_a_time"];
        Seeded "empty_is_closed" from "cache:QU-2" breaks ["agrees_with_the_sequential_object"];
        Seeded "last_object_is_left" from "own: an open queue with one object is taken for empty"
            breaks ["nothing_is_lost", "no_lost_wakeup"];
        Seeded "close_discards" from "cache:QU-3" breaks ["agrees_with_the_sequential_object"];
        Seeded "close_gates_writers" from "cache:QU-4" breaks ["agrees_with_the_sequential_object"];
        Seeded "list_by_key" from "cache:FF-14, the objects are listed in the order of their keys"
            breaks ["agrees_with_the_sequential_object"];
        Seeded "len_counts_places" from "cache:FF-14" breaks ["agrees_with_the_sequential_object"];
    }
}

fn of_waking_here() -> Vec<Mutant<Fifo>> {
    mutants! { edited:
        Seeded "wakes_if_it_was_empty" from "cache:QU-7, a put signals only if the queue was empty":
            (|op, wakes, rules: &Rules| if matches!(op, Op::Put(_)) && rules.len() > 1 {
                wakes.set(POPPERS, 0);
            }) breaks ["no_lost_wakeup"];
        Seeded "delete_wakes_nobody"
            from "own: a delete that drains a closed queue wakes no waiter, as if only a pop could \
                  drain it":
            (at_most!(0, SYNC, Op::Delete(_))) breaks ["sync_wakes_everybody"];
        Seeded "skipping_wakes_nobody"
            from "cache:FF-13, a pop that skips the last place and then sleeps wakes no waiter":
            (at_most!(0, SYNC, Op::Pop(_))) breaks ["sync_wakes_everybody"];
    }
}

fn of_answers() -> Vec<Mutant<Fifo>> {
    mutants! { retold:
        Seeded "closed_is_not_synced" from "cache:QU-16":
            (|step, rules: &Rules| if let Step::Done(Ret::HasSynced(says)) = step {
                *says &= !rules.is_closed();
            }) breaks ["synced_for_good", "synced_once_processed"];
        Seeded "synced_once_written" from "cache:QU-15, the count of the list is not looked at":
            (|step, rules: &Rules| if let Step::Done(Ret::HasSynced(says)) = step {
                *says = rules.latch().is_populated();
            }) breaks ["never_synced_early"];
        Seeded "what_is_left_counts_the_taken"
            from "cache:QU-21, the count is made before the object is taken out":
            (|step, _| if let Step::Held(Ret::Pop(Some(popped))) = step {
                popped.left += 1;
            }) breaks ["agrees_with_the_sequential_object"];
    }
}
