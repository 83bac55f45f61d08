//! A caller that gives up its wait for an event, and waits again later.

use super::machine::{Call, IDLE, Told};
use super::pieces::{ADDED, HALVES, MODIFIED};
use super::{History, Watch};
use crate::shared::Shared;
use crate::trial::Scenario;

/// Bytes come between two waits, so the next wait need not wait for them.
pub(super) fn the_caller_is_away() -> Scenario<Watch> {
    Scenario::new(
        "the_caller_is_away",
        "a caller gives up its wait in a silence, and something comes before it waits \
         again: an event, a part of one, or the end",
        |world| {
            let watch = Shared::new(world);
            for meanwhile in [ADDED.as_bytes(), HALVES[0].as_bytes(), HALVES[1].as_bytes(), b"\n"] {
                watch.call(Call::Silence(IDLE - 1));
                watch.call(Call::Again(meanwhile.to_vec()));
            }
            watch.call(Call::Silence(IDLE - 1));
            watch.call(Call::Bytes(MODIFIED.into()));
            watch.call(Call::Again(Vec::new()));
            watch.call(Call::Silence(IDLE));
        },
        // Every event is told, and the end after a silence that nothing has ended.
        |history: &History| {
            let said = || history.events.iter().filter_map(|event| Some(&event.returned()?.1.told));
            let events = said().flatten().filter(|told| matches!(told, Told::Event(..))).count();
            events == 3 && said().next_back().is_some_and(|told| *told == [Told::End])
        },
    )
}
