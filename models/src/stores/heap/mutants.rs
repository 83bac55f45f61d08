//! The bugs: one changed rule or one changed wake each.

use seatrial_core::machine::{Passed, Step};
use seatrial_core::store::heap::{HeapError, Op, POPPERS, Ret};

use super::op::machine;
use super::reference::Mistake::{self, *};
use super::{Heap, PlainHeap};
use crate::trial::{MachineOf, Mutant, at_most, mutants};

pub(super) fn all() -> Vec<Mutant<Heap>> {
    [of_sleeping(), of_rules(), of_the_end(), of_answers(), of_waking(), of_shells()].concat()
}

/// Tells whether a mutant differs only in whom it wakes.
pub(super) fn is_of_waking(mutant: &Mutant<Heap>) -> bool {
    [of_sleeping(), of_waking(), of_shells()].concat().iter().any(|other| other.name == mutant.name)
}

/// The sequential object with mistakes.
fn mistaken(mistakes: &'static [Mistake]) -> MachineOf<Heap> {
    Box::new(PlainHeap::with(mistakes))
}

/// Mistakes of the rules that only a sleeping caller notices.
fn of_sleeping() -> Vec<Mutant<Heap>> {
    mutants! { mistaken:
        Exhibit "refused_bulk_is_silent" from "museum C12, cache:KD-13":
            (&[RefusedBulkIsSilent]) breaks ["no_lost_wakeup"];
        Seeded "closed_flag_has_its_own_lock" from "museum B6":
            (&[CloseUnderItsOwnLock]) breaks ["close_wakes_everybody"];
        Seeded "naps_first" from "own: a consumer sleeps before it looks":
            (&[NapsFirst]) breaks ["nothing_is_lost"];
    }
}

fn of_rules() -> Vec<Mutant<Heap>> {
    mutants! { mistaken:
        Seeded "greatest_first" from "own: the order is reversed":
            (&[GreatestFirst]) breaks ["least_first"];
        Seeded "filler_only_sinks"
            from "own: the last object fills a gap, and may only sink from there":
            (&[FillerOnlySinks]) breaks ["least_first"];
        Seeded "order_by_key" from "own: objects are ordered by key, and their order is not used":
            (&[OrderByKey]) breaks ["least_first"];
        Seeded "first_state_wins" from "cache:HP-1":
            (&[KeepFirst]) breaks ["newest_state"];
        Seeded "added_again_is_gone" from "cache:HP-1":
            (&[UpdateLoses]) breaks ["nothing_is_lost"];
        Seeded "absent_replaces" from "cache:HP-1, the test for presence is left out":
            (&[AbsentReplaces]) breaks ["newest_state"];
        Seeded "delete_does_nothing" from "cache:HP-1":
            (&[DeleteDoesNothing]) breaks ["only_what_is_there", "deletions_are_told"];
        Seeded "taken_stays" from "cache:HP-1":
            (&[TakenStays]) breaks ["only_what_is_there"];
        Seeded "deletes_the_absent" from "cache:HP-1":
            (&[DeletesTheAbsent]) breaks ["deletions_are_told"];
        Seeded "bulk_all_or_nothing" from "cache:HP-3":
            (&[BulkAllOrNothing]) breaks ["nothing_is_lost"];
        Seeded "bulk_hides_the_bad_one" from "cache:HP-3":
            (&[BulkHidesTheBad]) breaks ["the_bad_one_is_told"];
        Seeded "len_counts_one_more" from "own: the length is off by one":
            (&[LenCountsOneMore]) breaks ["reads_agree"];
        Seeded "list_lacks_the_least" from "own: the root is skipped":
            (&[ListLacksTheLeast]) breaks ["reads_agree"];
    }
}

fn of_the_end() -> Vec<Mutant<Heap>> {
    mutants! { mistaken:
        Seeded "accept_after_close" from "cache:HP-2":
            (&[AcceptAfterClose]) breaks ["close_is_final"];
        Seeded "close_gates_delete" from "cache:HP-2":
            (&[CloseGatesDelete]) breaks ["deletions_are_told"];
        Seeded "close_discards" from "cache:HP-2":
            (&[CloseDiscards]) breaks ["close_discards_nothing"];
        Seeded "empty_is_closed" from "cache:HP-1":
            (&[EmptyIsClosed]) breaks ["close_discards_nothing"];
        Seeded "get_finds_nothing_closed" from "cache:HP-2":
            (&[GetFindsNothingClosed]) breaks ["reads_agree"];
    }
}

fn of_answers() -> Vec<Mutant<Heap>> {
    mutants! { Retold(machine()):
        Seeded "bulk_after_close_is_well" from "cache:HP-2, the error is dropped":
            (|step, _| if let Step::Done(Ret::BulkAdd(told @ Err(HeapError::Closed))) = step {
                *told = Ok(());
            }) breaks ["close_is_final"];
        Seeded "absent_after_close_is_well" from "cache:HP-2, the error is dropped":
            (|step, _| if let Step::Done(Ret::AddIfAbsent(told @ Err(HeapError::Closed))) = step {
                *told = Ok(());
            }) breaks ["close_is_final"];
        Seeded "closing_is_denied" from "own: the flag is negated":
            (|step, _| if let Step::Done(Ret::IsClosed(says)) = step {
                *says = !*says;
            }) breaks ["reads_agree"];
    }
}

fn of_shells() -> Vec<Mutant<Heap>> {
    mutants! { Forgetful(machine()):
        Seeded "dropped_popper_swallows_wake"
            from "museum P1, a popper gives up without passing its wake-up on":
            (Passed::WakeUp) breaks ["no_lost_wakeup"];
    }
}

fn of_waking() -> Vec<Mutant<Heap>> {
    mutants! { Edited(machine()):
        Seeded "put_never_wakes" from "own: add does not signal":
            (at_most!(0, POPPERS, Op::Put(_))) breaks ["no_lost_wakeup"];
        Seeded "absent_never_wakes" from "own: add_if_absent does not signal":
            (at_most!(0, POPPERS, Op::AddIfAbsent(_))) breaks ["no_lost_wakeup"];
        Seeded "bulk_wakes_one" from "own: all added objects share one signal":
            (at_most!(1, POPPERS, Op::BulkAdd(_))) breaks ["no_lost_wakeup"];
        Seeded "wakes_if_it_was_empty" from "own: add signals only if the heap was empty":
            (|op, wakes, rules| if matches!(op, Op::Put(_)) && rules.len() > 1 {
                wakes.set(POPPERS, 0);
            }) breaks ["no_lost_wakeup"];
        Seeded "close_wakes_one" from "own: one consumer is woken where all must wake":
            (at_most!(1, POPPERS, Op::Close(_))) breaks ["close_wakes_everybody"];
        Seeded "close_wakes_nobody" from "museum B6":
            (at_most!(0, POPPERS, Op::Close(_))) breaks ["close_wakes_everybody"];
        Equivalent("a woken caller looks again before it returns, so a needless wake-up costs time \
                    and breaks nothing")
        "every_put_wakes_everybody" from "what the reference does":
            (|op, wakes, _| if matches!(op, Op::Put(_)) { wakes.all(POPPERS) }) breaks [];
    }
}
