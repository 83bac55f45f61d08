//! The queues that workers of a pool can take items from.

use std::fmt;
use std::hash::Hash;
use std::time::Duration;

use crate::cancel::CancelToken;
use crate::limited_queue::{LimitedQueue, Outcome};
use crate::limiter::Limiter;
use crate::priority_queue::{Observer, PriorityQueue};
use crate::queue::{Key, Storage, Token};
use crate::runtime::Runtime;

/// A queue whose deliveries end with an [`Outcome`].
///
/// It hands an item to one worker at a time, tries failed items again, later each time, and can be
/// shut down (`workqueue:CL-1`, `CL-5`).
pub trait Source: Send + Sync + 'static {
    /// The type of item.
    type Key: fmt::Debug + Send + Sync + 'static;
    /// The type that names a delivery which has not ended.
    type Delivery: Copy + Send + Sync + 'static;

    /// Takes the next item, sleeping until there is one; `None` once there will be none.
    fn next(&self) -> Option<(Self::Key, Self::Delivery)>;

    /// As [`next`](Self::next), for tasks. Dropping the future stops the wait.
    fn next_async(&self) -> impl Future<Output = Option<(Self::Key, Self::Delivery)>> + Send;

    /// Does what the outcome asks for and ends the delivery. An item that comes back gets
    /// `priority`, or the priority that it was handed out with if there is none. A queue without
    /// priorities ignores it.
    fn settle(&self, delivery: Self::Delivery, outcome: Outcome, priority: Option<i32>);

    /// Counts the failures of an item since they were last forgotten.
    fn failures(&self, key: &Self::Key) -> u32;

    /// Waits for some time, by the queue's clock. A worker does so after the queue has panicked.
    fn rest(&self, time: Duration) -> impl Future<Output = ()> + Send;

    /// Ends the delivery: the item is neither tried again nor forgotten.
    fn release(&self, delivery: Self::Delivery);

    /// Refuses new items, drops those whose time has not come, and wakes everybody who waits.
    fn shut_down(&self);

    /// Counts the items that could be handed out now.
    fn waiting(&self) -> usize;
}

async fn sleep<R: Runtime>(runtime: &R, time: Duration) {
    CancelToken::with_deadline(runtime, runtime.now() + time).wait_async().await;
}

impl<K, R, L, S> Source for LimitedQueue<K, R, L, S>
where
    K: Key + Hash + Sync,
    R: Runtime,
    L: Limiter<K>,
    S: Storage<K>,
{
    type Key = K;
    type Delivery = Token;

    fn next(&self) -> Option<(K, Token)> {
        self.take().map(|(token, key)| (key, token))
    }

    async fn next_async(&self) -> Option<(K, Token)> {
        self.take_async().await.map(|(token, key)| (key, token))
    }

    fn settle(&self, token: Token, outcome: Outcome, _: Option<i32>) {
        Self::settle(self, token, outcome);
    }

    fn failures(&self, key: &K) -> u32 {
        self.num_requeues(key)
    }

    fn rest(&self, time: Duration) -> impl Future<Output = ()> + Send {
        sleep(self.runtime(), time)
    }

    fn release(&self, token: Token) {
        self.done(token);
    }

    fn shut_down(&self) {
        Self::shut_down(self);
    }

    fn waiting(&self) -> usize {
        self.len()
    }
}

/// An item that comes back keeps the priority that it was handed out with, unless it is given
/// another (`workqueue:PQ-42`).
impl<K, R, L, O> Source for PriorityQueue<K, R, L, O>
where
    K: Key + Hash + Sync,
    R: Runtime,
    L: Limiter<K>,
    O: Observer,
{
    type Key = K;
    type Delivery = (Token, i32);

    fn next(&self) -> Option<(K, (Token, i32))> {
        self.take_with_priority().map(|(token, key, priority)| (key, (token, priority)))
    }

    async fn next_async(&self) -> Option<(K, (Token, i32))> {
        self.take_async().await.map(|(token, key, priority)| (key, (token, priority)))
    }

    fn settle(&self, (token, taken): (Token, i32), outcome: Outcome, priority: Option<i32>) {
        Self::settle(self, token, outcome, priority.unwrap_or(taken));
    }

    fn failures(&self, key: &K) -> u32 {
        self.num_requeues(key)
    }

    fn rest(&self, time: Duration) -> impl Future<Output = ()> + Send {
        sleep(self.runtime(), time)
    }

    fn release(&self, (token, _): (Token, i32)) {
        self.done(token);
    }

    fn shut_down(&self) {
        Self::shut_down(self);
    }

    fn waiting(&self) -> usize {
        self.len()
    }
}
