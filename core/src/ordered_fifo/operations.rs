//! The calls on an ordered FIFO. Each step of a call is one critical section.

use std::sync::Arc;

use crate::caught::Remains;
use crate::delta_fifo::{Delta, Verb};
use crate::events::{Close, HasSynced, IsClosed, Len, POPPERS, WaitForSync};
use crate::machine::{Cx, Operation, Step};
use crate::store::{EnqueueError, Keyed};
use crate::store::{Handle, Hashed, Key, KnownObjects, LastState};

use super::state::{OrderedQueue, Popped};
use super::{Batch, Bookmark, Event, Snapshot};

/// Queues a new state of an object.
#[derive(Clone, Debug)]
pub struct Put<O> {
    /// The caller's verb.
    pub verb: Verb,
    /// The object, or why it was refused. In both cases the queue counts as populated
    /// (`cache:RF-6`).
    pub object: Option<Result<O, EnqueueError>>,
}

/// Queues a deletion.
#[derive(Clone, Debug)]
pub struct Delete<K, O> {
    /// The last state of the object, or why it was refused.
    pub last: Option<Result<LastState<K, O>, EnqueueError>>,
}

/// Queues a complete list, object by object.
#[derive(Clone, Debug)]
pub struct Replace<K, O> {
    /// The objects.
    pub objects: Vec<Keyed<K, O>>,
    /// The keys of an object that the transformer refused, and of those after it; afterwards all
    /// keys of the list, to be dropped outside the lock.
    pub behind: Remains<Hashed<K>>,
    /// Why it was refused: only the objects before the failure are queued (`cache:RF-9`).
    pub refused: Option<EnqueueError>,
}

/// Queues a complete list as one event.
#[derive(Clone, Debug)]
pub struct ReplaceAll<O>(pub Arc<Snapshot<O>>);

/// Shows the consumer's objects again.
#[derive(Clone, Debug)]
pub struct Resync;

/// Queues a bookmark, if the queue has bookmark events.
#[derive(Clone, Debug)]
pub struct Mark(pub Arc<Bookmark>);

/// Takes the next event, waiting for one; `None` once the queue is closed and empty. The machine
/// decides whether the lock stays held until [`Processed`] is stepped.
#[derive(Clone, Debug)]
pub struct Pop;

/// As [`Pop`], for as many events as may be processed together.
#[derive(Clone, Debug)]
pub struct PopBatch;

/// Ends the processing of the events that were taken.
#[derive(Clone, Debug)]
pub struct Processed;

/// Reads all events, oldest first.
#[derive(Clone, Debug)]
pub struct List;

crate::operations! {
    [K: Key, O: Handle, N: KnownObjects<K, O>; K: Key, O: Handle] OrderedQueue<K, O, N>: Op, Ret {
        Put(Put<O>) -> Result<(), EnqueueError>,
        Delete(Delete<K, O>) -> Result<(), EnqueueError>,
        Replace(Replace<K, O>) -> Result<(), EnqueueError>,
        ReplaceAll(ReplaceAll<O>) -> (),
        Resync(Resync) -> Result<(), EnqueueError>,
        Mark(Mark) -> (),
        Pop(Pop) -> Option<Popped<K, O>>,
        PopBatch(PopBatch) -> Option<Batch<K, O>>,
        Processed(Processed) -> (),
        Close(Close) -> (),
        IsClosed(IsClosed) -> bool,
        HasSynced(HasSynced) -> bool,
        WaitForSync(WaitForSync) -> bool,
        List(List) -> Vec<Event<K, O>>,
        Len(Len) -> usize,
    } valid = OrderedQueue::check
}

type Queue<K, O, N> = OrderedQueue<K, O, N>;
type Queued = Step<Result<(), EnqueueError>>;

impl<K: Key, O: Handle, N: KnownObjects<K, O>> Operation<Queue<K, O, N>> for Put<O> {
    #[inline(always)]
    fn step(&mut self, queue: &mut Queue<K, O, N>, cx: &mut Cx<'_>) -> Queued {
        queue.populate(&mut cx.wakes);
        Step::Done(match self.object.take() {
            None => Ok(()),
            Some(Err(refused)) => Err(refused),
            Some(Ok(object)) => {
                let change = match self.verb {
                    Verb::Add => Delta::Added(object),
                    Verb::Update => Delta::Updated(object),
                };
                queue.push(change, &mut cx.wakes);
                Ok(())
            }
        })
    }
}

