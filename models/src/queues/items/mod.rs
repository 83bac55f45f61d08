//! What scenarios on queues of items share: threads that take items, and threads that add them.

pub(crate) mod batches;
pub(crate) mod listener;
pub(crate) mod tasks;

use std::collections::hash_map::DefaultHasher;
use std::hash::BuildHasherDefault;
use std::sync::Arc;
use std::time::Duration;

use seatrial_core::runtime::Runtime;

use crate::trial::{Component, History, World};

/// The hasher that every execution computes alike.
pub(crate) type FixedHasher = BuildHasherDefault<DefaultHasher>;

/// A queue of items that consumers take and say done.
pub(crate) trait Worked: Send + Sync + 'static {
    /// Takes an item, works on it, and says done; false once the queue is shut down and empty.
    fn work_once(&self, work: impl FnOnce()) -> bool;

    /// Lets consumers go.
    fn shut_down(&self);
}

/// As [`Worked`], with items that come later.
pub(crate) trait Delayed: Worked {
    /// Adds an item after a while.
    fn add_after(&self, item: u8, delay: Duration);
}

pub(crate) const fn millis(count: u64) -> Duration {
    Duration::from_millis(count)
}

pub(crate) fn sleep<R: Runtime, C: Component>(world: &World<R, C>, time: Duration) {
    let runtime = world.runtime();
    runtime.sleep_until(runtime.now() + time);
}

/// A consumer that works until the queue is shut down and empty, so long on each item.
pub(crate) fn worker<R: Runtime, C: Component>(
    world: &World<R, C>,
    name: &str,
    queue: &Arc<impl Worked>,
    work: Duration,
) -> R::Join<()> {
    let (queue, world_of_worker) = (Arc::clone(queue), world.clone());
    let work = move || {
        if !work.is_zero() {
            sleep(&world_of_worker, work);
        }
    };
    world.spawn(name, move || while queue.work_once(&work) {})
}

/// A consumer that takes one item, and is done.
pub(crate) fn once<R: Runtime, C: Component>(
    world: &World<R, C>,
    name: &str,
    queue: &Arc<impl Worked>,
) -> R::Join<()> {
    let queue = Arc::clone(queue);
    world.spawn(name, move || _ = queue.work_once(|| ()))
}

/// Runs a few calls on a thread of their own.
pub(crate) fn caller<R: Runtime, C: Component, Q: Send + Sync + 'static>(
    world: &World<R, C>,
    name: &str,
    queue: &Arc<Q>,
    calls: impl FnOnce(&Arc<Q>) + Send + 'static,
) -> R::Join<()> {
    let queue = Arc::clone(queue);
    world.spawn(name, move || calls(&queue))
}

/// Waits until nobody moves, shuts the queue down and joins everybody.
pub(crate) fn end<R: Runtime, C: Component>(
    world: &World<R, C>,
    queue: &Arc<impl Worked>,
    threads: impl IntoIterator<Item = R::Join<()>>,
) {
    world.quiesce();
    queue.shut_down();
    threads.into_iter().for_each(|thread| world.join(thread));
}

/// Two slow consumers sleep until a time, and two earlier ones are given: the consumer that is told of the
/// new earliest time may be off with another item when the next one comes.
pub(crate) fn earlier_time<R: Runtime, C: Component>(
    world: &World<R, C>,
    queue: &Arc<impl Delayed>,
) {
    queue.add_after(1, millis(50));
    let consumers = ["first", "second"].map(|name| worker(world, name, queue, millis(8)));
    queue.add_after(2, millis(3));
    queue.add_after(3, millis(5));
    end(world, queue, consumers);
}

/// Three consumers sleep until the time of three items, and take one each: the first to look finds
/// all of them due, and the others sleep without a timer.
pub(crate) fn three_due<R: Runtime, C: Component>(world: &World<R, C>, queue: &Arc<impl Delayed>) {
    for item in 1..=3 {
        queue.add_after(item, millis(3));
    }
    let consumers = ["first", "second", "third"].map(|name| once(world, name, queue));
    end(world, queue, consumers);
}

/// Tells whether some thread calls between two calls of another.
pub(crate) fn in_turns<Op, Ret>(history: &History<Op, Ret>) -> bool {
    let threads: Vec<u8> = history.events.iter().map(|event| event.thread).collect();
    let mut turns = threads.windows(3);
    turns.any(|three| three[0] == three[2] && three[0] != three[1])
}
