//! Checks of the objects handed out, and of the answers that readers get.

use seatrial_core::fifo::{Op, Ret};
use seatrial_core::machine::Step;

use super::{Fifo, Invariant};
use crate::fifo::Event;
use crate::fifo::ledger::{FifoLedger, popped, writes};
use crate::trial::What;

pub(super) fn all() -> Vec<Invariant<Fifo>> {
    vec![
        Invariant::at_every_event(
            "one_at_a_time",
            "while an object is processed the lock is held: no other thread pops or writes",
            &["cache:QU-12", "cache:INV-12"],
            one_at_a_time,
        ),
        Invariant::at_every_event(
            "only_what_waits",
            "only a waiting object is handed out: no deleted one, and none a second time",
            &["cache:FF-4", "cache:FF-6", "cache:QU-8"],
            only_what_waits,
        ),
        Invariant::at_every_event(
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
        Invariant::at_every_event(
            "order_of_places",
            "objects are handed out in the order of their first places; an update moves no object",
            &[
                "cache:FF-7",
                "cache:FF-8",
                "cache:FF-9",
                "cache:FF-11",
                "cache:INV-7",
                "cache:QU-11",
            ],
            order_of_places,
        ),
        Invariant::at_every_event(
            "close_discards_nothing",
            "pop reports the end only when the queue is closed and no object waits",
            &["cache:QU-2", "cache:QU-3", "cache:QU-4"],
            close_discards_nothing,
        ),
        Invariant::at_every_event(
            "reads_agree",
            "get, list, len and is_closed say what is so",
            &["cache:FF-14", "cache:QU-1"],
            reads_agree,
        ),
    ]
}

pub(super) fn agrees() -> Invariant<Fifo> {
    Invariant::at_every_event(
        "agrees_with_the_sequential_object",
        "every pop hands out what it would if nothing overlapped",
        &["cache:FF-2", "cache:FF-6", "cache:FF-9"],
        same_as_the_sequential_object,
    )
}

fn one_at_a_time(before: &FifoLedger, event: &Event) -> Result<(), String> {
    let other = before.in_process.iter().find(|(thread, _)| *thread != event.thread);
    match other {
        Some((_, other)) if writes(event) || popped(event).is_some() => {
            Err(format!("object {} is being processed meanwhile", other.key))
        }
        _ => Ok(()),
    }
}

fn only_what_waits(before: &FifoLedger, event: &Event) -> Result<(), String> {
    match popped(event) {
        Some(popped) if !before.spec.items.contains_key(&popped.key) => {
            Err(format!("object {} is handed out, which does not wait", popped.key))
        }
        _ => Ok(()),
    }
}

fn newest_state(before: &FifoLedger, event: &Event) -> Result<(), String> {
    let Some(popped) = popped(event) else { return Ok(()) };
    match before.spec.items.get(&popped.key) {
        Some(newest) if *newest != popped.object => {
            Err(format!("{:?} is handed out, and {newest:?} is newer", popped.object))
        }
        _ => Ok(()),
    }
}

fn order_of_places(before: &FifoLedger, event: &Event) -> Result<(), String> {
    let Some(popped) = popped(event) else { return Ok(()) };
    let first = before.spec.queue.iter().find(|key| before.spec.items.contains_key(key));
    match first {
        Some(first) if *first != popped.key => Err(format!(
            "object {} is handed out before object {first}, whose place is earlier",
            popped.key
        )),
        _ => Ok(()),
    }
}

fn close_discards_nothing(before: &FifoLedger, event: &Event) -> Result<(), String> {
    if !matches!(event.returned(), Some((Op::Pop(_), Ret::Pop(None)))) {
        return Ok(());
    }
    match before.spec.items.keys().next() {
        Some(key) => Err(format!("pop reports the end although object {key} waits")),
        None if !before.closed => Err("pop reports the end of an open queue".to_owned()),
        None => Ok(()),
    }
}

fn nothing_is_lost(before: &FifoLedger, event: &Event) -> Result<(), String> {
    let sleeps =
        matches!(event.what, What::Step { op: Op::Pop(_), outcome: Step::Wait { .. }, .. });
    match before.spec.items.keys().next() {
        Some(key) if sleeps => Err(format!("a consumer finds nothing, and object {key} waits")),
        _ => Ok(()),
    }
}

fn reads_agree(before: &FifoLedger, event: &Event) -> Result<(), String> {
    let Some((op, ret)) = event.returned() else { return Ok(()) };
    let spec = &before.spec;
    let right = match (op, ret) {
        (Op::Get(get), Ret::Get(object)) => object.as_ref() == spec.items.get(get.0.key()),
        (_, Ret::List(list)) => *list == spec.waiting(),
        (_, Ret::Len(len)) => *len == spec.items.len(),
        (_, Ret::IsClosed(says)) => *says == before.closed,
        _ => true,
    };
    if right { Ok(()) } else { Err(format!("{ret:?} is not what {spec:?} says")) }
}

fn same_as_the_sequential_object(before: &FifoLedger, event: &Event) -> Result<(), String> {
    let Some(popped) = popped(event) else { return Ok(()) };
    let mut spec = before.spec.clone();
    let right = spec.pop().map(|taken| (taken.key, taken.object, spec.items.len()));
    let got = (popped.key, popped.object, popped.left);
    if right == Some(got) {
        return Ok(());
    }
    Err(format!("key, object and rest are {got:?}, of the sequential object {right:?}"))
}
