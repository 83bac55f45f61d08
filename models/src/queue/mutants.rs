//! The queue's bugs: one changed rule or one changed wake each.

use seatrial_core::queue::{DRAINS, GETTERS, Op, Queue as Rules};

use super::Queue;
use super::three_sets::Mistake::{self, *};
use super::three_sets::ThreeSets;
use crate::trial::{Edit, Edited, MachineOf, Mutant, MutantKind};

pub(super) fn all() -> Vec<Mutant<Queue>> {
    [EXHIBITS, RULES, WAKES, EQUIVALENTS].concat()
}

/// Tells whether a mutant is the machine that ships with its wakes edited.
pub(super) fn is_of_waking(mutant: &Mutant<Queue>) -> bool {
    [WAKES, EQUIVALENTS].concat().iter().any(|edited| edited.name == mutant.name)
}

/// The algorithm of the reference without any mistake.
#[cfg(test)]
pub(super) fn without_mistake() -> MachineOf<Queue> {
    Box::new(ThreeSets::<u8>::with(&[]))
}

/// A mutant of the rules: the reference's algorithm with mistakes.
macro_rules! mistake {
    ($kind:expr, $name:literal, $origin:literal, [$($mistake:expr),+], [$($breaks:literal),+]) => {
        Mutant {
            name: $name,
            origin: $origin,
            breaks: &[$($breaks),+],
            kind: $kind,
            make: || {
                const MISTAKES: &[Mistake] = &[$($mistake),+];
                Box::new(ThreeSets::<u8>::with(MISTAKES))
            },
        }
    };
}

/// A mutant of waking: the machine that ships, its wakes edited after each step.
macro_rules! wake {
    ($kind:expr, $name:literal, $origin:literal, $edit:expr, [$($breaks:literal),*]) => {
        Mutant {
            name: $name,
            origin: $origin,
            breaks: &[$($breaks),*],
            kind: $kind,
            make: || edited($edit),
        }
    };
}

use MutantKind::{Equivalent, Exhibit, Seeded};

const EXHIBITS: &[Mutant<Queue>] = &[
    mistake!(Exhibit, "single_waiter_signal", "museum O1", [OneCondition], ["drains_return"]),
    mistake!(
        Exhibit,
        "new_drain_undoes_release",
        "museum O4",
        [DrainFlag],
        ["shutdown_releases_drains"]
    ),
    mistake!(
        Exhibit,
        "lost_retake",
        "museum W1",
        [DrainFlag, DrainTestsThenSleeps],
        ["shutdown_releases_drains"]
    ),
    mistake!(
        Exhibit,
        "done_queues_twice",
        "workqueue:WQ-21, original",
        [DoneUnchecked],
        ["stingy", "never_concurrent"]
    ),
];

const RULES: &[Mutant<Queue>] = &[
    mistake!(
        Seeded,
        "shutdown_ends_consumers",
        "museum W14",
        [ShutdownEndsConsumers],
        ["nothing_lost"]
    ),
    mistake!(
        Seeded,
        "queue_while_processing",
        "own: the processing test forgotten in add",
        [QueueWhileProcessing],
        ["never_concurrent"]
    ),
    mistake!(
        Seeded,
        "lost_requeue",
        "own: the dirty test forgotten in done",
        [ForgetDirtyAtDone],
        ["dirty_is_requeued"]
    ),
    mistake!(Seeded, "clean_at_done", "workqueue:SE-3", [CleanAtDone], ["stingy"]),
    mistake!(
        Seeded,
        "no_deduplication",
        "own: the dirty test forgotten in add",
        [NoDeduplication],
        ["stingy"]
    ),
    mistake!(
        Seeded,
        "no_requeue_in_shutdown",
        "own: the push in done gated by shutdown",
        [NoRequeueInShutdown],
        ["dirty_is_requeued"]
    ),
    mistake!(
        Seeded,
        "discard_at_shutdown",
        "own: shutdown clears the queue",
        [DiscardAtShutdown],
        ["nothing_lost"]
    ),
    mistake!(
        Seeded,
        "accept_after_shutdown",
        "own: the first test forgotten in add",
        [AcceptAfterShutdown],
        ["shutdown_is_final"]
    ),
    mistake!(
        Seeded,
        "last_in_first_out",
        "own: popped at the wrong end",
        [LastInFirstOut],
        ["fair"]
    ),
    mistake!(
        Seeded,
        "requeue_in_front",
        "own: done pushes at the wrong end",
        [RequeueInFront],
        ["fair"]
    ),
    mistake!(
        Seeded,
        "len_counts_processing",
        "own: len of the dirty set's kind",
        [LenCountsProcessing],
        ["len_counts_waiting"]
    ),
    mistake!(
        Seeded,
        "drain_looks_at_waiting_only",
        "workqueue:SE-7",
        [DrainLooksAtWaitingOnly],
        ["drain_waits"]
    ),
    mistake!(
        Seeded,
        "strict_drain_ignores_waiting",
        "museum O2",
        [StrictDrainIgnoresWaiting],
        ["drain_waits"]
    ),
    mistake!(
        Seeded,
        "strict_drain_misses_returning",
        "museum O2",
        [StrictDrainMissesReturning],
        ["drain_waits"]
    ),
    mistake!(
        Seeded,
        "drain_hides_shutdown",
        "own: the flag set after the wait",
        [DrainHidesShutdown],
        ["shutdown_is_final", "shutdown_wakes_consumers"]
    ),
    mistake!(
        Seeded,
        "shutdown_waits_for_items",
        "workqueue:SE-6",
        [ShutdownWaitsForItems],
        ["terminates"]
    ),
    mistake!(
        Seeded,
        "done_by_value",
        "workqueue:WQ-22",
        [DoneByValue],
        ["done_ends_its_own_delivery"]
    ),
    mistake!(
        Seeded,
        "add_all_stops_at_known",
        "own: the return of add copied into the loop of a batch",
        [AddAllStopsAtKnown],
        ["nothing_lost"]
    ),
    mistake!(
        Seeded,
        "done_all_forgets_dirty",
        "own: the dirty test forgotten in the loop of a batch",
        [DoneAllForgetsDirty],
        ["dirty_is_requeued"]
    ),
    mistake!(
        Seeded,
        "batch_takes_all",
        "own: a batch empties the storage, and returns what was asked",
        [BatchTakesAll],
        ["nothing_lost"]
    ),
];

