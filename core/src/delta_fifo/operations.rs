//! The calls on a DeltaFIFO. Each step of a call is one critical section.

use crate::events::{Close, HasSynced, IsClosed, Len, POPPERS, WaitForSync};
use crate::machine::{Cx, Operation, Step};
use crate::store::{EnqueueError, Keyed};
use crate::store::{Handle, Hashed, Key, KnownObjects, LastState};

use super::state::{DeltaQueue, Left, Popped};
use super::{Delta, Deltas};

/// The verb of a write. The queue does not check it (`cache:DF-8`).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Verb {
    /// The object is new.
    Add,
    /// The object has changed.
    Update,
}

/// Queues a new state of an object.
#[derive(Clone, Debug)]
pub struct Put<K, O> {
    /// The caller's verb.
    pub verb: Verb,
    /// The key; taken out when the queue keeps it. `None` if the object has none.
    pub key: Option<Hashed<K>>,
    /// The object, or why it was refused. In both cases the queue counts as populated
    /// (`cache:QU-19`).
    pub object: Option<Result<O, EnqueueError>>,
}

/// Queues a deletion.
#[derive(Clone, Debug)]
pub struct Delete<K, O> {
    /// The key; taken out when the queue keeps it.
    pub key: Option<Hashed<K>>,
    /// The last state of the object, or why it was refused. Compression may put a dropped change
    /// here.
    pub last: Option<Result<LastState<K, O>, EnqueueError>>,
}

/// Queues a complete list.
#[derive(Clone, Debug)]
pub struct Replace<K, O> {
    /// The objects.
    pub objects: Vec<Keyed<K, O>>,
    /// Why the list ends early: only the objects before the failure are queued (`cache:DF-20`).
    pub refused: Option<EnqueueError>,
    /// Values to drop outside the lock.
    pub left: Left<K, O>,
}

impl<K, O> Replace<K, O> {
    /// Makes the call.
    pub const fn new(objects: Vec<Keyed<K, O>>, refused: Option<EnqueueError>) -> Self {
        Self { objects, refused, left: Left::new() }
    }
}

/// Shows again every known object without pending changes.
#[derive(Clone, Debug)]
pub struct Resync<K, O> {
    /// Values to drop outside the lock.
    pub left: Left<K, O>,
}

impl<K, O> Resync<K, O> {
    /// Makes the call.
    #[must_use]
    pub const fn new() -> Self {
        Self { left: Left::new() }
    }
}

impl<K, O> Default for Resync<K, O> {
    fn default() -> Self {
        Self::new()
    }
}

/// Takes the next entry, waiting for one; `None` once the queue is closed and empty. The lock
/// stays held until [`Processed`] is stepped.
#[derive(Clone, Debug)]
pub struct Pop;

/// Ends the processing of an entry.
#[derive(Clone, Debug)]
pub struct Processed<K, O> {
    /// The entry, if it goes back. Boxed, because that is rare.
    pub requeue: Option<Box<AddIfAbsent<K, O>>>,
}

/// Queues changes unless their key has pending ones.
#[derive(Clone, Debug)]
pub struct AddIfAbsent<K, O> {
    /// The key; taken out when the queue keeps it.
    pub key: Option<Hashed<K>>,
    /// The changes.
    pub deltas: Deltas<K, O>,
}

/// Reads the pending changes of one object.
#[derive(Clone, Debug)]
pub struct Get<K>(pub Hashed<K>);

/// Reads all pending changes, in the order of delivery.
#[derive(Clone, Debug)]
pub struct List;

crate::operations! {
    [K: Key, O: Handle, N: KnownObjects<K, O>; K: Key, O: Handle] DeltaQueue<K, O, N>: Op, Ret {
        Put(Put<K, O>) -> Result<(), EnqueueError>,
        Delete(Delete<K, O>) -> Result<(), EnqueueError>,
        Replace(Replace<K, O>) -> Result<(), EnqueueError>,
        Resync(Resync<K, O>) -> (),
        Pop(Pop) -> Option<Popped<K, O>>,
        Processed(Processed<K, O>) -> (),
        AddIfAbsent(AddIfAbsent<K, O>) -> (),
        Close(Close) -> (),
        IsClosed(IsClosed) -> bool,
        HasSynced(HasSynced) -> bool,
        WaitForSync(WaitForSync) -> bool,
        Get(Get<K>) -> Option<Deltas<K, O>>,
        List(List) -> Vec<(K, Deltas<K, O>)>,
        Len(Len) -> usize,
    } valid = DeltaQueue::check
}

type Queue<K, O, N> = DeltaQueue<K, O, N>;

