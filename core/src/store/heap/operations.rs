//! The calls on a keyed heap, each one critical section per step.

use crate::caught::Remains;
use crate::machine::{Cx, Operation, Step};
use crate::store::Keyed;
use crate::store::{Handle, Hashed, Key, KeyError};

use super::HeapError;
use super::state::{HeapQueue, POPPERS};

/// Adds an object; it replaces the one with the same key.
#[derive(Clone, Debug)]
pub struct Put<K, O> {
    /// The key; taken out when the heap keeps it.
    pub key: Option<Hashed<K>>,
    /// The object; afterwards the one that it replaced.
    pub object: Option<O>,
}

/// Adds an object unless there is one with the same key.
#[derive(Clone, Debug)]
pub struct AddIfAbsent<K, O> {
    /// The key; taken out when the heap keeps it.
    pub key: Option<Hashed<K>>,
    /// The object; taken out when the heap keeps it.
    pub object: Option<O>,
}

/// Adds objects.
#[derive(Clone, Debug)]
pub struct BulkAdd<K, O> {
    /// The objects before the first one without a key; afterwards those that they replaced.
    pub objects: Remains<Keyed<K, O>>,
    /// Why that one has no key.
    pub refused: Option<KeyError>,
}

/// Takes an object out by its key.
#[derive(Clone, Debug)]
pub struct Delete<K>(pub Hashed<K>);

/// Takes the least object, waiting for one; `None` once the heap is closed and empty.
#[derive(Clone, Debug)]
pub struct Pop;

/// Reads the object with a key.
#[derive(Clone, Debug)]
pub struct Get<K>(pub Hashed<K>);

/// Reads everything.
#[derive(Clone, Debug)]
pub struct List;

/// Counts the objects.
#[derive(Clone, Debug)]
pub struct Len;

/// Refuses new objects.
#[derive(Clone, Debug)]
pub struct Close;

/// Asks whether the heap is closed.
#[derive(Clone, Debug)]
pub struct IsClosed;

crate::operations! {
    [K: Key, O: Handle] HeapQueue<K, O>: Op, Ret {
        Put(Put<K, O>) -> Result<(), HeapError>,
        AddIfAbsent(AddIfAbsent<K, O>) -> Result<(), HeapError>,
        BulkAdd(BulkAdd<K, O>) -> Result<(), HeapError>,
        Delete(Delete<K>) -> Option<(K, O)>,
        Pop(Pop) -> Option<(K, O)>,
        Get(Get<K>) -> Option<O>,
        List(List) -> Vec<(K, O)>,
        Len(Len) -> usize,
        Close(Close) -> (),
        IsClosed(IsClosed) -> bool,
    } valid = HeapQueue::check
}

type Added = Step<Result<(), HeapError>>;

impl<K: Key, O: Handle> Operation<HeapQueue<K, O>> for Put<K, O> {
    fn step(&mut self, heap: &mut HeapQueue<K, O>, cx: &mut Cx<'_>) -> Added {
        if heap.is_closed() {
            return Step::Done(Err(HeapError::Closed));
        }
        if let Some(object) = self.object.take() {
            self.object = heap.put(&mut self.key, object, &mut cx.wakes);
        }
        Step::Done(Ok(()))
    }
}

impl<K: Key, O: Handle> Operation<HeapQueue<K, O>> for AddIfAbsent<K, O> {
    fn step(&mut self, heap: &mut HeapQueue<K, O>, cx: &mut Cx<'_>) -> Added {
        if heap.is_closed() {
            return Step::Done(Err(HeapError::Closed));
        }
        let absent = self.key.as_ref().is_some_and(|key| heap.get(key).is_none());
        if absent && let Some(object) = self.object.take() {
            heap.put(&mut self.key, object, &mut cx.wakes);
        }
        Step::Done(Ok(()))
    }
}

impl<K: Key, O: Handle> Operation<HeapQueue<K, O>> for BulkAdd<K, O> {
    fn step(&mut self, heap: &mut HeapQueue<K, O>, cx: &mut Cx<'_>) -> Added {
        if heap.is_closed() {
            return Step::Done(Err(HeapError::Closed));
        }
        for Keyed { key, object } in std::mem::take(&mut *self.objects) {
            let mut key = Some(key);
            let before = heap.put(&mut key, object, &mut cx.wakes);
            self.objects.extend(key.zip(before).map(|(key, object)| Keyed { key, object }));
        }
        Step::Done(self.refused.take().map_or(Ok(()), |error| Err(HeapError::Key(error))))
    }
}

impl<K: Key, O: Handle> Operation<HeapQueue<K, O>> for Delete<K> {
    fn step(&mut self, heap: &mut HeapQueue<K, O>, _: &mut Cx<'_>) -> Step<Option<(K, O)>> {
        Step::Done(heap.delete(&self.0))
    }
}

impl<K: Key, O: Handle> Operation<HeapQueue<K, O>> for Pop {
    fn step(&mut self, heap: &mut HeapQueue<K, O>, _: &mut Cx<'_>) -> Step<Option<(K, O)>> {
        match heap.pop() {
            None if !heap.is_closed() => Step::Wait { on: POPPERS, until: None },
            taken => Step::Done(taken),
        }
    }
}

impl<K: Key, O: Handle> Operation<HeapQueue<K, O>> for Get<K> {
    fn step(&mut self, heap: &mut HeapQueue<K, O>, _: &mut Cx<'_>) -> Step<Option<O>> {
        Step::Done(heap.get(&self.0).cloned())
    }
}

impl<K: Key, O: Handle> Operation<HeapQueue<K, O>> for List {
    fn step(&mut self, heap: &mut HeapQueue<K, O>, _: &mut Cx<'_>) -> Step<Vec<(K, O)>> {
        Step::Done(heap.iter().map(|(key, object)| (key.clone(), object.clone())).collect())
    }
}

impl<K: Key, O: Handle> Operation<HeapQueue<K, O>> for Len {
    fn step(&mut self, heap: &mut HeapQueue<K, O>, _: &mut Cx<'_>) -> Step<usize> {
        Step::Done(heap.len())
    }
}

impl<K: Key, O: Handle> Operation<HeapQueue<K, O>> for Close {
    fn step(&mut self, heap: &mut HeapQueue<K, O>, cx: &mut Cx<'_>) -> Step<()> {
        heap.close(&mut cx.wakes);
        Step::Done(())
    }
}

impl<K: Key, O: Handle> Operation<HeapQueue<K, O>> for IsClosed {
    fn step(&mut self, heap: &mut HeapQueue<K, O>, _: &mut Cx<'_>) -> Step<bool> {
        Step::Done(heap.is_closed())
    }
}
