//! The promises of the queue of newest objects, as checks of a history.

use seatrial_core::fifo::{Op, Popped, Ret};
use seatrial_core::machine::Step;

use super::{Fifo, MapAndList, Object};
use crate::events::fixtures::promises::{self, agrees, at_every_call};
use crate::events::fixtures::{Call, Led, Over};
use crate::trial::{EventOf, Invariant, What};

/// The most specific promises come first: an execution is blamed on the first promise that it
/// breaks.
pub(super) fn all() -> Vec<Invariant<Fifo>> {
    let mut all = of_delivery();
    all.extend(of_the_first_list());
    all.extend(promises::of_all());
    all.push(agrees(&[
        "cache:FF-2",
        "cache:FF-4",
        "cache:FF-6",
        "cache:FF-9",
        "cache:FF-13",
        "cache:FF-14",
        "cache:QU-1",
        "cache:QU-4",
        "cache:QU-8",
        "cache:QU-20",
    ]));
    all
}

fn of_delivery() -> Vec<Invariant<Fifo>> {
    vec![
        at_every_call(
            "one_at_a_time",
            "while an object is processed the lock is held: no other thread pops or writes",
            &["cache:QU-12", "cache:INV-12"],
            promises::one_at_a_time,
        ),
        at_every_call(
            "newest_state",
            "an object is handed out in its newest state",
            &["cache:FF-2", "cache:FF-3", "cache:FF-16", "cache:QU-10"],
            newest_state,
        ),
        Invariant::at_every_event(
            "nothing_is_lost",
            "no consumer goes to sleep while an object waits",
            &["cache:FF-1", "cache:QU-2", "cache:QU-9", "cache:FF-15"],
            nothing_is_lost,
        ),
        at_every_call(
            "order_of_places",
            "objects are handed out in the order of their first places; an update moves no \
                 object",
            &["cache:FF-7", "cache:FF-8", "cache:FF-11", "cache:INV-7", "cache:QU-11"],
            order_of_places,
        ),
    ]
}

fn of_the_first_list() -> Vec<Invariant<Fifo>> {
    vec![
        Invariant::along(
            "never_synced_early",
            "the first list is processed only when all its places are processed or skipped",
            &["cache:QU-14", "cache:QU-15", "cache:QU-18", "cache:FF-10", "cache:INV-8"],
            promises::never_synced_early::<Fifo>,
        ),
        at_every_call(
            "synced_once_processed",
            "the first list is processed as soon as its last place is processed or skipped",
            &["cache:QU-17", "cache:QU-19", "cache:FF-12", "cache:FF-13", "cache:INV-9"],
            promises::synced_once_processed,
        ),
    ]
}

fn popped<'a>(over: &Over<'a, Fifo>) -> Option<&'a Popped<u8, Object>> {
    match over.ret {
        Ret::Pop(popped) => popped.as_ref(),
        _ => None,
    }
}

fn newest_state(before: &Led<Fifo>, over: &Over<'_, Fifo>) -> Result<(), String> {
    let Some(popped) = popped(over) else { return Ok(()) };
    match before.right().and_then(|plain| plain.items.get(&popped.key)) {
        Some(newest) if *newest != popped.object => {
            Err(format!("{:?} is handed out, and {newest:?} is newer", popped.object))
        }
        _ => Ok(()),
    }
}

fn order_of_places(before: &Led<Fifo>, over: &Over<'_, Fifo>) -> Result<(), String> {
    let Some(popped) = popped(over) else { return Ok(()) };
    let first = |plain: &MapAndList<u8, Object>| {
        plain.queue.iter().find(|key| plain.items.contains_key(key)).copied()
    };
    match before.right().and_then(first) {
        Some(first) if first != popped.key => Err(format!(
            "object {} is handed out before object {first}, whose place is earlier",
            popped.key
        )),
        _ => Ok(()),
    }
}

fn nothing_is_lost(before: &Led<Fifo>, event: &EventOf<Fifo>) -> Result<(), String> {
    let sleeps = matches!(
        event.what,
        What::Step { op: Call::Queue(Op::Pop(_)), outcome: Step::Wait { .. }, .. }
    );
    match before.right().and_then(|plain| plain.items.keys().next()) {
        Some(key) if sleeps => Err(format!("a consumer finds nothing, and object {key} waits")),
        _ => Ok(()),
    }
}
