//! The reports of a priority queue to its observer.

use crate::machine::Cx;
use crate::runtime::Instant;
use crate::slab::Slot;

/// Is told of the events in a queue, under its lock: it must not call back (`workqueue:CV-6`). If
/// it panics, the queue continues.
///
/// An entry is identified by its slot, which belongs to it from the moment it becomes ready until
/// it is handed out, and again from there until it is done. `()` observes nothing and costs
/// nothing.
pub trait Observer: Send + 'static {
    /// An entry became ready (`workqueue:PQ-19`): at `due`, which may be a while ago, or now if it
    /// did not wait for a time.
    fn ready(&mut self, entry: Slot, priority: i32, due: Option<Instant>, cx: &mut Cx<'_>) {
        let _ = (entry, priority, due, cx);
    }

    /// The priority of a ready entry rose (`workqueue:PQ-38`).
    fn rose(&mut self, entry: Slot, priority: i32, cx: &mut Cx<'_>) {
        let _ = (entry, priority, cx);
    }

    /// A ready entry was handed out (`workqueue:PQ-24`).
    fn handed_out(&mut self, entry: Slot, cx: &mut Cx<'_>) {
        let _ = (entry, cx);
    }

    /// An item that was handed out is done (`workqueue:PQ-26`).
    fn done(&mut self, entry: Slot, cx: &mut Cx<'_>) {
        let _ = (entry, cx);
    }

    /// An item was given a delay (`workqueue:PQ-8`).
    fn retried(&mut self, cx: &mut Cx<'_>) {
        let _ = cx;
    }

    /// Reports how much is unfinished: items that are handed out and not done (`workqueue:MX-10`).
    fn unfinished(&mut self, cx: &mut Cx<'_>) {
        let _ = cx;
    }
}

impl Observer for () {}

/// Passes reports on to the observer, if there is one.
impl<O: Observer> Observer for Option<O> {
    fn ready(&mut self, entry: Slot, priority: i32, due: Option<Instant>, cx: &mut Cx<'_>) {
        if let Some(observer) = self {
            observer.ready(entry, priority, due, cx);
        }
    }

    fn rose(&mut self, entry: Slot, priority: i32, cx: &mut Cx<'_>) {
        if let Some(observer) = self {
            observer.rose(entry, priority, cx);
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

    fn retried(&mut self, cx: &mut Cx<'_>) {
        if let Some(observer) = self {
            observer.retried(cx);
        }
    }

    fn unfinished(&mut self, cx: &mut Cx<'_>) {
        if let Some(observer) = self {
            observer.unfinished(cx);
        }
    }
}
