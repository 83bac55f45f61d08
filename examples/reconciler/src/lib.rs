//! A small controller: it brings the number of replicas to the desired number.

use std::collections::BTreeMap;

use seatrial_core::queue::WorkQueue;
use seatrial_core::runtime::Runtime;

/// The desired and the actual number of replicas, for each object. A real operator has a cache and
/// an API server for this.
pub struct Cluster<R: Runtime> {
    runtime: R,
    state: R::Mutex<BTreeMap<u8, Replicas>>,
}

/// One object.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Replicas {
    /// The desired number.
    pub desired: u32,
    /// The actual number.
    pub actual: u32,
}

impl<R: Runtime> Cluster<R> {
    /// Makes an empty cluster.
    pub fn new(runtime: &R) -> Self {
        Self { runtime: runtime.clone(), state: runtime.mutex(BTreeMap::new()) }
    }

    /// Sets the desired number of replicas. The caller then adds the key to the queue.
    pub fn ask(&self, key: u8, desired: u32) {
        self.runtime.lock(&self.state).entry(key).or_default().desired = desired;
    }

    /// Reads an object.
    pub fn read(&self, key: u8) -> Replicas {
        self.runtime.lock(&self.state).get(&key).copied().unwrap_or_default()
    }

    /// Writes the actual number of replicas.
    pub fn scale(&self, key: u8, actual: u32) {
        self.runtime.lock(&self.state).entry(key).or_default().actual = actual;
    }
}

/// Works until the queue is shut down: each delivery of a key reconciles it once.
pub fn reconcile<R: Runtime>(queue: &WorkQueue<u8, R>, cluster: &Cluster<R>) {
    while let Some(item) = queue.get() {
        let desired = cluster.read(*item).desired;
        cluster.scale(*item, desired);
    }
}

/// The same with a common mistake: done is called before the work is finished. So a change that
/// comes meanwhile is reconciled by another worker at the same time, and the older number may be
/// written last.
pub fn reconcile_too_early<R: Runtime>(queue: &WorkQueue<u8, R>, cluster: &Cluster<R>) {
    while let Some((token, key)) = queue.take() {
        queue.done(token);
        let desired = cluster.read(key).desired;
        cluster.scale(key, desired);
    }
}
