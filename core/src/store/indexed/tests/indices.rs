//! Objects by value.

use super::*;

#[test]
fn an_object_is_under_each_of_its_values_and_under_no_other() {
    let store = labelled();
    store.add(object("a", &["x", "y"])).unwrap();
    store.add(object("b", &["x", "x"])).unwrap();
    store.add(object("c", &[])).unwrap();
    assert_eq!(under(&store, "x"), ["a", "b"]);
    assert_eq!(under(&store, "y"), ["a"]);
    assert_eq!(under(&store, "z"), [""; 0], "an unknown value is no error");
    assert_eq!(store.index_keys("label", "x").unwrap(), ["a", "b"]);
}

#[test]
fn an_object_is_under_the_one_value_that_it_lends_if_it_has_one() {
    let store = plain();
    let first = index_by_one(|object: &Arc<Object>| object.labels.first().copied());
    store.add_indexers([("label", first)]).unwrap();
    store.add(object("a", &["x", "y"])).unwrap();
    store.add(object("b", &[])).unwrap();
    assert_eq!((under(&store, "x"), labels(&store)), (vec!["a"], vec!["x".into()]));
}

#[test]
fn an_update_moves_its_object_whatever_the_values_have_in_common() {
    // IX-4: a short cut that checks only one side loses or leaves entries.
    let lists: [&'static [&'static str]; 6] =
        [&[], &["a"], &["b"], &["a", "b"], &["b", "a"], &["a", "a"]];
    for before in lists {
        for after in lists {
            let store = labelled();
            store.add(object("it", before)).unwrap();
            store.update(object("it", after)).unwrap();
            for label in ["a", "b"] {
                let expected: &[&str] = if after.contains(&label) { &["it"] } else { &[] };
                assert_eq!(under(&store, label), expected, "{before:?} to {after:?}");
            }
        }
    }
}

#[test]
fn a_value_that_nobody_has_is_gone() {
    let store = labelled();
    store.add(object("a", &["x", "y"])).unwrap();
    store.add(object("b", &["y"])).unwrap();
    assert_eq!(labels(&store), ["x".into(), "y".into()]);
    store.update(object("a", &[])).unwrap();
    assert_eq!(labels(&store), ["y".into()]);
    store.delete(&object("b", &[])).unwrap();
    assert_eq!(labels(&store), [], "IX-6");
}

#[test]
fn keys_under_a_value_are_sorted() {
    let store = labelled();
    for name in ["c", "a", "d", "b"] {
        store.add(object(name, &["x"])).unwrap();
    }
    assert_eq!(store.index_keys("label", "x").unwrap(), ["a", "b", "c", "d"]);
}

#[test]
fn many_objects_under_one_value_come_and_go() {
    let store = IndexedStore::new(&System::new(), |object: &u32| Ok(*object));
    let halves = index_by(|object: &u32| [if object.is_multiple_of(2) { "even" } else { "odd" }]);
    store.add_indexers([("half", halves)]).unwrap();
    (0..1000).for_each(|number| store.add(number).unwrap());
    let mut even = store.by_index("half", "even").unwrap();
    even.sort_unstable();
    assert!(even.into_iter().eq((0..1000).step_by(2)));
    assert!(store.index_keys("half", "odd").unwrap().into_iter().eq((1..1000).step_by(2)));
    (0..998).for_each(|number| store.delete(&number).unwrap());
    store.assert_valid();
    assert_eq!(store.by_index("half", "even").unwrap(), [998]);
}

#[test]
fn objects_that_share_a_value_are_found_once_each() {
    let store = labelled();
    store.add(object("a", &["x", "y"])).unwrap();
    store.add(object("b", &["y", "z"])).unwrap();
    store.add(object("c", &["z"])).unwrap();
    let like = |labels| names(store.index("label", &object("", labels)).unwrap());
    assert_eq!(like(&["x", "y"]), ["a", "b"]);
    assert_eq!(like(&["y", "y", "none"]), ["a", "b"]);
    assert_eq!(like(&[]), [""; 0]);
    const MANY: &[&str] = &["1", "2", "3", "4", "5", "6"];
    store.add(object("d", MANY)).unwrap();
    assert_eq!(like(MANY), ["d"]);
}

