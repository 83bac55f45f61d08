//! The bugs: one changed rule or one changed wake each.

use seatrial_core::fifo::{FifoQueue, Op, POPPERS, Ret, SYNC};
use seatrial_core::machine::{Passed, Step};
use seatrial_core::store::KeyHasher;

use super::reference::Mistake::{self, *};
use super::{Fifo, Machine, MapAndList};
use crate::events::fixtures::{Object, queue_wakes, requeue_wakes, shell_wakes};
use crate::trial::{Edit, Edited, Forgetful, MachineOf, Mutant, Retell, Retold, at_most, mutants};

pub(super) fn all() -> Vec<Mutant<Fifo>> {
    let mut all = exhibits();
    all.extend(reported());
    all.extend(of_places());
    all.extend(of_the_first_list());
    all.extend(of_popping());
    all.extend(of_waking());
    all.extend(of_answers());
    all
}

/// Tells whether a mutant is the machine that ships with its wakes edited.
pub(super) fn is_of_waking(mutant: &Mutant<Fifo>) -> bool {
    of_waking().iter().any(|edited| edited.name == mutant.name)
}

/// The reference's algorithm with mistakes.
fn mistaken(mistakes: &'static [Mistake]) -> MachineOf<Fifo> {
    Box::new(MapAndList::<u8, Object>::with(mistakes))
}

fn ships() -> Machine {
    FifoQueue::new(KeyHasher::fixed(7))
}

/// The machine that ships, its wakes edited after each step.
fn edited(edit: Edit<Machine>) -> MachineOf<Fifo> {
    Box::new(Edited { machine: ships(), edit })
}

/// The machine that ships, under a shell that forgets to pass something on.
fn forgets(what: Passed) -> MachineOf<Fifo> {
    Box::new(Forgetful { machine: ships(), forgets: what })
}

/// The machine that ships, its answers edited.
fn retold(retell: Retell<Machine>) -> MachineOf<Fifo> {
    Box::new(Retold { machine: ships(), retell })
}

fn exhibits() -> Vec<Mutant<Fifo>> {
    mutants! { mistaken:
        Exhibit "latch_looked_at_when_pop_returns" from "museum C2, cache:KD-2":
            (&[LatchWhenPopReturns])
            breaks ["synced_once_processed", "initial_until_synced", "sync_wakes_everybody"];
        Exhibit "list_in_the_order_of_a_map" from "cache:FF-9, the article":
            (&[ListInMapOrder]) breaks ["order_of_places"];
    }
}

/// Bugs that were reported of the reference, or that the article names.
fn reported() -> Vec<Mutant<Fifo>> {
    mutants! { mistaken:
        Seeded "batch_counts_objects" from "museum A6, the article":
            (&[CountListedObjects]) breaks ["synced_once_processed", "sync_wakes_everybody"];
        Seeded "requeued_without_being_asked" from "museum A12, the article":
            (&[RequeueAlways]) breaks ["only_what_waits"];
        Seeded "requeue_overwrites_newer" from "museum A12, the article":
            (&[RequeueOverwrites]) breaks ["newest_state"];
        Seeded "closed_flag_has_its_own_lock" from "museum B6, the article":
            (&[CloseUnderItsOwnLock]) breaks ["close_wakes_everybody"];
        Seeded "resync_queues_again" from "the article":
            (&[ResyncQueuesAgain]) breaks ["order_of_places"];
        Seeded "one_place_each" from "the article":
            (&[OnePlaceEach]) breaks ["order_of_places"];
    }
}

fn of_places() -> Vec<Mutant<Fifo>> {
    mutants! { mistaken:
        Seeded "update_moves" from "cache:FF-8":
            (&[UpdateMoves]) breaks ["order_of_places"];
        Seeded "update_loses_its_place" from "cache:FF-1":
            (&[UpdateLosesPlace]) breaks ["nothing_is_lost", "close_discards_nothing"];
        Seeded "first_state_wins" from "cache:FF-2":
            (&[KeepFirst]) breaks ["newest_state"];
        Seeded "delete_removes_the_place" from "cache:FF-4, FF-7":
            (&[DeleteRemovesPlace]) breaks ["order_of_places", "synced_once_processed"];
        Seeded "delete_does_nothing" from "cache:FF-4":
            (&[DeleteDoesNothing]) breaks ["only_what_waits"];
        Seeded "list_keeps_what_it_misses" from "cache:FF-9":
            (&[ReplaceKeepsOld]) breaks ["only_what_waits", "order_of_places"];
        Seeded "last_in_first_out" from "cache:FF-8, objects are popped at the wrong end":
            (&[LastInFirstOut]) breaks ["order_of_places"];
        Seeded "requeue_in_front" from "cache:QU-11":
            (&[RequeueInFront]) breaks ["order_of_places"];
        Seeded "requeue_forgets" from "cache:QU-9":
            (&[RequeueForgets]) breaks ["nothing_is_lost", "close_discards_nothing"];
    }
}

