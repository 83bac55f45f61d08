//! The promises of the expiring store, as checks of a history.

use std::collections::BTreeMap;

use seatrial_core::store::expiring::{Op, Ret};

use super::{Event, ExpiringStore, History};
use crate::events::fixtures::Object;
use crate::stores::fixtures::{Followed, agrees};
use crate::trial::{Invariant, Violation, What};

pub(super) fn all() -> Vec<Invariant<ExpiringStore>> {
    vec![
        agrees(&[
            "cache:EX-1",
            "cache:EX-2",
            "cache:EX-3",
            "cache:EX-4",
            "cache:EX-5",
            "cache:EX-6",
        ]),
        Invariant::at_every_event(
            "nothing_alive_is_missed",
            "an object that has not expired is read, even if a caller has just found its \
             predecessor expired",
            &["cache:EX-4"],
            nothing_alive_is_missed,
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

/// The note of a thread that is about to make a call; its value is a [`Called`].
pub(super) const CALLS: &str = "calls";

/// The kind of a call.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Called {
    Put,
    Delete,
    Replace,
    Get,
    List,
    ListKeys,
}

impl Called {
    /// Returns the kind of call that a step belongs to.
    fn by(op: &Op<u8, Object>) -> Self {
        match op {
            Op::Put(_) => Self::Put,
            Op::Delete(_) => Self::Delete,
            Op::Replace(_) => Self::Replace,
            Op::Get(_) => Self::Get,
            Op::List(_) => Self::List,
            Op::ListKeys(_) => Self::ListKeys,
        }
    }
}

/// This is judged behind a difference, too: the successor of an expired object is lost after a call that
/// took a step too many.
fn nothing_alive_is_missed(before: &Followed<ExpiringStore>, event: &Event) -> Result<(), String> {
    let (wanted, read): (_, Vec<Object>) = match event.returned() {
        Some((Op::Get(get), Ret::Get(found))) => {
            (vec![*get.0.key()], found.iter().flatten().copied().collect())
        }
        Some((Op::List(_), Ret::List((alive, _)))) => (before.plain.keys(), alive.clone()),
        _ => return Ok(()),
    };
    let mut alive = wanted.into_iter().filter_map(|key| before.plain.alive(key, event.at));
    match alive.find(|object| read.iter().all(|it| it.0 != object.0)) {
        Some(object) => Err(format!("{object:?} has not expired, and is not read")),
        None => Ok(()),
    }
}

fn one_step_a_call(history: &History) -> Result<(), Violation> {
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
