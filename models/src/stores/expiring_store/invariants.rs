//! The promises of the expiring store, as checks of a history.

use std::collections::BTreeMap;

use seatrial_core::store::expiring::{Op, Ret};

use super::ledger::{CALLS, Called, ExpiringLedger, read};
use super::{Event, ExpiringStore, History};
use crate::trial::{Invariant, Violation, What};

type Checked = Result<(), Violation>;

/// The most specific promises come first: an execution is blamed on the first promise that it
/// breaks.
pub(super) fn all() -> Vec<Invariant<ExpiringStore>> {
    vec![
        Invariant::at_every_event(
            "only_what_was_stored",
            "a read returns only objects that were stored and not removed",
            &["cache:EX-1", "cache:EX-3"],
            only_what_was_stored,
        ),
        Invariant::at_every_event(
            "newest_state",
            "what is read is the newest state of its object",
            &["cache:EX-1"],
            newest_state,
        ),
        Invariant::at_every_event(
            "nothing_expired_is_read",
            "no object is read that is older than the time to live",
            &["cache:EX-2", "cache:EX-6"],
            nothing_expired_is_read,
        ),
        Invariant::at_every_event(
            "nothing_alive_is_missed",
            "an object that has not expired is read, even if a caller has just found its \
             predecessor expired",
            &["cache:EX-2", "cache:EX-4", "cache:EX-5"],
            nothing_alive_is_missed,
        ),
        Invariant::at_every_event(
            "keys_stay_until_seen",
            "a key is listed until its object is deleted or a reader finds the object expired",
            &["cache:EX-3"],
            keys_stay_until_seen,
        ),
        Invariant::always(
            "one_step_a_call",
            "finding an object expired and removing it are one step: the store takes no step \
             outside a call",
            &["cache:EX-4"],
            one_step_a_call,
        ),
    ]
}

fn only_what_was_stored(before: &ExpiringLedger, event: &Event) -> Result<(), String> {
    let Some((objects, _)) = read(event) else { return Ok(()) };
    match objects.iter().find(|object| !before.spec.items.contains_key(&object.0)) {
        Some(object) => Err(format!("{object:?} is read, which is not there")),
        None => Ok(()),
    }
}

fn newest_state(before: &ExpiringLedger, event: &Event) -> Result<(), String> {
    for object in read(event).map(|(objects, _)| objects).unwrap_or_default() {
        match before.spec.items.get(&object.0) {
            Some((newest, _)) if *newest != object => {
                return Err(format!("{object:?} is read, and {newest:?} is newer"));
            }
            _ => {}
        }
    }
    Ok(())
}

fn nothing_expired_is_read(before: &ExpiringLedger, event: &Event) -> Result<(), String> {
    let Some((objects, now)) = read(event) else { return Ok(()) };
    for object in objects {
        let stored = before.spec.items.get(&object.0);
        if let Some((_, at)) = stored.filter(|(_, at)| now.since(*at) > before.spec.time) {
            return Err(format!("{object:?} is read, stored {:?} ago", now.since(*at)));
        }
    }
    Ok(())
}

fn nothing_alive_is_missed(before: &ExpiringLedger, event: &Event) -> Result<(), String> {
    let Some((objects, now)) = read(event) else { return Ok(()) };
    let wanted = match event.returned() {
        Some((Op::Get(get), _)) => vec![*get.0.key()],
        _ => before.spec.keys(),
    };
    let alive = wanted.into_iter().filter_map(|key| before.spec.alive(key, now));
    for object in alive {
        if !objects.iter().any(|read| read.0 == object.0) {
            return Err(format!("{object:?} has not expired, and is not read"));
        }
    }
    Ok(())
}

fn one_step_a_call(history: &History) -> Checked {
    let mut called = BTreeMap::new();
    for (number, event) in history.events.iter().enumerate() {
        if let Some(call) = event.noted(CALLS) {
            called.insert(event.thread, call);
        } else if let What::Step { op, .. } = &event.what {
            let step = Called::by(op);
            if called.remove(&event.thread) != Some(step as u64) {
                return Err(Violation::at(number, format!("nobody has called {step:?} here")));
            }
        }
    }
    Ok(())
}

fn keys_stay_until_seen(before: &ExpiringLedger, event: &Event) -> Result<(), String> {
    match event.returned() {
        Some((_, Ret::ListKeys(keys))) => {
            let mut keys = keys.clone();
            keys.sort_unstable();
            let right = before.spec.keys();
            if keys == right { Ok(()) } else { Err(format!("{keys:?} are listed, not {right:?}")) }
        }
        _ => Ok(()),
    }
}
