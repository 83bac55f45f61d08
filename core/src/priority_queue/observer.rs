//! What a priority queue tells whoever measures it.

use crate::machine::Cx;
use crate::runtime::Instant;
use crate::slab::Slot;

/// Learns what happens in a queue, under its lock: it must not call back (`workqueue:CV-6`).
///
/// An entry is named by its slot, which is its own from the moment it becomes ready until it is
/// handed out, and again from there until it is done. `()` observes nothing and costs nothing.
pub trait Observer: Send + 'static {
    /// An entry became ready (`workqueue:PQ-19`).
    fn ready(&mut self, entry: Slot, priority: i32, cx: &mut Cx<'_>) {
        let _ = (entry, priority, cx);
    }

    /// The priority of a ready entry rose (`workqueue:PQ-38`).
    fn rose(&mut self, entry: Slot, priority: i32) {
        let _ = (entry, priority);
    }

    /// A ready entry was handed out (`workqueue:PQ-24`).
    fn handed_out(&mut self, entry: Slot, cx: &mut Cx<'_>) {
        let _ = (entry, cx);
    }

    /// What was handed out is done (`workqueue:PQ-26`).
    fn done(&mut self, entry: Slot, cx: &mut Cx<'_>) {
        let _ = (entry, cx);
    }

    /// An item was given a delay (`workqueue:PQ-8`).
    fn retried(&mut self) {}

    /// Somebody wants to be told how much is unfinished: what was handed out and is not done
    /// (`workqueue:MX-10`).
    fn unfinished(&mut self, now: Instant) {
        let _ = now;
    }
}

impl Observer for () {}

/// Observes if there is somebody who does.
impl<O: Observer> Observer for Option<O> {
    fn ready(&mut self, entry: Slot, priority: i32, cx: &mut Cx<'_>) {
        if let Some(observer) = self {
            observer.ready(entry, priority, cx);
        }
    }

    fn rose(&mut self, entry: Slot, priority: i32) {
        if let Some(observer) = self {
            observer.rose(entry, priority);
        }
    }

    fn handed_out(&mut self, entry: Slot, cx: &mut Cx<'_>) {
        if let Some(observer) = self {
            observer.handed_out(entry, cx);
        }
    }

    fn done(&mut self, entry: Slot, cx: &mut Cx<'_>) {
        if let Some(observer) = self {
            observer.done(entry, cx);
        }
    }

    fn retried(&mut self) {
        if let Some(observer) = self {
            observer.retried();
        }
    }

    fn unfinished(&mut self, now: Instant) {
        if let Some(observer) = self {
            observer.unfinished(now);
        }
    }
}
