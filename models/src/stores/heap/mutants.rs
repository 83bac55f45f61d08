//! The bugs: one changed rule or one changed wake each.

use seatrial_core::machine::{Passed, Step};
use seatrial_core::store::heap::{HeapError, Op, POPPERS, Ret};

use super::op::machine;
use super::{Heap, PlainHeap};
use crate::events::fixtures::Mistakes;
use crate::trial::{MachineOf, Mutant, at_most, mutants};

pub(super) fn all() -> Vec<Mutant<Heap>> {
    [silent(), of_rules(), of_the_end(), of_answers(), of_waking(), of_shells()].concat()
}

/// Tells whether a mutant differs only in whom it wakes.
pub(super) fn is_of_waking(mutant: &Mutant<Heap>) -> bool {
    [silent(), of_waking(), of_shells()].concat().iter().any(|other| other.name == mutant.name)
}

/// The plain heap with mistakes.
fn mistaken(mistakes: Mistakes) -> MachineOf<Heap> {
    Box::new(PlainHeap::with(mistakes))
}

/// A mistake of the rules that only a sleeping caller notices.
fn silent() -> Vec<Mutant<Heap>> {
    mutants! { mistaken:
        Exhibit "refused_bulk_is_silent" from "museum C12, cache:KD-13" breaks ["no_lost_wakeup"];
    }
}

fn of_rules() -> Vec<Mutant<Heap>> {
    mutants! { mistaken:
        Seeded "greatest_first" from "own: the order is reversed"
            breaks ["agrees_with_the_sequential_object"];
        Seeded "filler_only_sinks"
            from "own: the last object fills a gap, and may only sink from there"
            breaks ["agrees_with_the_sequential_object"];
        Seeded "order_by_key" from "own: objects are ordered by key, and their order is not used"
            breaks ["agrees_with_the_sequential_object"];
        Seeded "first_state_wins" from "cache:HP-1" breaks ["agrees_with_the_sequential_object"];
        Seeded "added_again_is_gone" from "cache:HP-1" breaks ["agrees_with_the_sequential_object"];
        Seeded "absent_replaces" from "cache:HP-1, the test for presence is left out"
            breaks ["agrees_with_the_sequential_object"];
        Seeded "delete_does_nothing" from "cache:HP-1" breaks ["agrees_with_the_sequential_object"];
        Seeded "taken_stays" from "cache:HP-1" breaks ["agrees_with_the_sequential_object"];
        Seeded "deletes_the_absent" from "cache:HP-1" breaks ["agrees_with_the_sequential_object"];
        Seeded "bulk_all_or_nothing" from "cache:HP-3" breaks ["agrees_with_the_sequential_object"];
        Seeded "bulk_hides_the_bad_one" from "cache:HP-3"
            breaks ["agrees_with_the_sequential_object"];
        Seeded "len_counts_one_more" from "own: the length is off by one"
            breaks ["agrees_with_the_sequential_object"];
        Seeded "naps_first" from "own: a consumer sleeps before it looks"
            breaks ["agrees_with_the_sequential_object"];
        Seeded "list_lacks_the_least" from "own: the root is skipped"
            breaks ["agrees_with_the_sequential_object"];
    }
}

fn of_the_end() -> Vec<Mutant<Heap>> {
    mutants! { mistaken:
        Seeded "closed_flag_has_its_own_lock" from "museum B6" breaks ["close_wakes_everybody"];
        Seeded "accept_after_close" from "cache:HP-2" breaks ["agrees_with_the_sequential_object"];
        Seeded "close_gates_delete" from "cache:HP-2" breaks ["agrees_with_the_sequential_object"];
        Seeded "close_discards" from "cache:HP-2" breaks ["agrees_with_the_sequential_object"];
        Seeded "empty_is_closed" from "cache:HP-1" breaks ["agrees_with_the_sequential_object"];
        Seeded "get_finds_nothing_closed" from "cache:HP-2"
            breaks ["agrees_with_the_sequential_object"];
    }
}

fn of_answers() -> Vec<Mutant<Heap>> {
    mutants! { Retold(machine()):
        Seeded "bulk_after_close_is_well" from "cache:HP-2, the error is dropped":
            (|step, _| if let Step::Done(Ret::BulkAdd(told @ Err(HeapError::Closed))) = step {
                *told = Ok(());
            }) breaks ["agrees_with_the_sequential_object"];
        Seeded "absent_after_close_is_well" from "cache:HP-2, the error is dropped":
            (|step, _| if let Step::Done(Ret::AddIfAbsent(told @ Err(HeapError::Closed))) = step {
                *told = Ok(());
            }) breaks ["agrees_with_the_sequential_object"];
        Seeded "closing_is_denied" from "own: the flag is negated":
            (|step, _| if let Step::Done(Ret::IsClosed(says)) = step {
                *says = !*says;
            }) breaks ["agrees_with_the_sequential_object"];
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
