//! A history of the delaying queue as a history of the queue: every item is added when its time
//! comes.

use std::time::Duration;

use super::{Call, Event, History, Plain, Ret, core};
use crate::queue;
use crate::queues::fixtures::inside::{Seen, as_another, translated};
use crate::trial::{EventOf, Violation, What};
use seatrial_core::delaying_queue::AddAfter;
use seatrial_core::machine::{Step, Wakes};
use seatrial_core::runtime::Instant;

type QueueEvent = EventOf<queue::Queue>;

/// The number of the thread in an add that the time made.
const TIME: u8 = u8::MAX;

/// Returns the moment in the time of the sequential object.
pub(super) fn moment(at: Instant) -> Duration {
    at.since(Instant::ZERO)
}

type QueueCall = core::Op<u8>;
type QueueRet = core::Ret<u8>;

/// Translates a call for the queue inside; `None` if the call does not concern it.
pub(super) fn call(op: &Call<u8>) -> Option<QueueCall> {
    Some(as_another!(op, Call => QueueCall
        [Add Get Done DoneKey AddAll GetBatch DoneAll Len Refresh ShuttingDown],
        Call::AddAfter(AddAfter { key, hash, delay, .. }) if delay.is_zero() => {
            QueueCall::Add(core::Add { key: *key, hash: *hash })
        }
        Call::ShutDown(_) => QueueCall::ShutDown(core::ShutDown),
        Call::Drain(drain) => QueueCall::Drain(drain.inner.clone()),
        Call::AddAfter(_) | Call::Retries(_) => return None,
    ))
}

/// Translates a result for the queue inside.
pub(super) fn outcome(outcome: &Step<Ret<u8>>) -> Option<Step<QueueRet>> {
    let ret = match outcome {
        Step::Wait { on, until } => return Some(Step::Wait { on: *on, until: *until }),
        Step::Done(ret) | Step::Held(ret) => ret,
    };
    Some(Step::Done(as_another!(ret, Ret => QueueRet
        [Add Get Done DoneKey AddAll GetBatch DoneAll ShutDown Drain Refresh Len ShuttingDown],
        Ret::AddAfter(()) => QueueRet::Add(()),
        Ret::Retries(_) => return None,
    )))
}

/// Makes the calls of an event that concern times on the sequential object; no item is taken from
/// it.
pub(super) fn apply(times: &mut Plain, event: &Event) {
    times.advance_to(moment(event.at));
    let What::Step { op, .. } = &event.what else { return };
    match op {
        Call::AddAfter(AddAfter { key: Some(key), delay, called, .. }) => {
            times.add_after(*key, moment(called.unwrap_or(event.at)), *delay);
        }
        Call::ShutDown(_) => times.shut_down(),
        Call::Drain(drain) if drain.inner.began.is_none() => times.shut_down(),
        _ => {}
    }
}

/// Returns the items whose time comes at or before a moment, in the order of their times.
pub(super) fn due(times: &Plain, at: Instant) -> Vec<(u8, Duration)> {
    let is_due = |item: &&(u8, Duration)| item.1 <= moment(at);
    let mut due: Vec<_> = times.later.iter().filter(is_due).copied().collect();
    due.sort_by_key(|(_, time)| *time); // for equal times the earlier call comes first
    due
}

/// Turns a history into one of the queue.
fn seen(history: &History) -> Seen<queue::Queue> {
    let mut seen = Seen::new();
    let mut times = Plain::default();
    for (number, event) in history.events.iter().enumerate() {
        for (key, time) in due(&times, event.at) {
            let what = added(key);
            let (at, object) = (Instant::ZERO + time, event.object);
            seen.push(number, QueueEvent { thread: TIME, at, object, what, told: None });
        }
        apply(&mut times, event);
        let tells = event.told.as_ref().is_some_and(|told| !told.is_empty());
        if let Some(what) =
            translated(&event.what, call, outcome).or_else(|| tells.then_some(TELLS))
        {
            let Event { thread, at, object, .. } = *event;
            let told = event.told.clone();
            seen.push(number, QueueEvent { thread, at, object, what, told });
        }
    }
    seen
}

type QueueWhat = What<QueueCall, QueueRet>;

/// A call that does not concern the queue inside, but reports figures.
const TELLS: QueueWhat = What::Note { label: "tells", value: 0 };

/// An item is added because its time has come.
fn added(key: u8) -> QueueWhat {
    What::Step {
        op: core::Op::Add(core::Add { key: Some(key), hash: 0 }),
        outcome: Step::Done(core::Ret::Add(())),
        wakes: Wakes::default(),
    }
}

/// Judges a history by an invariant of the queue.
pub(super) fn judged(history: &History, invariant: &str) -> Result<(), Violation> {
    seen(history).judged(history.end.clone(), invariant)
}
