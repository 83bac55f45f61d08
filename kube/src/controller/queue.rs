//! The queue of a controller: changes come before objects from lists, and no key starves.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, VecDeque};
use std::fmt;
use std::future::poll_fn;
use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Poll, ready};
use std::time::Duration;

use seatrial_core::limited_queue::Outcome;
use seatrial_core::limiter::Limiter;
use seatrial_core::metrics::Metrics;
use seatrial_core::pool::Source;
use seatrial_core::priority_queue::{AddOptions, PriorityQueue, Told};
use seatrial_core::queue::Token;
use seatrial_core::runtime::{Runtime, Tokio};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use tokio::time::Instant;

use super::ObjectRef;
use super::parked::{Parked, WAITS};
use crate::shards::Shard;

/// The priority of objects from the first list, and of those shown again; a change has zero.
const LOW: i32 = -100;

/// How long changes may come before objects of low priority.
pub(super) const PATIENCE: Duration = Duration::from_secs(5);

/// The priority by which a worker says that it has parked the key; other keys never have it.
pub(super) const PARKED: i32 = i32::MIN;

/// How many items are raised under one lock.
const PART: usize = 1_024;

/// A limiter that says how long a failed key waits.
pub(super) type KeyLimiter = Box<dyn Limiter<ObjectRef>>;

/// A priority queue in which low priority ends when the item is handed out, or has waited long.
pub(super) struct FairQueue {
    queue: PriorityQueue<ObjectRef, Tokio, KeyLimiter, Told>,
    runtime: Tokio,
    /// The items with low priority. Every add and take holds this lock first, so that they and the
    /// queue agree.
    low: Mutex<Low>,
    /// Only keys of this shard are accepted; `None` accepts all.
    shard: Option<Shard>,
    parked: Parked,
}

/// The items with low priority, and since when they wait.
#[derive(Default)]
struct Low {
    since: BTreeMap<ObjectRef, Instant>,
    /// The same in the order of time, and items that have left or begun anew since.
    line: VecDeque<(Instant, ObjectRef)>,
}

impl Low {
    fn add(&mut self, key: &ObjectRef, now: Instant) {
        if let Entry::Vacant(entry) = self.since.entry(key.clone()) {
            entry.insert(now);
            self.line.push_back((now, key.clone()));
        }
    }

    /// Takes the next item that has waited long.
    fn waited(&mut self, now: Instant) -> Option<ObjectRef> {
        while self.line.front().is_some_and(|(since, _)| now.duration_since(*since) >= PATIENCE) {
            let (since, key) = self.line.pop_front()?;
            if self.since.get(&key) == Some(&since) {
                self.since.remove(&key);
                return Some(key);
            }
        }
        None
    }
}

impl FairQueue {
    pub(super) fn new(
        runtime: &Tokio,
        limiter: KeyLimiter,
        metrics: &Metrics,
        shard: Option<Shard>,
    ) -> Self {
        let queue = PriorityQueue::with_metrics(runtime, limiter, metrics);
        let (runtime, low, parked) = (runtime.clone(), Mutex::default(), Parked::default());
        Self { queue, runtime, low, shard, parked }
    }

    pub(super) fn add(&self, key: ObjectRef, is_low: bool) {
        if self.shard.is_some_and(|shard| !shard.has(&key)) {
            return;
        }
        if !is_low {
            return self.queue.add(key);
        }
        let mut low = self.low();
        low.add(&key, Instant::now());
        self.queue.add_with(key, AddOptions { priority: LOW, ..AddOptions::default() });
        drop(low);
    }

    /// Raises the priority of items that have waited, again and again.
    pub(super) async fn age(&self) {
        loop {
            tokio::time::sleep(PATIENCE / 5).await;
            while self.raise(Instant::now()) {
                tokio::task::yield_now().await;
            }
        }
    }

    /// Raises the priority of items that have waited, longest first; tells whether there may be
    /// more of them.
    fn raise(&self, now: Instant) -> bool {
        let mut low = self.low();
        let waited: Vec<_> = std::iter::from_fn(|| low.waited(now)).take(PART).collect();
        let is_full = waited.len() == PART;
        self.queue.add_all(waited, AddOptions::default());
        drop(low);
        is_full
    }

