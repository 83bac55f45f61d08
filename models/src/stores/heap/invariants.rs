//! The promises of the heap, as checks of a history.

use seatrial_core::machine::Step;
use seatrial_core::store::HeapError;
use seatrial_core::store::heap::{Op, Ret};

use super::ledger::HeapLedger;
use super::op::rank;
use super::{Event, Heap};
use crate::events::fixtures::Object;
use crate::trial::{Invariant, What};

/// The most specific promises come first: an execution is blamed on the first promise that it
/// breaks.
pub(super) fn all() -> Vec<Invariant<Heap>> {
    let mut all = delivery();
    all.extend(the_end());
    all.extend(answers());
    all.extend(waking());
    all
}

fn delivery() -> Vec<Invariant<Heap>> {
    vec![
        Invariant::at_every_event(
            "only_what_is_there",
            "only an object that is there is handed out: none that was deleted, none twice",
            &["cache:HP-1"],
            only_what_is_there,
        ),
        Invariant::at_every_event(
            "newest_state",
            "what is handed out or read is the newest state of its object",
            &["cache:HP-1"],
            newest_state,
        ),
        Invariant::at_every_event(
            "least_first",
            "the least object that is there is handed out",
            &["cache:HP-1", "cache:HP-4"],
            least_first,
        ),
        Invariant::at_every_event(
            "nothing_is_lost",
            "no consumer goes to sleep while an object is there",
            &["cache:HP-1", "cache:HP-3"],
            nothing_is_lost,
        ),
    ]
}

fn the_end() -> Vec<Invariant<Heap>> {
    vec![
        Invariant::at_every_event(
            "close_discards_nothing",
            "pop reports the end only when the heap is closed and empty",
            &["cache:HP-2"],
            close_discards_nothing,
        ),
        Invariant::at_every_event(
            "close_is_final",
            "a closed heap says so to callers that add, and to nobody else",
            &["cache:HP-2"],
            close_is_final,
        ),
    ]
}

fn answers() -> Vec<Invariant<Heap>> {
    vec![
        Invariant::at_every_event(
            "deletions_are_told",
            "a deletion returns what was there, and says so if nothing was",
            &["cache:HP-1"],
            deletions_are_told,
        ),
        Invariant::at_every_event(
            "reads_agree",
            "get, list, len and is_closed say what is so",
            &["cache:HP-1", "cache:HP-2"],
            reads_agree,
        ),
        Invariant::at_every_event(
            "the_bad_one_is_told",
            "adding several objects fails if one of them has no key",
            &["cache:HP-3"],
            the_bad_one_is_told,
        ),
    ]
}

fn waking() -> Vec<Invariant<Heap>> {
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
    ]
}

fn popped(event: &Event) -> Option<Object> {
    match event.returned()? {
        (Op::Pop(_), Ret::Pop(taken)) => taken.map(|(_, object)| object),
        _ => None,
    }
}

fn only_what_is_there(before: &HeapLedger, event: &Event) -> Result<(), String> {
    match popped(event) {
        Some(object) if !before.spec.items.contains_key(&object.0) => {
            Err(format!("object {} is handed out, which is not there", object.0))
        }
        _ => Ok(()),
    }
}

fn newest_state(before: &HeapLedger, event: &Event) -> Result<(), String> {
    let read = match event.returned() {
        Some((_, Ret::Get(object))) => *object,
        _ => popped(event),
    };
    let Some(object) = read else { return Ok(()) };
    match before.spec.items.get(&object.0) {
        Some(newest) if *newest != object => {
            Err(format!("{object:?} is handed out, and {newest:?} is newer"))
        }
        _ => Ok(()),
    }
}

fn least_first(before: &HeapLedger, event: &Event) -> Result<(), String> {
    let Some(object) = popped(event) else { return Ok(()) };
    let least = before.spec.items.values().min_by_key(|object| rank(object));
    match least {
        Some(least) if rank(least) < rank(&object) => {
            Err(format!("{object:?} is handed out before {least:?}"))
        }
        _ => Ok(()),
    }
}

fn nothing_is_lost(before: &HeapLedger, event: &Event) -> Result<(), String> {
    let sleeps =
        matches!(event.what, What::Step { op: Op::Pop(_), outcome: Step::Wait { .. }, .. });
    match before.spec.items.keys().next() {
        Some(key) if sleeps => Err(format!("a consumer finds nothing beside object {key}")),
        _ => Ok(()),
    }
}

fn close_discards_nothing(before: &HeapLedger, event: &Event) -> Result<(), String> {
    if !matches!(event.returned(), Some((_, Ret::Pop(None)))) {
        return Ok(());
    }
    match before.spec.items.keys().next() {
        Some(key) => Err(format!("pop reports the end although object {key} is there")),
        None if !before.spec.closed => Err("pop reports the end of an open heap".to_owned()),
        None => Ok(()),
    }
}

/// Other invariants judge the objects handed out and read; this one judges the answers to
/// additions.
fn close_is_final(before: &HeapLedger, event: &Event) -> Result<(), String> {
    let told = match event.returned() {
        Some((_, Ret::Put(told) | Ret::AddIfAbsent(told) | Ret::BulkAdd(told))) => told,
        _ => return Ok(()),
    };
    let closed = matches!(told, Err(HeapError::Closed));
    if closed == before.spec.closed {
        return Ok(());
    }
    Err(format!("somebody adds and is told {told:?}; closed: {}", before.spec.closed))
}

fn deletions_are_told(before: &HeapLedger, event: &Event) -> Result<(), String> {
    let Some((Op::Delete(delete), Ret::Delete(told))) = event.returned() else {
        return Ok(());
    };
    let there = before.spec.items.get(delete.0.key());
    if told.as_ref().map(|(_, object)| object) == there {
        return Ok(());
    }
    Err(format!("{told:?} is said to be deleted where {there:?} was"))
}

fn reads_agree(before: &HeapLedger, event: &Event) -> Result<(), String> {
    let Some((op, ret)) = event.returned() else { return Ok(()) };
    let spec = &before.spec;
    let right = match (op, ret) {
        (Op::Get(get), Ret::Get(object)) => {
            object.is_some() == spec.items.contains_key(get.0.key())
        }
        (_, Ret::List(list)) => {
            let mut list = list.clone();
            list.sort_unstable();
            list.into_iter().eq(spec.items.clone())
        }
        (_, Ret::Len(len)) => *len == spec.items.len(),
        (_, Ret::IsClosed(says)) => *says == spec.closed,
        _ => true,
    };
    if right { Ok(()) } else { Err(format!("{ret:?} is not what {spec:?} says")) }
}

fn the_bad_one_is_told(before: &HeapLedger, event: &Event) -> Result<(), String> {
    let Some((Op::BulkAdd(bulk), Ret::BulkAdd(told))) = event.returned() else {
        return Ok(());
    };
    let bad = bulk.refused.is_some() && !before.spec.closed;
    if bad == matches!(told, Err(HeapError::Key(_))) {
        return Ok(());
    }
    Err(format!("with a bad object: {bad}, and somebody is told {told:?}"))
}

fn no_lost_wakeup(now: &HeapLedger) -> Result<(), String> {
    match now.spec.items.keys().next() {
        Some(key) if now.sleepers() > 0 => {
            Err(format!("a consumer sleeps although object {key} is there"))
        }
        _ => Ok(()),
    }
}

fn close_wakes_everybody(now: &HeapLedger) -> Result<(), String> {
    if now.spec.closed && now.sleepers() > 0 {
        return Err("a consumer sleeps although the heap is closed".to_owned());
    }
    Ok(())
}
