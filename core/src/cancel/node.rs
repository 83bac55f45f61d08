//! A token behind its own lock, with a reference to its parent.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use super::operations::{Begin, Cancel, Forget, Leave, Look, Wait};
use super::state::{Below, ChildId, Ended, Reason, Tree};
use crate::cancel::CancelToken;
use crate::machine::{AT_ONCE, Hosted};
use crate::monitor::Monitor;
use crate::runtime::{Atomic, Instant, Runtime};

/// Makes the content of a token's lock.
pub(super) type Make = Arc<dyn Fn() -> Hosted<Tree> + Send + Sync>;

pub(super) struct Node<R: Runtime> {
    pub(super) monitor: Monitor<Tree, R>,
    /// The end as the rules have reported it, readable without the lock. A caller that learns of
    /// the end from the rules writes it here before anyone else can learn it from them.
    known: R::Atomic,
    /// The earliest deadline on the path to the root. It never changes.
    pub(super) deadline: Instant,
    pub(super) make: Make,
    /// `None` in the root of a tree.
    up: Option<Up<R>>,
}

/// A token's connection to its parent.
pub(super) struct Up<R: Runtime> {
    /// The parent.
    parent: Arc<Node<R>>,
    /// The place of the parent among the children of its own parent.
    place: Option<ChildId>,
    /// The number of copies and children of the token. The count belongs to the runtime, because
    /// the caller that drops the last one takes a lock, and checkers must see which caller that is.
    holders: R::Atomic,
}

impl<R: Runtime> Up<R> {
    /// Makes a connection to a token.
    pub(super) fn new(parent: &CancelToken<R>) -> Self {
        parent.node.hold();
        let holders = parent.runtime().atomic(1);
        Self { parent: Arc::clone(&parent.node), place: parent.place, holders }
    }
}

impl<R: Runtime> Node<R> {
    pub(super) fn new(runtime: &R, make: Make, deadline: Instant, up: Option<Up<R>>) -> Self {
        let monitor = Monitor::new(runtime, make());
        Self { monitor, known: runtime.atomic(0), deadline, make, up }
    }

    /// Passes on to the rules of a new token its deadline and the end of its parent.
    pub(super) fn begin(&self, ended: Option<Reason>) {
        if self.deadline != Instant::NEVER || ended.is_some() {
            self.monitor.call(Begin { deadline: self.deadline, ended });
            self.learn(ended);
        }
    }

    /// Returns why it ended, if a caller has learned it already.
    pub(super) fn known(&self) -> Option<Reason> {
        match self.known.load(Ordering::Acquire) {
            0 => None,
            1 => Some(Reason::Cancelled),
            _ => Some(Reason::DeadlineExceeded),
        }
    }

    /// Returns why it ended; `None` while it has not ended.
    pub(super) fn reason(&self) -> Option<Reason> {
        let known = self.known();
        let may_be_over = known.is_none() && self.deadline != Instant::NEVER;
        if may_be_over && self.deadline <= self.monitor.runtime().now() {
            return self.learn(self.monitor.call(Look));
        }
        known
    }

    /// As [`reason`](Self::reason), under the lock: what was done before a call that has returned is seen.
    pub(super) fn look(&self) -> Option<Reason> {
        self.known().or_else(|| self.learn(self.monitor.call(Look)))
    }

    /// Records the end as the rules reported it.
    pub(super) fn learn(&self, ended: Option<Reason>) -> Option<Reason> {
        if let Some(reason) = ended {
            let word = match reason {
                Reason::Cancelled => 1,
                Reason::DeadlineExceeded => 2,
            };
            self.known.store(word, Ordering::Release);
        }
        ended
    }

    pub(super) fn wait(&self, until: Instant) -> Option<Reason> {
        self.learn(self.monitor.call(Wait { until }))
    }

    /// Counts one more copy or child. The root has no parent to leave, so it counts nothing.
    pub(super) fn hold(&self) {
        if let Some(up) = &self.up {
            up.holders.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Counts one copy or child less. After the last one the token leaves its parent, which then
    /// has one child less.
    pub(super) fn release(&self, place: Option<ChildId>) {
        let (mut node, mut place) = (self, place);
        while let Some(up) = &node.up {
            if up.holders.fetch_add(u64::MAX, Ordering::AcqRel) > 1 {
                return;
            }
            if let Some(place) = place {
                drop(up.parent.monitor.call(Leave(place)));
            }
            (node, place) = (&up.parent, up.place);
        }
    }
}

impl<R: Runtime> Below for Node<R> {
    fn end(&self) -> Ended {
        let ended = self.monitor.call(Cancel::default());
        self.learn(ended.reason);
        ended
    }

    fn forget(&self) {
        while self.monitor.call(Forget).len() == AT_ONCE {} // they are dropped without the lock
    }
}

/// Drops a long path upwards step by step: recursive drops would overflow the stack.
impl<R: Runtime> Drop for Node<R> {
    fn drop(&mut self) {
        let mut up = self.up.take();
        while let Some(Up { parent, .. }) = up {
            up = Arc::into_inner(parent).and_then(|mut parent| parent.up.take());
        }
    }
}

impl<R: Runtime> fmt::Debug for Node<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Node").field(&self.known()).finish()
    }
}
