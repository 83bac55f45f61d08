//! The queue of a controller: changes come before objects from lists, and no key starves.

use std::collections::BTreeMap;
use std::fmt;
use std::future::poll_fn;
use std::pin::pin;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::{Poll, ready};
use std::time::Duration;

use seatrial_core::limited_queue::Outcome;
use seatrial_core::limiter::Exponential;
use seatrial_core::metrics::Metrics;
use seatrial_core::pool::Source;
use seatrial_core::priority_queue::{AddOptions, PriorityQueue, Told};
use seatrial_core::queue::Token;
use seatrial_core::runtime::{Runtime, Tokio};
use tokio::time::Instant;

use super::ObjectRef;
use crate::shards::Shard;

/// The priority of objects from the first list, and of those shown again; a change has zero.
const LOW: i32 = -100;

/// How long changes may come before objects of low priority.
pub(super) const PATIENCE: Duration = Duration::from_secs(5);

/// A priority queue in which low priority ends when the item is handed out, or has waited long.
pub(super) struct FairQueue {
    queue: PriorityQueue<ObjectRef, Tokio, Exponential<ObjectRef>, Told>,
    runtime: Tokio,
    /// The items with low priority, and since when they wait. Every add and take holds this lock
    /// first, so that the map and the queue agree.
    low: Mutex<BTreeMap<ObjectRef, Instant>>,
    /// Only keys of this shard are accepted; `None` accepts all.
    shard: Option<Shard>,
}

impl FairQueue {
    pub(super) fn new(
        runtime: &Tokio,
        backoff: Exponential<ObjectRef>,
        metrics: &Metrics,
        shard: Option<Shard>,
    ) -> Self {
        let queue = PriorityQueue::with_metrics(runtime, backoff, metrics);
        Self { queue, runtime: runtime.clone(), low: Mutex::default(), shard }
    }

    pub(super) fn add(&self, key: ObjectRef, is_low: bool) {
        if self.shard.is_some_and(|shard| !shard.has(&key)) {
            return;
        }
        if !is_low {
            return self.queue.add(key);
        }
        let mut low = self.low();
        low.entry(key.clone()).or_insert_with(Instant::now);
        self.queue.add_with(key, AddOptions { priority: LOW, ..AddOptions::default() });
        drop(low);
    }

    /// Raises the priority of items that have waited, again and again.
    pub(super) async fn age(&self) {
        loop {
            tokio::time::sleep(PATIENCE / 5).await;
            self.raise(Instant::now());
        }
    }

    /// Raises the priority of items that have waited, ordered by name, so that runs are repeatable.
    fn raise(&self, now: Instant) {
        let mut low = self.low();
        let waited = low.iter().filter(|(_, since)| now - **since >= PATIENCE);
        let waited: Vec<_> = waited.map(|(key, _)| key.clone()).collect();
        for key in &waited {
            low.remove(key);
        }
        self.queue.add_all(waited, AddOptions::default());
        drop(low);
    }

    pub(super) async fn refresh_metrics(&self) {
        self.queue.refresh_metrics_async(seatrial_core::metrics::EVERY).await;
    }