impl<K: Key, O: Handle, N: KnownObjects<K, O>> Operation<Queue<K, O, N>> for Delete<K, O> {
    #[inline]
    fn step(&mut self, queue: &mut Queue<K, O, N>, cx: &mut Cx<'_>) -> Queued {
        queue.populate(&mut cx.wakes);
        Step::Done(match self.last.take() {
            None => Ok(()),
            Some(Err(refused)) => Err(refused),
            Some(Ok(last)) => {
                queue.push(Delta::Deleted(last), &mut cx.wakes);
                Ok(())
            }
        })
    }
}

impl<K: Key, O: Handle, N: KnownObjects<K, O>> Operation<Queue<K, O, N>> for Replace<K, O> {
    fn step(&mut self, queue: &mut Queue<K, O, N>, cx: &mut Cx<'_>) -> Queued {
        queue.replace(std::mem::take(&mut self.objects), &mut self.behind, &mut cx.wakes);
        Step::Done(self.refused.take().map_or(Ok(()), Err))
    }
}

impl<K: Key, O: Handle, N: KnownObjects<K, O>> Operation<Queue<K, O, N>> for ReplaceAll<O> {
    fn step(&mut self, queue: &mut Queue<K, O, N>, cx: &mut Cx<'_>) -> Step<()> {
        queue.push(Event::ReplacedAll(Arc::clone(&self.0)), &mut cx.wakes);
        queue.populate_with_list(&mut cx.wakes);
        Step::Done(())
    }
}

impl<K: Key, O: Handle, N: KnownObjects<K, O>> Operation<Queue<K, O, N>> for Resync {
    fn step(&mut self, queue: &mut Queue<K, O, N>, cx: &mut Cx<'_>) -> Queued {
        Step::Done(queue.resync(&mut cx.wakes))
    }
}

impl<K: Key, O: Handle, N: KnownObjects<K, O>> Operation<Queue<K, O, N>> for Mark {
    fn step(&mut self, queue: &mut Queue<K, O, N>, cx: &mut Cx<'_>) -> Step<()> {
        if queue.emits_bookmarks() {
            queue.push(Event::Bookmark(Arc::clone(&self.0)), &mut cx.wakes);
        }
        Step::Done(())
    }
}

/// Ends a call that has taken something, or makes it wait.
#[inline(always)]
fn taken<K, O, N, T>(queue: &Queue<K, O, N>, found: Option<T>) -> Step<Option<T>>
where
    K: Key,
    O: Handle,
    N: KnownObjects<K, O>,
{
    match found {
        Some(_) if queue.is_unlocked() => Step::Done(found),
        Some(_) => Step::Held(found),
        None if queue.is_closed() && queue.is_empty() => Step::Done(None),
        None => Step::Wait { on: POPPERS, until: None },
    }
}

impl<K: Key, O: Handle, N: KnownObjects<K, O>> Operation<Queue<K, O, N>> for Pop {
    #[inline(always)]
    fn step(&mut self, queue: &mut Queue<K, O, N>, _: &mut Cx<'_>) -> Step<Option<Popped<K, O>>> {
        let found = if queue.is_ready() { queue.pop() } else { None };
        taken(queue, found)
    }
}

impl<K: Key, O: Handle, N: KnownObjects<K, O>> Operation<Queue<K, O, N>> for PopBatch {
    fn step(&mut self, queue: &mut Queue<K, O, N>, _: &mut Cx<'_>) -> Step<Option<Batch<K, O>>> {
        let found = if queue.is_ready() { queue.pop_batch() } else { None };
        taken(queue, found)
    }
}

impl<K: Key, O: Handle, N: KnownObjects<K, O>> Operation<Queue<K, O, N>> for Processed {
    #[inline(always)]
    fn step(&mut self, queue: &mut Queue<K, O, N>, cx: &mut Cx<'_>) -> Step<()> {
        queue.finish(&mut cx.wakes);
        Step::Done(())
    }
}

impl<K: Key, O: Handle, N: KnownObjects<K, O>> Operation<Queue<K, O, N>> for List {
    fn step(&mut self, queue: &mut Queue<K, O, N>, _: &mut Cx<'_>) -> Step<Vec<Event<K, O>>> {
        Step::Done(queue.iter().collect())
    }
}
