//! The calls on a FIFO. Each step of a call is one critical section.

use crate::caught::Remains;
use crate::events::{Close, HasSynced, IsClosed, Len, POPPERS, WaitForSync};
use crate::machine::{Cx, Operation, Step};
use crate::store::{Handle, Hashed, Key, Keyed};

use super::state::{FifoQueue, Popped};

/// Stores the newest state of an object.
#[derive(Clone, Debug)]
pub struct Put<K, O> {
    /// The key; taken out when the queue keeps it.
    pub key: Option<Hashed<K>>,
    /// The object; afterwards the one that it replaced.
    pub object: Option<O>,
}

/// Removes an object.
#[derive(Clone, Debug)]
pub struct Delete<K>(pub Hashed<K>);

/// Replaces the content by a list; afterwards it holds the old objects, and those of the list that
/// a later one with the same key replaced.
#[derive(Clone, Debug)]
pub struct Replace<K, O>(pub Remains<Keyed<K, O>>);

/// Would queue every object that is not queued. There are none, because no call leaves one behind
/// (`cache:FF-11`).
#[derive(Clone, Debug)]
pub struct Resync;

/// Takes the next object, waiting for one; `None` once the queue is closed and empty. The lock
/// stays held until [`Processed`] is stepped.
#[derive(Clone, Debug)]
pub struct Pop<K> {
    /// The keys of stale places that it has skipped, to drop outside the lock.
    pub stale: Remains<K>,
}

impl<K> Pop<K> {
    /// Makes the call.
    #[must_use]
    pub const fn new() -> Self {
        Self { stale: Remains::new() }
    }
}

impl<K> Default for Pop<K> {
    fn default() -> Self {
        Self::new()
    }
}

/// Ends the processing of an object.
#[derive(Clone, Debug)]
pub struct Processed<K, O> {
    /// The object, if it goes back. Boxed, because that is rare.
    pub requeue: Option<Box<AddIfAbsent<K, O>>>,
}

/// Stores an object unless its key has one.
#[derive(Clone, Debug)]
pub struct AddIfAbsent<K, O> {
    /// The key; taken out when the queue keeps it.
    pub key: Option<Hashed<K>>,
    /// The object; taken out when the queue keeps it.
    pub object: Option<O>,
}

/// Reads one object.
#[derive(Clone, Debug)]
pub struct Get<K>(pub Hashed<K>);

/// Reads all objects, in the order of delivery.
#[derive(Clone, Debug)]
pub struct List;

crate::operations! {
    [K: Key, O: Handle] FifoQueue<K, O>: Op, Ret {
        Put(Put<K, O>) -> (),
        Delete(Delete<K>) -> Option<O>,
        Replace(Replace<K, O>) -> (),
        Resync(Resync) -> (),
        Pop(Pop<K>) -> Option<Popped<K, O>>,
        Processed(Processed<K, O>) -> (),
        AddIfAbsent(AddIfAbsent<K, O>) -> (),
        Close(Close) -> (),
        IsClosed(IsClosed) -> bool,
        HasSynced(HasSynced) -> bool,
        WaitForSync(WaitForSync) -> bool,
        Get(Get<K>) -> Option<O>,
        List(List) -> Vec<(K, O)>,
        Len(Len) -> usize,
    } valid = FifoQueue::check
}

impl<K: Key, O: Handle> Operation<FifoQueue<K, O>> for Put<K, O> {
    fn step(&mut self, queue: &mut FifoQueue<K, O>, cx: &mut Cx<'_>) -> Step<()> {
        queue.populate(&mut cx.wakes);
        if let Some(object) = self.object.take() {
            self.object = queue.put(&mut self.key, object, &mut cx.wakes);
        }
        Step::Done(())
    }
}

/// Returns the object that was removed, so that it drops outside the lock.
impl<K: Key, O: Handle> Operation<FifoQueue<K, O>> for Delete<K> {
    fn step(&mut self, queue: &mut FifoQueue<K, O>, cx: &mut Cx<'_>) -> Step<Option<O>> {
        queue.populate(&mut cx.wakes);
        Step::Done(queue.delete(&self.0, &mut cx.wakes))
    }
}

impl<K: Key, O: Handle> Operation<FifoQueue<K, O>> for Replace<K, O> {
    fn step(&mut self, queue: &mut FifoQueue<K, O>, cx: &mut Cx<'_>) -> Step<()> {
        *self.0 = queue.replace(std::mem::take(&mut *self.0), &mut cx.wakes);
        Step::Done(())
    }
}

impl<K: Key, O: Handle> Operation<FifoQueue<K, O>> for Resync {
    fn step(&mut self, _: &mut FifoQueue<K, O>, _: &mut Cx<'_>) -> Step<()> {
        Step::Done(())
    }
}

impl<K: Key, O: Handle> Operation<FifoQueue<K, O>> for Pop<K> {
    fn step(&mut self, queue: &mut FifoQueue<K, O>, cx: &mut Cx<'_>) -> Step<Option<Popped<K, O>>> {
        match queue.pop(&mut self.stale, cx) {
            Some(popped) => Step::Held(Some(popped)),
            None if queue.has_places() => Step::again(POPPERS),
            None if queue.is_closed() => Step::Done(None),
            None => Step::Wait { on: POPPERS, until: None },
        }
    }
}

impl<K: Key, O: Handle> Operation<FifoQueue<K, O>> for Processed<K, O> {
    fn step(&mut self, queue: &mut FifoQueue<K, O>, cx: &mut Cx<'_>) -> Step<()> {
        if let Some(AddIfAbsent { key, object }) = self.requeue.as_deref_mut() {
            queue.add_if_absent(key, object, &mut cx.wakes);
        }
        queue.finish(&mut cx.wakes);
        Step::Done(())
    }
}

impl<K: Key, O: Handle> Operation<FifoQueue<K, O>> for AddIfAbsent<K, O> {
    fn step(&mut self, queue: &mut FifoQueue<K, O>, cx: &mut Cx<'_>) -> Step<()> {
        queue.add_if_absent(&mut self.key, &mut self.object, &mut cx.wakes);
        Step::Done(())
    }
}

impl<K: Key, O: Handle> Operation<FifoQueue<K, O>> for Get<K> {
    fn step(&mut self, queue: &mut FifoQueue<K, O>, _: &mut Cx<'_>) -> Step<Option<O>> {
        Step::Done(queue.get(&self.0).cloned())
    }
}

impl<K: Key, O: Handle> Operation<FifoQueue<K, O>> for List {
    fn step(&mut self, queue: &mut FifoQueue<K, O>, _: &mut Cx<'_>) -> Step<Vec<(K, O)>> {
        Step::Done(queue.iter().map(|(key, object)| (key.clone(), object.clone())).collect())
    }
}
