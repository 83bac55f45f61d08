//! Values that very many objects have: the store keeps their members in runs, which are split and
//! joined.

use std::collections::BTreeMap;

use seatrial_core::runtime::System;
use seatrial_core::store::IndexedStore;
use seatrial_core::store::indexed::index_by_one;

use crate::single_step::each_call;

/// A key, and whether the object has the first of two values.
type Object = (u16, bool);

/// How many objects have one value in the beginning: more than two runs in one list, or just over
/// one, object by object.
const MANY: [u16; 2] = [1_200, 520];

const fn value(first: bool) -> &'static str {
    if first { "first" } else { "second" }
}

/// Changes a store of many objects, and compares its index with a map. Most inputs are passed over,
/// because this takes long.
///
/// # Panics
/// If the two disagree.
pub(super) fn check_bytes(bytes: &[u8]) {
    let Some((code @ 0..16, bytes)) = bytes.split_first() else { return };
    let at_once = code.is_multiple_of(2);
    let many = MANY[usize::from(!at_once)];
    let system = System::new();
    let store = IndexedStore::new(&system, |object: &Object| Ok(object.0));
    let by_value = index_by_one(|object: &Object| Some(value(object.1)));
    assert!(store.add_indexers([("value", by_value)]).is_ok(), "nothing is stored yet");
    let mut model: BTreeMap<u16, bool> = (0..many).map(|key| (key, true)).collect();
    let list: Vec<Object> = model.iter().map(|(key, first)| (*key, *first)).collect();
    if at_once {
        store.replace(list, "1").expect("keys");
    } else {
        list.into_iter().for_each(|object| store.add(object).expect("it has a key"));
    }
    let call = |bytes: &[u8]| {
        let key = u16::from_le_bytes([bytes[0], bytes[1]]) % (many + 50);
        let value = bytes[2].is_multiple_of(3).then_some(bytes[2] >= 128);
        (if value.is_some() { "add" } else { "delete" }, key, value)
    };
    for (_, key, value) in each_call(bytes.chunks_exact(3).map(call)) {
        match value {
            Some(value) => {
                store.add((key, value)).expect("it has a key");
                model.insert(key, value);
            }
            None => {
                store.delete_key(&key).expect("it has a value");
                model.remove(&key);
            }
        }
    }
    for first in [true, false] {
        let mut keys = store.index_keys("value", value(first)).expect("there is such an index");
        keys.sort_unstable();
        let expected = model.iter().filter(|(_, it)| **it == first).map(|(key, _)| *key);
        assert_eq!(keys, expected.collect::<Vec<_>>(), "keys of the {} value", value(first));
    }
    store.assert_valid();
}
