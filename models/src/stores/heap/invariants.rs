//! The promises of the heap, as checks of a history.

use super::Heap;
use crate::events::fixtures::Bed;
use crate::stores::fixtures::{Followed, agrees};
use crate::trial::Invariant;

type Led = Followed<Heap>;

pub(super) fn all() -> Vec<Invariant<Heap>> {
    vec![
        Invariant::when_quiet(
            "no_lost_wakeup",
            "nobody sleeps in pop for ever while an object is there",
            &["cache:HP-1", "cache:HP-3"],
            no_lost_wakeup,
        ),
        Invariant::when_quiet(
            "close_wakes_everybody",
            "nobody sleeps in pop for ever once the heap is closed",
            &["cache:HP-2"],
            close_wakes_everybody,
        ),
        agrees(&["cache:HP-1", "cache:HP-2", "cache:HP-3", "cache:HP-4"]),
    ]
}

fn no_lost_wakeup(now: &Led) -> Result<(), String> {
    match now.right().and_then(|plain| plain.items.keys().next()) {
        Some(key) if now.asleep.count(Bed::Pop) > 0 => {
            Err(format!("a consumer sleeps although object {key} is there"))
        }
        _ => Ok(()),
    }
}

fn close_wakes_everybody(now: &Led) -> Result<(), String> {
    if now.plain.closed && now.asleep.count(Bed::Pop) > 0 {
        return Err("a consumer sleeps although the heap is closed".to_owned());
    }
    Ok(())
}