fn of_the_first_list() -> Vec<Mutant<Fifo>> {
    mutants! { mistaken:
        Seeded "flag_after_count" from "cache:QU-20":
            (&[CountWhenTaken]) breaks ["initial_until_synced"];
        Seeded "stale_places_do_not_count" from "cache:FF-12":
            (&[StalePlacesDoNotCount])
            breaks ["synced_once_processed", "initial_until_synced", "sync_wakes_everybody"];
        Seeded "every_list_counts" from "cache:FF-10, the test for the first list is left out":
            (&[CountEveryList])
            breaks ["synced_for_good", "initial_until_synced", "synced_once_processed"];
        Seeded "processed_is_not_counted" from "cache:QU-15":
            (&[NeverCount]) breaks ["synced_once_processed", "initial_until_synced"];
        Seeded "put_is_no_write" from "cache:QU-14":
            (&[PutIsNoWrite]) breaks ["initial_until_synced", "synced_once_processed"];
        Seeded "delete_is_no_write" from "cache:QU-14":
            (&[DeleteIsNoWrite]) breaks ["synced_once_processed"];
        Seeded "put_back_is_no_write" from "cache:QU-10, QU-14":
            (&[PutBackIsNoWrite]) breaks ["initial_until_synced", "synced_once_processed"];
    }
}

fn of_popping() -> Vec<Mutant<Fifo>> {
    mutants! { mistaken:
        Seeded "unlocked_while_processing" from "cache:QU-12":
            (&[UnlockWhileProcessing]) breaks ["one_at_a_time"];
        Seeded "empty_is_closed" from "cache:QU-2":
            (&[EmptyIsClosed]) breaks ["close_discards_nothing"];
        Seeded "last_object_is_left" from "own: an open queue with one object is taken for empty":
            (&[LeavesTheLast]) breaks ["nothing_is_lost", "no_lost_wakeup"];
        Seeded "close_discards" from "cache:QU-3":
            (&[CloseDiscards]) breaks ["close_discards_nothing"];
        Seeded "close_gates_writers" from "cache:QU-4":
            (&[CloseGatesWriters]) breaks ["close_discards_nothing"];
        Seeded "list_by_key" from "cache:FF-14, the objects are listed in the order of their keys":
            (&[ListByKey]) breaks ["reads_agree"];
        Seeded "len_counts_places" from "cache:FF-14":
            (&[LenCountsPlaces]) breaks ["reads_agree"];
    }
}

fn of_waking() -> Vec<Mutant<Fifo>> {
    let of_shells = shell_wakes! { forgets };
    [queue_wakes! { edited }, requeue_wakes! { edited }, of_waking_here(), of_shells].concat()
}

fn of_waking_here() -> Vec<Mutant<Fifo>> {
    mutants! { edited:
        Seeded "wakes_if_it_was_empty" from "cache:QU-7, a put signals only if the queue was empty":
            (|op, wakes, rules| if matches!(op, Op::Put(_)) && rules.len() > 1 {
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
            (|step, rules| if let Step::Done(Ret::HasSynced(says)) = step {
                *says &= !rules.is_closed();
            }) breaks ["synced_for_good", "synced_once_processed"];
        Seeded "synced_once_written" from "cache:QU-15, the count of the list is not looked at":
            (|step, rules| if let Step::Done(Ret::HasSynced(says)) = step {
                *says = rules.latch().is_populated();
            }) breaks ["never_synced_early"];
        Seeded "what_is_left_counts_the_taken"
            from "cache:QU-21, the count is made before the object is taken out":
            (|step, _| if let Step::Held(Ret::Pop(Some(popped))) = step {
                popped.left += 1;
            }) breaks ["agrees_with_the_sequential_object"];
    }
}