const WAKES: &[Mutant<Queue>] = &[
    wake!(
        Seeded,
        "add_never_wakes",
        "own: the signal forgotten in add",
        |op, wakes, _| if matches!(op, Op::Add(_)) {
            wakes.set(GETTERS, 0);
        },
        ["no_lost_wakeup"]
    ),
    wake!(
        Seeded,
        "add_wakes_if_it_was_empty",
        "own: signalled on the first item only",
        |op, wakes, rules| if matches!(op, Op::Add(_)) && rules.len() > 1 {
            wakes.set(GETTERS, 0);
        },
        ["no_lost_wakeup"]
    ),
    wake!(
        Seeded,
        "add_all_wakes_one",
        "own: a batch signals as a single add does",
        |op, wakes, _| if matches!(op, Op::AddAll(_)) && wakes.get(GETTERS) > 0 {
            wakes.set(GETTERS, 1);
        },
        ["no_lost_wakeup"]
    ),
    wake!(
        Seeded,
        "done_all_wakes_nobody",
        "own: the signal forgotten in the loop of a batch",
        |op, wakes, _| if matches!(op, Op::DoneAll(_)) {
            wakes.set(GETTERS, 0);
        },
        ["no_lost_wakeup"]
    ),
    wake!(
        Seeded,
        "dropped_getter_swallows_wake",
        "museum P1, a getter that leaves without passing its wake-up on",
        |op, wakes, _| if matches!(op, Op::Get(_)) {
            wakes.set(GETTERS, 0);
        },
        ["no_lost_wakeup"]
    ),
    wake!(
        Seeded,
        "requeue_without_waking",
        "own: the signal forgotten in done",
        |op, wakes, _| if matches!(op, Op::Done(_)) {
            wakes.set(GETTERS, 0);
        },
        ["no_lost_wakeup"]
    ),
    wake!(
        Seeded,
        "shutdown_wakes_one",
        "own: signalled where all must wake",
        |op, wakes, _| if matches!(op, Op::ShutDown(_)) {
            wakes.set(GETTERS, 1);
        },
        ["shutdown_wakes_consumers"]
    ),
    wake!(
        Seeded,
        "drain_wakes_no_consumer",
        "own: the broadcast forgotten in drain",
        |op, wakes, _| if matches!(op, Op::Drain(_)) {
            wakes.set(GETTERS, 0);
        },
        ["shutdown_wakes_consumers"]
    ),
    wake!(
        Seeded,
        "shutdown_wakes_no_drain",
        "own: drains have a channel of their own",
        |op, wakes, _| if matches!(op, Op::ShutDown(_)) {
            wakes.set(DRAINS, 0);
        },
        ["shutdown_releases_drains"]
    ),
    wake!(
        Seeded,
        "done_wakes_one_drain",
        "workqueue:SE-4",
        |op, wakes, _| if matches!(op, Op::Done(_)) && wakes.get(DRAINS) > 0 {
            wakes.set(DRAINS, 1);
        },
        ["drains_return"]
    ),
    wake!(
        Seeded,
        "done_wakes_no_drain",
        "own: the broadcast forgotten in done",
        |op, wakes, _| if matches!(op, Op::Done(_)) {
            wakes.set(DRAINS, 0);
        },
        ["drains_return"]
    ),
];

const EQUIVALENTS: &[Mutant<Queue>] = &[
    wake!(
        Equivalent("a woken consumer looks again before it returns: it costs, it breaks nothing"),
        "add_wakes_everybody",
        "own: broadcast where one is enough",
        |op, wakes, _| if matches!(op, Op::Add(_)) && wakes.get(GETTERS) > 0 {
            wakes.all(GETTERS);
        },
        []
    ),
    wake!(
        Equivalent("a woken drain looks again before it returns"),
        "every_done_wakes_drains",
        "own: no test for an empty processing set",
        |op, wakes, _| if matches!(op, Op::Done(_)) {
            wakes.all(DRAINS);
        },
        []
    ),
];

fn edited(edit: Edit<Rules<u8>>) -> MachineOf<Queue> {
    Box::new(Edited { machine: Rules::default(), edit })
}
