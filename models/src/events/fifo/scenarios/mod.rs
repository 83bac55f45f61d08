//! Small concurrent programs on the queue, each named by the case that it must reach.

mod places;
mod sync;

use super::Fifo;
use crate::events::fixtures::{self, Config, shared};
use crate::trial::Scenario;

type Stage = fixtures::Stage<Fifo>;
type Led = fixtures::Led<Fifo>;
type Over<'a> = fixtures::Over<'a, Fifo>;

pub(super) fn all() -> Vec<Scenario<Fifo>> {
    let ask_back = |queue: &super::Queue| {
        drop(queue.pop_or_requeue(|_| (seatrial_core::fifo::AfterPop::Requeue, ())));
    };
    let mut all = places::all();
    all.extend([
        shared::two_consumers_one_list("two_consumers_one_list", empty, &[(2, 1), (1, 1)]),
        shared::slow_consumer(empty, |_, _| {}),
        shared::failing_consumer(empty, shared::put_behind_pop),
        shared::asked_back(empty, ask_back),
        shared::asked_back_for_another(empty, ask_back),
        shared::panicking_consumer(empty),
        shared::list_with_duplicates(empty),
        shared::write_after_close(empty, |over| over.writes()),
        shared::close_before_first_list(empty),
        shared::close_with_an_entry_left("close_with_an_object_left", empty),
    ]);
    all.extend(shared::of_all(empty));
    all.extend(sync::all());
    all
}

fn empty() -> Config {
    Config::default()
}

fn scenario(
    name: &'static str,
    says: &'static str,
    run: fn(&Stage),
    reaches: fn(&Led, &Over<'_>) -> bool,
) -> Scenario<Fifo> {
    fixtures::scenario(name, says, empty, run, reaches)
}

/// Tells whether the place at the head of the queue is stale.
fn head_is_stale(before: &Led) -> bool {
    before.plain.queue.front().is_some_and(|key| !before.plain.items.contains_key(key))
}
