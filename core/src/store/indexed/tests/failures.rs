//! If an object is refused, the store does not change.

use std::panic::{AssertUnwindSafe, catch_unwind};

use super::*;

/// Makes a store with one object, and checks that an attempt does not change it.
fn untouched(attempt: impl FnOnce(&Store)) {
    let store = following();
    store.add_indexers([("label", by_label())]).unwrap();
    store.replace(vec![object("a", &["x"])], "7").unwrap();
    attempt(&store);
    store.assert_valid();
    assert_eq!(store.list().to_vec(), [object("a", &["x"])]);
    assert_eq!(labels(&store), ["x".into()]);
    assert_eq!(store.last_resource_version(), "7");
    assert_eq!(store.indexers().len(), 1);
    store.add(object("b", &["x"])).unwrap();
    assert_eq!(under(&store, "x"), ["a", "b"], "the store can be used");
}

#[test]
fn an_object_without_a_key() {
    untouched(|store| {
        assert!(matches!(store.add(object("", &[])), Err(StoreError::Key(_))));
        assert!(matches!(store.update(object("", &[])), Err(StoreError::Key(_))));
        assert!(matches!(store.delete(&object("", &[])), Err(StoreError::Key(_))));
        assert!(store.get_stored(&object("", &[])).is_err());
        let list = vec![object("b", &[]), object("", &[])];
        assert!(matches!(store.replace(list, "8"), Err(StoreError::Key(_))));
    });
}

/// Returns the cause of an error.
fn of(error: &dyn std::error::Error) -> String {
    error.source().map_or_else(|| "nothing".to_owned(), ToString::to_string)
}

#[test]
fn an_index_function_that_fails() {
    untouched(|store| {
        let error = store.update(object("a", &["y", "broken"])).unwrap_err();
        assert!(error.to_string().ends_with("on index \"label\""), "{error}");
        assert_eq!(of(&error), "object has no meta");
        let list = vec![object("b", &["y"]), object("c", &["broken"])];
        assert!(matches!(store.replace(list, "8"), Err(StoreError::Index(_))));
        let entries = ["y", "broken"].map(|label| match label {
            "y" => Transaction::Add(object("b", &["y"])),
            _ => Transaction::Add(object("c", &["broken"])),
        });
        let error = store.transaction(entries.into()).unwrap_err();
        assert_eq!((error.successful, error.total), (vec![], 2), "nothing at all (IX-8)");
        assert!(matches!(
            store.index("label", &object("", &["broken"])),
            Err(IndexError::Failed(_))
        ));
    });
}

#[test]
fn an_index_that_fails_on_what_is_stored() {
    untouched(|store| {
        let fails: IndexFunction<Arc<Object>> = Arc::new(|_, _| Err(Arc::new(NoMetadata)));
        let added = store.add_indexers([("fine", by_label()), ("fails", fails)]);
        assert!(matches!(added, Err(AddIndexersError::Failed(_))));
    });
    let store = plain();
    store.add(object("a", &["broken"])).unwrap();
    let fine = || ("fine", index_by(|object: &Arc<Object>| [object.name]));
    store.add_indexers([fine(), ("fails", by_label())]).unwrap_err();
    store.add(object("b", &[])).unwrap();
    store.add_indexers([fine()]).unwrap();
    assert_eq!(names(store.by_index("fine", "b").unwrap()), ["b"], "its name is free");
}

#[test]
fn an_index_function_that_panics() {
    untouched(|store| {
        let attempts: [&dyn Fn(); 3] = [
            &|| drop(store.add(object("a", &["y", "bomb"]))),
            &|| drop(store.replace(vec![object("b", &["bomb"])], "8")),
            &|| drop(store.transaction(vec![Transaction::Add(object("b", &["bomb"]))])),
        ];
        for attempt in attempts {
            assert!(catch_unwind(AssertUnwindSafe(attempt)).is_err());
        }
        let bomb: IndexFunction<Arc<Object>> = Arc::new(|_, _| panic!("a bug"));
        let add = || store.add_indexers([("bomb", Arc::clone(&bomb))]);
        assert!(catch_unwind(AssertUnwindSafe(add)).is_err());
    });
}

#[test]
fn a_key_function_or_transformer_that_panics() {
    let runtime = System::new();
    let key_of = |object: &(u8, u8)| if object.0 == 13 { panic!("a bug") } else { Ok(object.0) };
    let transform = |object: (u8, u8)| if object.1 == 13 { panic!("a bug") } else { Ok(object) };
    let intake = Intake::new(&runtime, key_of).with_transform(transform);
    let store = IndexedStore::with_intake(&runtime, intake, None);
    store.add((1, 1)).unwrap();
    for bomb in [(13, 0), (1, 13)] {
        let attempts: [&dyn Fn(); 2] =
            [&|| drop(store.update(bomb)), &|| drop(store.replace(vec![(2, 2), bomb], ""))];
        for attempt in attempts {
            assert!(catch_unwind(AssertUnwindSafe(attempt)).is_err());
            store.assert_valid();
        }
    }
    store.add((2, 1)).unwrap();
    assert_eq!(store.list().to_vec(), [(1, 1), (2, 1)]);
}

#[test]
fn errors_lead_to_their_cause() {
    let cause: Cause = Arc::new(NoMetadata);
    let index = IndexFailed { index: "label".into(), cause: Arc::clone(&cause) };
    let of_the_cause = cause.to_string();
    assert_eq!(of(&index), of_the_cause);
    assert_eq!(of(&StoreError::Transform(cause)), of_the_cause);
    assert_eq!(of(&StoreError::Index(index.clone())), of_the_cause);
    assert_eq!(StoreError::Index(index.clone()).to_string(), index.to_string());
    let nameless = plain().add(object("", &[])).unwrap_err();
    assert_eq!(of(&nameless), of_the_cause);
    assert_eq!(of(&IndexError::Failed(index.clone())), of_the_cause);
    assert_eq!(of(&IndexError::Unknown("label".to_owned())), "nothing");
    assert_eq!(of(&AddIndexersError::Failed(index.clone())), of_the_cause);
    assert_eq!(of(&AddIndexersError::Conflict), "nothing");
    let second = IndexFailed { index: "other".into(), ..index.clone() };
    let errors = vec![index.clone().into(), second.into()];
    let failed = TransactionError { successful: vec![0], total: 3, errors };
    assert_eq!(of(&failed), index.to_string(), "the first of them");
    assert_eq!(failed.to_string(), "failed to execute (2/3) transactions");
    let none =
        TransactionError { successful: vec![], errors: vec![index.clone().into()], ..failed };
    let says = "failed to execute (3/3) transactions";
    assert_eq!(none.to_string(), says, "one cause is enough for all to be skipped");
}

#[test]
fn an_index_function_that_changes_its_mind_is_noticed() {
    let calls = std::sync::atomic::AtomicUsize::new(0);
    let numbered: IndexFunction<Arc<Object>> = Arc::new(move |_, values| {
        values.add(&calls.fetch_add(1, std::sync::atomic::Ordering::Relaxed).to_string());
        Ok(())
    });
    let store = plain();
    store.add_indexers([("number", numbered)]).unwrap();
    store.assert_valid();
    store.add(object("a", &[])).unwrap();
    assert!(catch_unwind(AssertUnwindSafe(|| store.assert_valid())).is_err());
    assert_eq!(format!("{store:?}"), "IndexedStore");
}
