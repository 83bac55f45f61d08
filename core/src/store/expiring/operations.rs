//! The calls on a store whose objects expire, each one critical section.

use crate::machine::{Cx, Operation, Step};
use crate::store::Keyed;
use crate::store::{Handle, Hashed, Key};

use super::state::ExpiringObjects;

/// Stores an object.
#[derive(Clone, Debug)]
pub struct Put<K, O> {
    /// The key; taken out when the store keeps it.
    pub key: Option<Hashed<K>>,
    /// The object; afterwards the one that it replaced.
    pub object: Option<O>,
}

/// Removes an object by its key.
#[derive(Clone, Debug)]
pub struct Delete<K>(pub Hashed<K>);

/// Replaces the content by a list; returns the old objects, and those of the list that a later one
/// with the same key replaced.
#[derive(Clone, Debug)]
pub struct Replace<K, O>(pub Vec<Keyed<K, O>>);

/// Reads an object; `Err` with an expired one, which is removed.
#[derive(Clone, Debug)]
pub struct Get<K>(pub Hashed<K>);

/// Reads the objects that have not expired. The second list has the expired ones, which are
/// removed.
#[derive(Clone, Debug)]
pub struct List;

/// Reads all keys.
#[derive(Clone, Debug)]
pub struct ListKeys;

crate::operations! {
    [K: Key, O: Handle] ExpiringObjects<K, O>: Op, Ret {
        Put(Put<K, O>) -> (),
        Delete(Delete<K>) -> Option<(K, O)>,
        Replace(Replace<K, O>) -> Vec<(K, O)>,
        Get(Get<K>) -> Result<Option<O>, (K, O)>,
        List(List) -> (Vec<O>, Vec<(K, O)>),
        ListKeys(ListKeys) -> Vec<K>,
    } valid = ExpiringObjects::check
}

impl<K: Key, O: Handle> Operation<ExpiringObjects<K, O>> for Put<K, O> {
    fn step(&mut self, store: &mut ExpiringObjects<K, O>, cx: &mut Cx<'_>) -> Step<()> {
        if let Some(object) = self.object.take() {
            self.object = store.put(&mut self.key, object, cx.now());
        }
        Step::Done(())
    }
}

impl<K: Key, O: Handle> Operation<ExpiringObjects<K, O>> for Delete<K> {
    fn step(&mut self, store: &mut ExpiringObjects<K, O>, _: &mut Cx<'_>) -> Step<Option<(K, O)>> {
        Step::Done(store.delete(&self.0))
    }
}

impl<K: Key, O: Handle> Operation<ExpiringObjects<K, O>> for Replace<K, O> {
    fn step(&mut self, store: &mut ExpiringObjects<K, O>, cx: &mut Cx<'_>) -> Step<Vec<(K, O)>> {
        Step::Done(store.replace(std::mem::take(&mut self.0), cx.now()))
    }
}

impl<K: Key, O: Handle> Operation<ExpiringObjects<K, O>> for Get<K> {
    fn step(
        &mut self,
        store: &mut ExpiringObjects<K, O>,
        cx: &mut Cx<'_>,
    ) -> Step<Result<Option<O>, (K, O)>> {
        Step::Done(store.get(&self.0, cx.now()))
    }
}

impl<K: Key, O: Handle> Operation<ExpiringObjects<K, O>> for List {
    fn step(
        &mut self,
        store: &mut ExpiringObjects<K, O>,
        cx: &mut Cx<'_>,
    ) -> Step<(Vec<O>, Vec<(K, O)>)> {
        Step::Done(store.list(cx.now()))
    }
}

impl<K: Key, O: Handle> Operation<ExpiringObjects<K, O>> for ListKeys {
    fn step(&mut self, store: &mut ExpiringObjects<K, O>, _: &mut Cx<'_>) -> Step<Vec<K>> {
        Step::Done(store.keys().cloned().collect())
    }
}