impl<K: Key, O: Handle, N: KnownObjects<K, O>> Operation<Queue<K, O, N>> for Put<K, O> {
    #[inline(always)]
    fn step(
        &mut self,
        queue: &mut Queue<K, O, N>,
        cx: &mut Cx<'_>,
    ) -> Step<Result<(), EnqueueError>> {
        queue.populate(&mut cx.wakes);
        Step::Done(match self.object.take() {
            None => Ok(()),
            Some(Err(refused)) => Err(refused),
            Some(Ok(object)) => {
                let delta = match self.verb {
                    Verb::Add => Delta::Added(object),
                    Verb::Update => Delta::Updated(object),
                };
                let dropped = queue.enqueue(&mut self.key, delta, &mut cx.wakes);
                debug_assert!(dropped.is_none(), "only deletions are compressed");
                Ok(())
            }
        })
    }
}

impl<K: Key, O: Handle, N: KnownObjects<K, O>> Operation<Queue<K, O, N>> for Delete<K, O> {
    #[inline]
    fn step(
        &mut self,
        queue: &mut Queue<K, O, N>,
        cx: &mut Cx<'_>,
    ) -> Step<Result<(), EnqueueError>> {
        let matters = self.key.as_ref().is_some_and(|key| queue.may_exist(key));
        queue.populate(&mut cx.wakes); // also if nothing is queued (DF-10)
        if !matters {
            return Step::Done(Ok(()));
        }
        Step::Done(match self.last.take() {
            None => Ok(()),
            Some(Err(refused)) => Err(refused),
            Some(Ok(last)) => {
                let dropped = queue.enqueue(&mut self.key, Delta::Deleted(last), &mut cx.wakes);
                // Stored here, it drops after the lock is released.
                self.last = dropped.and_then(|delta| match delta {
                    Delta::Deleted(last) => Some(Ok(last)),
                    _ => None,
                });
                Ok(())
            }
        })
    }
}

impl<K: Key, O: Handle, N: KnownObjects<K, O>> Operation<Queue<K, O, N>> for Replace<K, O> {
    fn step(
        &mut self,
        queue: &mut Queue<K, O, N>,
        cx: &mut Cx<'_>,
    ) -> Step<Result<(), EnqueueError>> {
        let objects = std::mem::take(&mut self.objects);
        Step::Done(match self.refused.take() {
            None => {
                queue.replace(objects, &mut self.left, &mut cx.wakes);
                Ok(())
            }
            Some(refused) => {
                queue.enqueue_listed(objects, &mut self.left, &mut cx.wakes);
                Err(refused)
            }
        })
    }
}

impl<K: Key, O: Handle, N: KnownObjects<K, O>> Operation<Queue<K, O, N>> for Resync<K, O> {
    fn step(&mut self, queue: &mut Queue<K, O, N>, cx: &mut Cx<'_>) -> Step<()> {
        queue.resync(&mut self.left, &mut cx.wakes);
        Step::Done(())
    }
}

impl<K: Key, O: Handle, N: KnownObjects<K, O>> Operation<Queue<K, O, N>> for Pop {
    #[inline(always)]
    fn step(&mut self, queue: &mut Queue<K, O, N>, _: &mut Cx<'_>) -> Step<Option<Popped<K, O>>> {
        match queue.pop() {
            Some(popped) => Step::Held(Some(popped)),
            None if queue.is_closed() => Step::Done(None),
            None => Step::Wait { on: POPPERS, until: None },
        }
    }
}

impl<K: Key, O: Handle, N: KnownObjects<K, O>> Operation<Queue<K, O, N>> for Processed<K, O> {
    #[inline(always)]
    fn step(&mut self, queue: &mut Queue<K, O, N>, cx: &mut Cx<'_>) -> Step<()> {
        if let Some(AddIfAbsent { key, deltas }) = self.requeue.as_deref_mut() {
            queue.add_if_absent(key, deltas, &mut cx.wakes);
        }
        queue.finish(&mut cx.wakes);
        Step::Done(())
    }
}

impl<K: Key, O: Handle, N: KnownObjects<K, O>> Operation<Queue<K, O, N>> for AddIfAbsent<K, O> {
    fn step(&mut self, queue: &mut Queue<K, O, N>, cx: &mut Cx<'_>) -> Step<()> {
        queue.add_if_absent(&mut self.key, &mut self.deltas, &mut cx.wakes);
        Step::Done(())
    }
}

impl<K: Key, O: Handle, N: KnownObjects<K, O>> Operation<Queue<K, O, N>> for Get<K> {
    fn step(&mut self, queue: &mut Queue<K, O, N>, _: &mut Cx<'_>) -> Step<Option<Deltas<K, O>>> {
        Step::Done(queue.get(&self.0).cloned())
    }
}

impl<K: Key, O: Handle, N: KnownObjects<K, O>> Operation<Queue<K, O, N>> for List {
    fn step(&mut self, queue: &mut Queue<K, O, N>, _: &mut Cx<'_>) -> Step<Vec<(K, Deltas<K, O>)>> {
        Step::Done(queue.iter().map(|(key, deltas)| (key.clone(), deltas.clone())).collect())
    }
}
