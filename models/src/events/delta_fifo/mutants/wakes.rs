//! Bugs of waking and telling: the machine that ships, with its wakes or its answers edited.

use seatrial_core::delta_fifo::{Deltas, Op, POPPERS, Popped, Ret, SYNC};
use seatrial_core::machine::{Passed, Step};

use crate::delta_fifo::tried::{Tried, ships};
use crate::delta_fifo::{DeltaFifo, Machine, MachineRet};
use crate::events::fixtures::{queue_wakes, requeue_wakes, shell_wakes, transformed_again};
use crate::trial::{Edit, Edited, Forgetful, MachineOf, Mutant, Retell, Retold, at_most, mutants};

pub(super) fn all() -> Vec<Mutant<DeltaFifo>> {
    [of_waking(), of_answers()].concat()
}

/// The machine that ships, its wakes edited after each step.
fn edited(edit: Edit<Machine>) -> MachineOf<DeltaFifo> {
    Tried::by(move |config| Box::new(Edited { machine: ships(config), edit }))
}

/// The machine that ships, under a shell that forgets to pass something on.
fn forgets(what: Passed) -> MachineOf<DeltaFifo> {
    Tried::by(move |config| Box::new(Forgetful { machine: ships(config), forgets: what }))
}

/// The machine that ships, its answers edited.
fn retold(retell: Retell<Machine>) -> MachineOf<DeltaFifo> {
    Tried::by(move |config| Box::new(Retold { machine: ships(config), retell }))
}

/// As [`retold`], but only if there is a transformer.
fn retold_if_transformed(retell: Retell<Machine>) -> MachineOf<DeltaFifo> {
    Tried::by(move |config| match config.transform {
        true => Box::new(Retold { machine: ships(config), retell }),
        false => Box::new(ships(config)),
    })
}

/// The mutants that change whom a step wakes, and nothing else.
pub(super) fn of_waking() -> Vec<Mutant<DeltaFifo>> {
    let of_shells = shell_wakes! { forgets };
    [queue_wakes! { edited }, requeue_wakes! { edited }, of_waking_here(), of_shells].concat()
}

fn of_waking_here() -> Vec<Mutant<DeltaFifo>> {
    mutants! { edited:
        Seeded "deletion_never_wakes" from "cache:QU-7, the signal is left out":
            (at_most!(0, POPPERS, Op::Delete(_))) breaks ["no_lost_wakeup"];
        Seeded "resync_never_wakes" from "cache:QU-7, the signal is left out":
            (at_most!(0, POPPERS, Op::Resync(_))) breaks ["no_lost_wakeup"];
        Seeded "wakes_if_it_was_empty" from "cache:QU-7, a put signals only if the queue was empty":
            (|op, wakes, rules| if matches!(op, Op::Put(_) | Op::Delete(_)) && rules.len() > 1 {
                wakes.set(POPPERS, 0);
            }) breaks ["no_lost_wakeup"];
    }
}

fn of_answers() -> Vec<Mutant<DeltaFifo>> {
    let mut all = mutants! { retold:
        Seeded "closed_is_not_synced" from "cache:QU-16":
            (|step, rules| if let Step::Done(Ret::HasSynced(says)) = step {
                *says &= !rules.is_closed();
            }) breaks ["synced_for_good"];
    };
    all.extend(mutants! { retold_if_transformed:
        Seeded "transformed_when_taken" from "museum A14":
            (|step, _| transform_again(step)) breaks ["transformed_once"];
    });
    all
}

/// Transforms objects again when they are handed out, though they were transformed on the way in.
fn transform_again(step: &mut Step<MachineRet>) {
    if let Step::Held(Ret::Pop(Some(Popped { deltas, .. }))) = step {
        *deltas = deltas.iter().map(transformed_again).collect::<Deltas<_, _>>();
    }
}
