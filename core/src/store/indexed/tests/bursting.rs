//! Objects whose destructors panic: a write returns its result all the same.

use super::*;
use crate::runtime::bursting::{Bursting, Fuse};

type Bursts<O> = IndexedStore<u8, O>;

/// Makes a store with some objects; the other value lets their destructors panic.
fn store(count: u8) -> (Bursts<Arc<Bursting>>, Arc<Fuse>) {
    let fuse = Arc::<Fuse>::default();
    let store = IndexedStore::new(&System::new(), |it: &Arc<Bursting>| Ok(it.0));
    (1..=count).for_each(|key| store.add(Arc::new(Bursting(key, Arc::clone(&fuse)))).unwrap());
    (store, fuse)
}

fn keys<O: Handle>(store: &Bursts<O>) -> Vec<u8> {
    let mut keys = store.list_keys();
    keys.sort_unstable();
    keys
}

#[test]
fn single_writes_succeed_although_the_objects_that_leave_cannot_be_dropped() {
    for indexed in [false, true] {
        let (store, fuse) = store(3);
        if indexed {
            let all = index_by(|_: &Arc<Bursting>| ["of them"]);
            store.add_indexers([("all", all)]).unwrap();
        }
        let new = Arc::new(Bursting(1, Arc::clone(&fuse)));
        fuse.light();
        assert!(store.update(Arc::clone(&new)).is_ok());
        assert_eq!((fuse.bursts(), keys(&store)), (1, vec![1, 2, 3]));
        assert!(store.get(&1).is_some_and(|stored| Arc::ptr_eq(&stored, &new)));
        fuse.light();
        assert!(store.delete_key(&2).is_ok());
        assert_eq!((fuse.bursts(), keys(&store)), (1, vec![1, 3]));
        fuse.light();
        assert!(store.delete_last_state(&LastState::unknown(3, None)).is_ok());
        assert_eq!((fuse.bursts(), keys(&store)), (1, vec![1]));
    }
}

#[test]
fn a_transaction_succeeds_although_the_objects_that_leave_cannot_be_dropped() {
    let (store, fuse) = store(2);
    let new = |key| Arc::new(Bursting(key, Arc::clone(&fuse)));
    let changes = vec![
        Transaction::Update(new(1)),
        Transaction::Add(new(3)),
        Transaction::Add(new(3)),
        Transaction::Delete(LastState::unknown(2, None)),
    ];
    fuse.light();
    assert!(store.transaction(changes).is_ok());
    // Two that were stored, and the first one under 3.
    assert_eq!((fuse.bursts(), keys(&store)), (3, vec![1, 3]));
}

#[test]
fn a_transaction_of_objects_without_handles_succeeds_although_they_cannot_be_dropped() {
    let (store, fuse) =
        (IndexedStore::new(&System::new(), |it: &Bursting| Ok(it.0)), Arc::<Fuse>::default());
    let new = |key| Transaction::Add(Bursting(key, Arc::clone(&fuse)));
    let changes = vec![new(1), new(2)];
    fuse.light();
    assert!(store.transaction(changes).is_ok());
    assert_eq!((fuse.bursts(), keys(&store)), (2, vec![1, 2]), "the store has copies");
}

#[test]
fn a_list_becomes_the_content_although_the_objects_that_leave_cannot_be_dropped() {
    let (store, fuse) = store(1);
    let new = |key| Arc::new(Bursting(key, Arc::clone(&fuse)));
    let listed = vec![new(3), new(3), new(3), new(4)];
    fuse.light();
    assert!(store.replace(listed, "").is_ok());
    assert_eq!(fuse.bursts(), 3, "the old one, and the earlier ones under 3");
    assert_eq!(keys(&store), [3, 4]);
}

#[test]
fn many_changes_leave_no_memory_behind() {
    let store = IndexedStore::new(&System::new(), |number: &u32| Ok(*number));
    let values = index_by(|number: &u32| [number.to_string(), "all of them".to_owned()]);
    store.add_indexers([("values", values)]).unwrap();
    let spans = || store.runtime.lock(&store.writer).spans.capacity();
    let many = |change: fn(u32) -> Transaction<u32, u32>| {
        store.transaction((0..10_000).map(change).collect()).unwrap();
        assert!(spans() <= super::index::KEPT, "{} spans", spans());
    };
    many(Transaction::Add);
    many(Transaction::Update);
    many(|number| Transaction::Delete(LastState::unknown(number, None)));
    assert!(store.is_empty());
}