    fn low(&self) -> MutexGuard<'_, BTreeMap<ObjectRef, Instant>> {
        self.low.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Source for FairQueue {
    type Key = ObjectRef;
    type Delivery = Token;

    fn next(&self) -> Option<(ObjectRef, Token)> {
        self.runtime.block_on(self.next_async())
    }

    async fn next_async(&self) -> Option<(ObjectRef, Token)> {
        let mut taken = pin!(self.queue.take_async());
        poll_fn(|context| {
            let mut low = self.low();
            let Some((token, key, _)) = ready!(taken.as_mut().poll(context)) else {
                return Poll::Ready(None);
            };
            low.remove(&key);
            Poll::Ready(Some((key, token)))
        })
        .await
    }

    /// An item that comes back has been reconciled before, so it has the priority of a change.
    fn settle(&self, token: Token, outcome: Outcome, priority: Option<i32>) {
        self.queue.settle(token, outcome, priority.unwrap_or(0));
    }

    fn failures(&self, key: &ObjectRef) -> u32 {
        self.queue.num_requeues(key)
    }

    async fn rest(&self, time: Duration) {
        tokio::time::sleep(time).await;
    }

    fn release(&self, token: Token) {
        self.queue.done(token);
    }

    fn shut_down(&self) {
        self.queue.shut_down();
    }

    fn waiting(&self) -> usize {
        self.queue.len()
    }
}

impl fmt::Debug for FairQueue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.queue.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    fn queue() -> FairQueue {
        let backoff = Exponential::new(Duration::from_millis(5), Duration::from_secs(1000));
        FairQueue::new(&Tokio::current(), backoff, &Metrics::default(), None)
    }

    #[tokio::test(start_paused = true)]
    async fn a_change_comes_before_what_was_there() {
        let queue = queue();
        queue.add(ObjectRef::new("old"), true);
        queue.add(ObjectRef::new("other"), true);
        queue.add(ObjectRef::new("changed"), false);
        queue.add(ObjectRef::new("other"), false); // it changed as well
        let mut order = Vec::new();
        for _ in 0..3 {
            order.push(queue.next_async().await.unwrap().0.name);
        }
        assert_eq!(order.pop().as_deref(), Some("old"));
    }

    /// Even with endless changes, an object from the first list is handed out after its patience.
    #[tokio::test(start_paused = true)]
    async fn what_was_there_does_not_wait_for_ever() {
        let queue = Arc::new(queue());
        let ages = Arc::clone(&queue);
        let ages = tokio::spawn(async move { ages.age().await });
        let began = Instant::now();
        queue.add(ObjectRef::new("old"), true);
        queue.add(ObjectRef::new("hot"), false);
        loop {
            let (key, token) = queue.next_async().await.unwrap();
            queue.add(ObjectRef::new("hot"), false); // while it is processed
            tokio::time::sleep(Duration::from_millis(20)).await;
            queue.settle(token, Outcome::Success, None);
            if key.name == "old" {
                break;
            }
            assert!(began.elapsed() < PATIENCE * 2, "it starves");
        }
        assert!(began.elapsed() >= PATIENCE, "changes come first for that long");
        ages.abort();
    }

    /// While one worker takes a key, another task adds it: the new item has its age recorded.
    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn what_waits_with_low_priority_has_its_age() {
        let queue = Arc::new(queue());
        let (adds, meet) = (Arc::clone(&queue), Arc::new(std::sync::Barrier::new(2)));
        let met = Arc::clone(&meet);
        let rounds = 2_000;
        let adder = std::thread::spawn(move || {
            for _ in 0..rounds {
                met.wait();
                adds.add(ObjectRef::new("key"), true);
                met.wait();
            }
        });
        for _ in 0..rounds {
            queue.add(ObjectRef::new("key"), true);
            meet.wait();
            let (key, token) = queue.next_async().await.unwrap();
            meet.wait();
            queue.release(token);
            let waits = queue.waiting() == 1;
            assert_eq!(queue.low().contains_key(&key), waits);
            if waits {
                let (_, token) = queue.next_async().await.unwrap();
                queue.release(token);
            }
        }
        adder.join().unwrap();
    }

    #[tokio::test(start_paused = true)]
    async fn what_comes_back_is_in_the_line_of_changes() {
        let queue = queue();
        queue.add(ObjectRef::new("seen"), true);
        let (_, token) = queue.next_async().await.unwrap();
        queue.add(ObjectRef::new("unseen"), true);
        queue.settle(token, Outcome::RequeueAfter(Duration::ZERO), None);
        assert_eq!(queue.next_async().await.unwrap().0.name, "seen");
    }
}