    /// Keeps a key until its object can be reconciled; see [`parked`](Self::parked).
    pub(super) fn park(&self, key: ObjectRef) {
        self.parked.park(key);
    }

    /// Brings parked keys back when `until_visible` has returned for them.
    pub(super) async fn bring_back<W: Future<Output = ()> + Send + 'static>(
        self: Arc<Self>,
        until_visible: impl Fn(&ObjectRef) -> W + Send + Sync,
    ) {
        let mut waits = JoinSet::new(); // aborted when it drops
        let places = Arc::new(Semaphore::new(WAITS));
        loop {
            let key = self.parked.next().await;
            let Ok(place) = Arc::clone(&places).acquire_owned().await else { return };
            let (queue, visible) = (Arc::clone(&self), until_visible(&key));
            waits.spawn(async move {
                visible.await;
                queue.parked.leave(&key);
                queue.queue.add(key);
                drop(place);
            });
            while waits.try_join_next().is_some() {}
        }
    }

    pub(super) async fn refresh_metrics(&self) {
        self.queue.refresh_metrics_async(seatrial_core::metrics::EVERY).await;
    }

    fn low(&self) -> MutexGuard<'_, Low> {
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
            low.since.remove(&key);
            Poll::Ready(Some((key, token)))
        })
        .await
    }

    /// An item that comes back has been reconciled before, so it has the priority of a change.
    fn settle(&self, token: Token, outcome: Outcome, priority: Option<i32>) {
        if priority == Some(PARKED) {
            self.queue.done(token); // it was not tried: its failures stay as they are
            return;
        }
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
    use seatrial_core::limiter::Exponential;

    use super::*;

    fn queue() -> FairQueue {
        let backoff = Exponential::new(Duration::from_millis(5), Duration::from_secs(1000));
        FairQueue::new(&Tokio::current(), Box::new(backoff), &Metrics::default(), None)
    }

    /// How many items wait with low priority, and how long the line is.
    fn sizes(queue: &FairQueue) -> (usize, usize) {
        let low = queue.low();
        (low.since.len(), low.line.len())
    }

    /// What is looked at each second is what has waited long, not everything that waits.
    #[tokio::test(start_paused = true)]
    async fn items_are_raised_in_the_order_of_their_time_and_in_parts() {
        let queue = queue();
        for number in 0..3_000 {
            queue.add(ObjectRef::new(&format!("old-{number:04}")), true);
        }
        tokio::time::advance(PATIENCE - Duration::from_secs(1)).await;
        queue.add(ObjectRef::new("a-young-one"), true);
        assert!(!queue.raise(Instant::now()), "none has waited long");
        assert_eq!(sizes(&queue), (3_001, 3_001), "they stay in line");
        tokio::time::advance(Duration::from_secs(1)).await;
        let parts: Vec<_> = (0..3).map(|_| queue.raise(Instant::now())).collect();
        assert_eq!(parts, [true, true, false]);
        assert_eq!(sizes(&queue), (1, 1), "the young one");
        let (first, token) = queue.next_async().await.unwrap();
        assert_eq!(first.name, "old-0000");
        queue.release(token);
    }

    /// An item that was handed out and comes again waits anew.
    #[tokio::test(start_paused = true)]
    async fn an_item_that_comes_again_begins_its_wait_anew() {
        let queue = queue();
        queue.add(ObjectRef::new("key"), true);
        let (_, token) = queue.next_async().await.unwrap();
        queue.release(token);
        tokio::time::advance(PATIENCE / 2).await;
        queue.add(ObjectRef::new("key"), true);
        tokio::time::advance(PATIENCE / 2).await;
        assert!(!queue.raise(Instant::now()));
        assert!(queue.low().since.contains_key(&ObjectRef::new("key")), "it waits for half of it");
        tokio::time::advance(PATIENCE / 2).await;
        queue.raise(Instant::now());
        assert_eq!(sizes(&queue), (0, 0));
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
            assert_eq!(queue.low().since.contains_key(&key), waits);
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
