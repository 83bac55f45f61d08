//! Readers and writers at the same time.

use std::sync::mpsc;
use std::time::Duration;

use super::*;

fn numbers(count: u32) -> IndexedStore<u32, (u32, u32)> {
    let store = IndexedStore::new(&System::new(), |object: &(u32, u32)| Ok(object.0));
    let parity =
        index_by(|object: &(u32, u32)| [if object.1.is_multiple_of(2) { "even" } else { "odd" }]);
    store.add_indexers([("parity", parity)]).unwrap();
    store.replace((0..count).map(|number| (number, 0)).collect(), "").unwrap();
    store
}

#[test]
fn a_snapshot_stays_as_it_is() {
    let store = numbers(10_000);
    let before = store.list();
    assert_eq!((before.len(), before.is_empty()), (10_000, false));
    (0..10_000).step_by(7).for_each(|number| store.update((number, 1)).unwrap());
    (1..10_000).step_by(7).for_each(|number| store.delete_key(&number).unwrap());
    store.add((20_000, 1)).unwrap();
    assert!(before.iter().all(|(key, object)| *object == (*key, 0)));
    assert_eq!(before.iter().count(), 10_000);
    let after = store.list();
    assert_eq!(after.iter().count(), after.len());
    assert_eq!(after.iter().filter(|(_, object)| object.1 == 1).count(), 1430);
    store.assert_valid();
}

#[test]
fn an_index_function_may_read_its_own_store() {
    const PATIENCE: Duration = Duration::from_secs(3);
    let store = Arc::new(IndexedStore::new(&System::new(), |object: &u32| Ok(*object)));
    let (read, sizes) = mpsc::channel();
    let peeks = {
        let store = Arc::downgrade(&store);
        index_by(move |_: &u32| {
            let (store, (say, hear)) = (store.upgrade(), mpsc::channel());
            let read_it = move || say.send(store.map_or(0, |store| store.len())).unwrap();
            let reader = System::new().spawn("reader", read_it);
            read.send(hear.recv_timeout(PATIENCE)).unwrap();
            drop(reader);
            ["any"]
        })
    };
    store.add_indexers([("size", peeks)]).unwrap();
    store.add(1).unwrap();
    store.update(1).unwrap();
    store.transaction(vec![Transaction::Update(1)]).unwrap();
    store.replace(vec![1, 2], "").unwrap();
    store.delete_key(&2).unwrap();
    let seen: Result<Vec<usize>, _> = sizes.try_iter().collect();
    assert_eq!(seen, Ok(vec![0, 1, 1, 1, 1, 1, 1, 2]), "as it was before, and nobody waits");
}

#[test]
fn a_reader_sees_an_object_under_its_present_value_only() {
    let (runtime, store) = (System::new(), Arc::new(numbers(1)));
    let writer = {
        let store = Arc::clone(&store);
        runtime.spawn("writer", move || {
            (0..20_000).for_each(|version| store.update((0, version)).unwrap());
        })
    };
    for _ in 0..20_000 {
        let even = store.by_index("parity", "even").unwrap();
        assert!(even.iter().all(|object| object.1 % 2 == 0), "{even:?}");
        let odd = store.by_index("parity", "odd").unwrap();
        assert!(odd.iter().all(|object| object.1 % 2 == 1), "{odd:?}");
    }
    runtime.join(writer).unwrap();
    store.assert_valid();
}

#[test]
fn a_reader_sees_all_of_a_list_or_transaction_or_nothing() {
    let (runtime, store) = (System::new(), Arc::new(numbers(100)));
    let writer = {
        let store = Arc::clone(&store);
        runtime.spawn("writer", move || {
            for version in 1..300 {
                let list = (0..100).map(|number| (number, version));
                if version % 2 == 0 {
                    store.replace(list.collect(), "").unwrap();
                } else {
                    store.transaction(list.map(Transaction::Update).collect()).unwrap();
                }
            }
        })
    };
    let mut newest = 0;
    while newest < 299 {
        let listed = store.list().to_vec();
        assert_eq!(listed.len(), 100);
        assert!(listed[0].1 >= newest, "and never an older one");
        newest = listed[0].1;
        assert!(listed.iter().all(|object| object.1 == newest), "{listed:?}");
        let parity = if newest % 2 == 0 { "even" } else { "odd" };
        let found = store.by_index("parity", parity).unwrap();
        assert!([0, 100].contains(&found.len()));
        assert!(found.iter().all(|object| object.1 % 2 == newest % 2), "{found:?}");
    }
    runtime.join(writer).unwrap();
}

#[test]
fn an_index_that_is_being_added_is_never_seen_half_built() {
    let (runtime, store) = (System::new(), Arc::new(numbers(5_000)));
    let writer = {
        let store = Arc::clone(&store);
        runtime.spawn("writer", move || {
            let all = index_by(|_: &(u32, u32)| ["all"]);
            store.add_indexers([("all", all)]).unwrap();
        })
    };
    loop {
        match store.by_index("all", "all") {
            Ok(objects) => break assert_eq!(objects.len(), 5_000),
            Err(error) => assert!(matches!(error, IndexError::Unknown(_))),
        }
    }
    runtime.join(writer).unwrap();
}
