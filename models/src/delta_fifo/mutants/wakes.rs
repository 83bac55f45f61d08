//! Bugs of waking: the machine that ships, with its wakes edited.

use seatrial_core::delta_fifo::{Delta, Deltas, Op, POPPERS, Popped, Ret, SYNC};
use seatrial_core::machine::{Step, Wakes};
use seatrial_core::store::LastState;

use crate::delta_fifo::tried::{Change, Tried, ships};
use crate::delta_fifo::{DeltaFifo, MachineRet};
use crate::objects::{Edited, Object, transform};
use crate::trial::{Mutant, MutantKind};

/// Mutants of waking: what is done to the wakes of which calls.
macro_rules! edits {
    ($($kind:expr, $name:literal from $origin:literal: $edit:expr, breaks [$($broken:literal),*];)+) => {
        vec![$(Mutant {
            name: $name,
            origin: $origin,
            breaks: &[$($broken),*],
            kind: $kind,
            make: || {
                Tried::by(|config| Box::new(Edited { machine: ships(config), edit: $edit }))
            },
        }),+]
    };
}

use MutantKind::{Equivalent, Seeded};

pub(super) fn all() -> Vec<Mutant<DeltaFifo>> {
    let mut all = of_waking();
    all.extend(of_results());
    all
}

/// Those that change whom a step wakes, and nothing else.
pub(super) fn of_waking() -> Vec<Mutant<DeltaFifo>> {
    [of_poppers(), of_waiters(), equivalents()].concat()
}

/// Keeps a number of wakes at most on a channel.
fn at_most(wakes: &mut Wakes, channel: u8, most: u16) {
    wakes.set(channel, wakes.get(channel).min(most));
}

fn of_poppers() -> Vec<Mutant<DeltaFifo>> {
    edits! {
        Seeded, "put_never_wakes" from "cache:QU-7, the signal forgotten":
            |op, _, wakes, _| if matches!(op, Op::Put(_)) { wakes.set(POPPERS, 0) },
            breaks ["no_lost_wakeup"];
        Seeded, "deletion_never_wakes" from "cache:QU-7, the signal forgotten":
            |op, _, wakes, _| if matches!(op, Op::Delete(_)) { wakes.set(POPPERS, 0) },
            breaks ["no_lost_wakeup"];
        Seeded, "resync_never_wakes" from "cache:QU-7, the signal forgotten":
            |op, _, wakes, _| if matches!(op, Op::Resync(_)) { wakes.set(POPPERS, 0) },
            breaks ["no_lost_wakeup"];
        Seeded, "requeue_never_wakes" from "cache:QU-7, the signal forgotten":
            |op, _, wakes, _| if matches!(op, Op::Processed(_)) { wakes.set(POPPERS, 0) },
            breaks ["no_lost_wakeup"];
        Seeded, "list_wakes_one" from "cache:QU-7, one signal for all its entries":
            |op, _, wakes, _| if matches!(op, Op::Replace(_)) { at_most(wakes, POPPERS, 1) },
            breaks ["no_lost_wakeup"];
        Seeded, "put_back_never_wakes" from "cache:QU-7, the signal forgotten":
            |op, _, wakes, _| if matches!(op, Op::AddIfAbsent(_)) { wakes.set(POPPERS, 0) },
            breaks ["no_lost_wakeup"];
        Seeded, "wakes_if_it_was_empty" from "cache:QU-7, signalled on the first entry only":
            |op, _, wakes, rules| {
                if matches!(op, Op::Put(_) | Op::Delete(_)) && rules.len() > 1 {
                    wakes.set(POPPERS, 0);
                }
            },
            breaks ["no_lost_wakeup"];
        Seeded, "close_wakes_one" from "museum B6, cache:QU-5":
            |op, _, wakes, _| if matches!(op, Op::Close(_)) { at_most(wakes, POPPERS, 1) },
            breaks ["close_wakes_everybody"];
        Seeded, "close_wakes_nobody" from "museum B6":
            |op, _, wakes, _| if matches!(op, Op::Close(_)) { wakes.set(POPPERS, 0) },
            breaks ["close_wakes_everybody"];
    }
}

fn of_waiters() -> Vec<Mutant<DeltaFifo>> {
    edits! {
        Seeded, "latch_wakes_nobody" from "cache:QU-18, only polling sees it":
            |op, _, wakes, _| if matches!(op, Op::Processed(_)) { wakes.set(SYNC, 0) },
            breaks ["sync_wakes_everybody"];
        Seeded, "latch_wakes_one" from "cache:QU-18, signalled where all must wake":
            |_, _, wakes, _| at_most(wakes, SYNC, 1),
            breaks ["sync_wakes_everybody"];
        Seeded, "close_leaves_waiters" from "cache:QU-5, the other channel forgotten":
            |op, _, wakes, _| if matches!(op, Op::Close(_)) { wakes.set(SYNC, 0) },
            breaks ["sync_wakes_everybody"];
    }
}

fn of_results() -> Vec<Mutant<DeltaFifo>> {
    let mut all = edits! {
        Seeded, "closed_is_not_synced" from "cache:QU-16":
            |_, step, _, rules| {
                if let Step::Done(Ret::HasSynced(says)) = step {
                    *says &= !rules.is_closed();
                }
            },
            breaks ["synced_for_good"];
    };
    all.push(Mutant {
        name: "transformed_when_taken",
        origin: "museum A14",
        breaks: &["transformed_once"],
        kind: Seeded,
        make: || {
            Tried::by(|config| match config.transform {
                true => Box::new(Edited {
                    machine: ships(config),
                    edit: |_, step, _, _| transform_again(step),
                }),
                false => Box::new(ships(config)),
            })
        },
    });
    all
}

fn equivalents() -> Vec<Mutant<DeltaFifo>> {
    const LOOKS_AGAIN: &str =
        "whoever is woken looks again before it returns: it costs, it breaks nothing";
    edits! {
        Equivalent(LOOKS_AGAIN), "every_write_wakes_everybody" from "what the reference does":
            |_, step, wakes, _| if matches!(step, Step::Done(_)) { wakes.all(POPPERS) },
            breaks [];
    }
}

/// Transforms what is handed out, as if that had not been done on the way in.
fn transform_again(step: &mut Step<MachineRet>) {
    if let Step::Held(Ret::Pop(Some(Popped { deltas, .. }))) = step {
        *deltas = deltas.iter().map(again).collect::<Deltas<_, _>>();
    }
}

fn again(delta: &Change) -> Change {
    let again = |object: &Object| transform(*object).unwrap_or(*object);
    match delta {
        Delta::Added(object) => Delta::Added(again(object)),
        Delta::Updated(object) => Delta::Updated(again(object)),
        Delta::Replaced(object) => Delta::Replaced(again(object)),
        Delta::Sync(object) => Delta::Sync(again(object)),
        Delta::Deleted(LastState::Final(object)) => Delta::Deleted(LastState::Final(again(object))),
        tombstone @ Delta::Deleted(_) => tombstone.clone(),
    }
}
