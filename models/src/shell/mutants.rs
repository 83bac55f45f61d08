//! The bugs: one changed line each, in a naive shell.

use super::{Shell, Tried};
use crate::shared::Mistake;
use crate::trial::{MachineOf, Mutant, mutants};

fn mistaken(&[mistake]: &[Mistake; 1]) -> MachineOf<Shell> {
    Box::new(Tried(Some(mistake)))
}

pub(super) fn all() -> Vec<Mutant<Shell>> {
    mutants! { mistaken:
        Seeded "panic_loses_wakes"
            from "own: a step that panics does not wake the sleepers that it has named"
            breaks ["nobody_sleeps_on"];
        Seeded "panic_swallows_a_wake_up"
            from "own: a woken call that panics does not pass its wake-up on"
            breaks ["nobody_sleeps_on"];
        Seeded "wait_loses_wakes"
            from "own: a step that waits does not wake the sleepers that it has named"
            breaks ["nobody_sleeps_on"];
        Seeded "waker_stops_those_behind_it"
            from "own: a waker that panics ends the loop that calls the wakers"
            breaks ["nobody_sleeps_on"];
        Seeded "waker_panics_into_the_caller"
            from "own: the panic of a waker reaches the call that woke it"
            breaks ["callers_are_not_hurt"];
        Seeded "poll_goes_to_the_end" from "own: every poll moves its task to the end of the line"
            breaks ["first_come_first_woken"];
        Seeded "newest_is_woken" from "own: sleepers are kept in a stack, not in a queue"
            breaks ["first_come_first_woken"];
        Seeded "memory_stays" from "own: the line of sleepers never shrinks"
            breaks ["memory_returns"];
        Seeded "second_half_is_lost"
            from "own: if a step panics that ends a call in two halves, the first is not undone"
            breaks ["nobody_sleeps_on"];
    }
}
