//! A queue of objects, the store of its consumer, and the threads around them.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use seatrial_core::fifo::{Closed, Queue};
use seatrial_core::runtime::Runtime;
use seatrial_core::store::LastState;

use super::{Object, Store};
use crate::trial::{Component, World};

/// The note of a thread that was woken by the first list: how many of its objects the consumer's
/// store misses.
pub(crate) const MISSED: &str = "misses";

/// The note of a consumer that panics while it processes.
pub(crate) const PANICS: &str = "panics";

/// What every scenario on a queue of objects needs.
pub(crate) struct Stage<R: Runtime, C: Component, Q: Queue<u8, Object>> {
    pub(crate) world: World<R, C>,
    pub(crate) queue: Arc<Q>,
    pub(crate) store: Store<u8, Object>,
    /// What a consumer does with what it pops.
    consume: fn(&Store<u8, Object>, &Q::Popped),
}

impl<R: Runtime, C: Component, Q: Queue<u8, Object>> Clone for Stage<R, C, Q> {
    fn clone(&self) -> Self {
        let Self { world, queue, store, consume } = self;
        Self {
            world: world.clone(),
            queue: Arc::clone(queue),
            store: store.clone(),
            consume: *consume,
        }
    }
}

impl<R: Runtime, C: Component, Q: Queue<u8, Object>> Stage<R, C, Q> {
    pub(crate) fn around(
        world: &World<R, C>,
        queue: Q,
        store: Store<u8, Object>,
        consume: fn(&Store<u8, Object>, &Q::Popped),
    ) -> Self {
        Self { world: world.clone(), queue: Arc::new(queue), store, consume }
    }

    /// Runs a few calls on a thread of their own.
    pub(crate) fn on(&self, name: &str, calls: impl FnOnce(&Self) + Send + 'static) -> R::Join<()> {
        let stage = self.clone();
        self.world.spawn(name, move || calls(&stage))
    }

    /// A thread that pops until the queue is closed and empty.
    pub(crate) fn consumer(&self, name: &str) -> R::Join<()> {
        self.on(name, |stage| while stage.pop().is_ok() {})
    }

    /// A task that pops until the queue is closed and empty.
    pub(crate) fn task(&self, name: &str) -> R::Join<()> {
        self.on(name, |stage| {
            let popping = async { while stage.pop_async().await.is_ok() {} };
            stage.world.runtime().block_on(popping);
        })
    }

    /// A task that pops once, and gives up if it would have to wait.
    pub(crate) fn giving_up(&self, name: &str) -> R::Join<()> {
        self.on(name, |stage| {
            let _given_up = stage.world.at_once(stage.pop_async());
        })
    }

    /// A task that waits until the first list is processed.
    pub(crate) fn waiting_task(&self, name: &str) -> R::Join<()> {
        self.on(name, |stage| {
            let _synced = stage.world.runtime().block_on(stage.queue.wait_for_sync_async());
        })
    }

    /// A thread that pops once.
    pub(crate) fn popper(&self, name: &str) -> R::Join<()> {
        self.on(name, |stage| {
            let _closed = stage.pop();
        })
    }

    /// A thread that asks a few times whether the first list is processed.
    pub(crate) fn observer(&self, times: u32) -> R::Join<()> {
        self.on("observer", move |stage| {
            for _ in 0..times {
                let _says = stage.queue.has_synced();
            }
        })
    }

    /// A thread that waits until the first list is processed.
    pub(crate) fn waiter(&self, name: &str) -> R::Join<()> {
        self.on(name, |stage| {
            let _synced = stage.queue.wait_for_sync();
        })
    }

    /// A thread that waits until the first list is processed, and then counts the objects that the
    /// consumer's store misses (`cache:SC-9`).
    pub(crate) fn reader_of_the_first_list(&self, name: &str, objects: u64) -> R::Join<()> {
        self.on(name, move |stage| {
            if stage.queue.wait_for_sync() {
                let stored = stage.store.objects().len() as u64;
                stage.world.note(MISSED, objects.saturating_sub(stored));
            }
        })
    }

    /// A thread that pops once, and fails to process what it gets.
    pub(crate) fn failing(&self) -> R::Join<()>
    where
        Q::Popped: Clone + PartialEq + std::fmt::Debug,
    {
        self.on("failing", |stage| {
            let mut seen = None;
            let popped = stage.queue.pop(|popped| {
                seen = Some(popped.clone());
                "out of disk"
            });
            let (popped, result) = popped.expect("something waits");
            assert_eq!((Some(popped), result), (seen, "out of disk"), "what process saw and said");
        })
    }

    /// A thread that pops once, says so, and panics.
    pub(crate) fn panicking(&self) -> R::Join<()> {
        self.on("panicking", |stage| {
            let process = |_: &_| -> () {
                stage.world.note(PANICS, 1);
                panic!("the consumer fails");
            };
            drop(catch_unwind(AssertUnwindSafe(|| stage.queue.pop(process))));
        })
    }

    /// Pops once, as a consumer that does its work.
    pub(crate) fn pop(&self) -> Result<(), Closed> {
        self.queue.pop(|popped| (self.consume)(&self.store, popped)).map(drop)
    }

    /// As [`pop`](Self::pop), for tasks.
    pub(crate) async fn pop_async(&self) -> Result<(), Closed> {
        self.queue.pop_async(|popped| (self.consume)(&self.store, popped)).await.map(drop)
    }

    pub(crate) fn add(&self, object: Object) {
        self.queue.add(object).expect("the object has a key");
    }

    pub(crate) fn update(&self, object: Object) {
        self.queue.update(object).expect("the object has a key");
    }

    pub(crate) fn delete(&self, object: Object) {
        self.queue.delete(LastState::Final(object)).expect("the object has a key");
    }

    /// Deletes an object whose deletion was missed, as the writer saw it last.
    pub(crate) fn delete_unseen(&self, key: u8, object: Option<Object>) {
        self.queue.delete(LastState::unknown(key, object)).expect("a tombstone has a key");
    }

    pub(crate) fn list(&self, objects: &[Object]) {
        self.queue.replace(objects.to_vec(), "").expect("every object has a key");
    }

    /// Hands in a list whose last object is refused.
    pub(crate) fn list_in_vain(&self, objects: &[Object]) {
        let mut objects = objects.to_vec();
        objects.push((0, 1));
        assert!(self.queue.replace(objects, "").is_err(), "key 0 is none");
    }

    /// A task and a thread wait, each for one of two objects, and another task for the first list.
    pub(crate) fn task_and_thread(&self) {
        let poppers = [self.consumer("thread"), self.task("task")];
        let synced = self.waiting_task("synced");
        self.list(&[(1, 1), (2, 1)]);
        self.end(poppers);
        self.join([synced]);
    }

    /// A task gives up its pop while an object comes and a thread waits.
    pub(crate) fn dropped_popper(&self) {
        let task = self.giving_up("task");
        let thread = self.consumer("thread");
        let producer = self.on("producer", |stage| stage.add((1, 1)));
        self.join([producer, task]);
        self.end([thread]);
    }

    /// Waits until nobody moves, closes the queue and joins everybody.
    pub(crate) fn end(&self, threads: impl IntoIterator<Item = R::Join<()>>) {
        self.world.quiesce();
        self.queue.close();
        self.join(threads);
    }

    pub(crate) fn join(&self, threads: impl IntoIterator<Item = R::Join<()>>) {
        threads.into_iter().for_each(|thread| self.world.join(thread));
    }
}
