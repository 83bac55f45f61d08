//! Objects that are added together.

use super::*;
use crate::trial::Scenario;

/// Objects that are added together are there together (`cache:HP-3`).
pub(super) fn added_together() -> Scenario<Heap> {
    Scenario::new(
        "added_together",
        "two objects are added together, the least one last, and one is taken",
        |world| {
            let heap = heap(world);
            let popper = caller(world, "popper", &heap, |heap| heap.pop());
            heap.bulk_add(vec![(1, 5), (2, 3)]).expect("both have keys, and the heap is open");
            let popped = world.join(popper);
            assert!(matches!(popped, Ok((2, 3))), "{popped:?} where the least one comes first");
        },
        // The consumer waits.
        |history| {
            let sleeps =
                |event: &Event| matches!(event.what, What::Step { outcome: Step::Wait { .. }, .. });
            history.events.iter().any(sleeps)
        },
    )
}

/// Several objects are added at once for two waiting consumers.
pub(super) fn many_for_two() -> Scenario<Heap> {
    Scenario::new(
        "many_for_two",
        "one call adds two objects while two consumers wait",
        |world| {
            let heap = heap(world);
            let consumers = ["first", "second"].map(|name| popper(world, name, &heap));
            heap.bulk_add(vec![(1, 2), (2, 1)]).expect("all have keys");
            end(world, &heap, consumers);
        },
        |history| {
            Led::some(history, |before, event| {
                steps(event, |op| matches!(op, Op::BulkAdd(_))) && sleepers(before) == 2
            })
        },
    )
}

/// Several objects are added at once, and one has no key (`cache:HP-3`).
pub(super) fn many_with_a_bad_one() -> Scenario<Heap> {
    Scenario::new(
        "many_with_a_bad_one",
        "one call adds three objects, and the second has no key",
        |world| {
            let heap = heap(world);
            let consumer = popper(world, "consumer", &heap);
            let _told = heap.bulk_add(vec![(1, 2), (0, 1), (2, 1)]);
            world.quiesce();
            let _left = heap.len();
            end(world, &heap, [consumer]);
        },
        // The consumer sleeps when the objects come.
        |history| {
            Led::some(history, |before, event| {
                steps(event, |op| matches!(op, Op::BulkAdd(_))) && sleepers(before) == 1
            })
        },
    )
}
