//! The bugs: one changed line each, in a naive shell.

use super::reference::Mistake::{self, *};
use super::{Shell, Tried};
use crate::trial::{MachineOf, Mutant, mutants};

fn mistaken(mistake: Mistake) -> MachineOf<Shell> {
    Box::new(Tried(Some(mistake)))
}

pub(super) fn all() -> Vec<Mutant<Shell>> {
    mutants! { mistaken:
        Seeded "panic_loses_wakes" from "own: a step unwinds past those whom it has named":
            (PanicLosesWakes) breaks ["nobody_sleeps_on"];
        Seeded "panic_swallows_a_wake_up" from "own: a woken call unwinds with its wake-up":
            (PanicSwallowsAWakeUp) breaks ["nobody_sleeps_on"];
        Seeded "wait_loses_wakes" from "own: wakes are applied where a call ends":
            (WaitLosesWakes) breaks ["nobody_sleeps_on"];
        Seeded "waker_stops_those_behind_it" from "own: wakers are called in a loop, uncaught":
            (WakerStopsThoseBehindIt) breaks ["nobody_sleeps_on"];
        Seeded "waker_panics_into_the_caller" from "own: wakers are called by the call, uncaught":
            (WakerPanicsIntoTheCaller) breaks ["callers_are_not_hurt"];
        Seeded "poll_goes_to_the_end" from "own: every poll joins the line anew":
            (PollGoesToTheEnd) breaks ["first_come_first_woken"];
        Seeded "newest_is_woken" from "own: a stack in place of a line":
            (NewestIsWoken) breaks ["first_come_first_woken"];
        Seeded "memory_stays" from "own: a line that only grows":
            (MemoryStays) breaks ["memory_returns"];
    }
}