#[test]
fn objects_that_share_values_with_many_are_found_once_each() {
    let store = IndexedStore::new(&System::new(), |object: &u32| Ok(*object));
    let digits = index_by(|object: &u32| {
        [format!("tens {}", object / 10 % 10), format!("ones {}", object % 10)]
    });
    store.add_indexers([("digit", digits)]).unwrap();
    (0..1000).for_each(|number| store.add(number).unwrap());
    let mut found = store.index("digit", &34).unwrap();
    found.sort_unstable();
    let expected = (0..1000).filter(|number| number / 10 % 10 == 3 || number % 10 == 4);
    assert!(found.into_iter().eq(expected));
}

#[test]
fn an_unknown_index_is_an_error_but_has_no_values() {
    let store = labelled();
    let error = store.by_index("none", "x").unwrap_err();
    assert_eq!(error.to_string(), "Index with name none does not exist");
    assert!(matches!(store.index_keys("none", "x"), Err(IndexError::Unknown(_))));
    assert!(matches!(store.index("none", &object("a", &[])), Err(IndexError::Unknown(_))));
    assert_eq!(store.list_index_values("none"), []);
}

#[test]
fn an_index_added_later_shows_what_is_stored_already() {
    let store = plain();
    store.add(object("a", &["x"])).unwrap();
    store.add_indexers([("label", by_label())]).unwrap();
    assert_eq!(under(&store, "x"), ["a"]);
    store.add(object("b", &["x"])).unwrap();
    assert_eq!(under(&store, "x"), ["a", "b"]);
    let names: Vec<_> = store.indexers().into_iter().map(|(name, _)| name).collect();
    assert_eq!(names, ["label".into()]);
}

#[test]
fn if_one_name_is_in_use_no_index_is_added() {
    let store = labelled();
    let conflict = store.add_indexers([("new", by_label()), ("label", by_label())]);
    assert_eq!(conflict.unwrap_err().to_string(), "indexer conflict");
    let twice = store.add_indexers([("new", by_label()), ("new", by_label())]);
    assert!(matches!(twice, Err(AddIndexersError::Conflict)));
    assert_eq!(store.indexers().len(), 1);
}

#[test]
fn a_list_is_indexed_and_what_was_before_is_not() {
    let store = labelled();
    store.add(object("old", &["x"])).unwrap();
    store.replace(vec![object("a", &["y"]), object("b", &["y"]), object("a", &["z"])], "").unwrap();
    assert_eq!(labels(&store), ["y".into(), "z".into()]);
    assert_eq!(under(&store, "y"), ["b"]);
    assert_eq!(under(&store, "z"), ["a"]);
}

#[test]
fn an_index_function_with_one_value_can_be_a_key_function() {
    let key_of = key_by_index::<String, _>(by_label());
    assert_eq!(key_of(&object("a", &["x", "x"])).unwrap(), "x");
    for (labels, count) in [([].as_slice(), 0), (&["x", "y"], 2), (&["x", "y", "x"], 2)] {
        let error = key_of(&object("a", labels)).unwrap_err();
        let said = format!("the object has {count} values under the index, not one");
        assert_eq!(error.to_string(), said);
    }
    assert_eq!(key_of(&object("a", &["broken"])).unwrap_err().to_string(), "object has no meta");
}

#[test]
fn values_contain_what_was_added_and_nothing_else() {
    let mut values = Values::new(crate::store::KeyHasher::fixed(0));
    assert!(!values.contains("a"));
    values.add("a");
    values.add("b");
    assert!(values.contains("a") && values.contains("b"));
    assert!(!values.contains("c") && !values.contains("ab"));
    assert_eq!(format!("{values:?}"), r#"["a", "b"]"#);
}
