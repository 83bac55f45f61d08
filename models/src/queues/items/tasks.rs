//! Scenarios with tasks whose executors are busy, for every queue on which items become due.

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use seatrial_core::runtime::Runtime;

use super::{Delayed, caller, end, millis, sleep, worker};
use crate::engine::Engine;
use crate::trial::{Component, World};

/// A queue of items for tasks.
pub(crate) trait Awaited: Delayed {
    /// Takes an item and says done; false once the queue is shut down and empty.
    fn work_async(&self) -> impl Future<Output = bool> + Send;

    /// Adds an item at once.
    fn add(&self, item: u8);
}

/// A task is woken for an earlier time, its executor runs it when items are long due, and a thread
/// sleeps beside it.
pub(crate) fn busy_executor<R: Runtime, C: Component>(
    world: &World<R, C>,
    queue: &Arc<impl Awaited>,
) {
    let busy = world.clone();
    let task = caller(world, "task", queue, move |queue| {
        let mut work = pin!(queue.work_async());
        if busy.at_once(work.as_mut()).is_none() {
            sleep(&busy, millis(20));
            busy.runtime().block_on(work);
        }
    });
    let thread = worker(world, "thread", queue, Duration::ZERO);
    sleep(world, millis(1));
    queue.add_after(1, millis(4));
    queue.add_after(2, millis(9));
    end(world, queue, [task, thread]);
}

/// So long that the scenario is over: a lost wake-up must show before.
const HOURS: Duration = Duration::from_secs(2 * 3_600);

/// Refuses real threads to [`busy_holder`].
pub(crate) fn no_real_hours(engine: Engine) -> Option<&'static str> {
    (engine == Engine::Threads).then_some("it sleeps for hours")
}

/// Of three tasks two have busy executors: the one that holds the timer, and the one that is woken
/// for an item. That one comes back when another item is due, and takes its own. The third task is
/// free, and must learn of the other.
pub(crate) fn busy_holder<R: Runtime, C: Component>(
    world: &World<R, C>,
    queue: &Arc<impl Awaited>,
) {
    let busy = world.clone();
    let holder = caller(world, "holder", queue, move |queue| {
        let mut work = pin!(queue.work_async());
        if busy.at_once(work.as_mut()).is_none() {
            sleep(&busy, millis(4));
            let _still_nothing = busy.at_once(work.as_mut()); // learns of the time, at 4 ms
            sleep(&busy, HOURS);
        }
    });
    let busy = world.clone();
    let woken = caller(world, "woken", queue, move |queue| {
        sleep(&busy, millis(1));
        let mut work = pin!(queue.work_async());
        if busy.at_once(work.as_mut()).is_none() {
            sleep(&busy, millis(6));
            busy.runtime().block_on(work); // as the time comes, at 7 ms
        }
    });
    let other = world.clone();
    let free = caller(world, "free", queue, move |queue| {
        sleep(&other, millis(2));
        other.runtime().block_on(async { while queue.work_async().await {} });
    });
    sleep(world, millis(3));
    queue.add_after(2, millis(4));
    sleep(world, millis(2));
    queue.add(3);
    end(world, queue, [holder, woken, free]);
}
