//! Parts around an election that none of its scenarios reaches: gates that check tokens, and locks
//! in annotations. Made-up calls are compared with the meaning of each call when nothing overlaps.

use std::collections::BTreeMap;
use std::sync::Arc;

use seatrial_core::elector::{
    ANNOTATION, Call, ConfigMap, ConfigMapLock, Fence, Fields, Gate, Lock, MemoryStore, Meta, Name,
    Object, ObjectName, ObjectStore, Record, StoreError, Version,
};
use seatrial_core::runtime::System;

use crate::single_step::each_call;

/// The property on the bytes of a fuzzer.
///
/// # Panics
/// If a gate or a lock behaves differently.
pub(super) fn check_bytes(bytes: &[u8]) {
    each_call([("gates and locks, by these bytes", bytes)]).for_each(drop);
    let mut gate = Gate::new();
    gates_admit(bytes, |token| gate.admit(token));
    locks_keep(bytes, |store| ConfigMapLock::new(store, NAMESPACE, NAME));
}

/// Shows tokens to a gate. One byte gives the lock object and the transitions; the version is the
/// number of the token, if versions are ordered.
pub(super) fn gates_admit(bytes: &[u8], mut admits: impl FnMut(&Fence) -> bool) {
    let ordered = bytes.first().is_some_and(|byte| byte % 2 == 1);
    // The lock objects whose tokens were accepted, the current one last, and its highest token.
    let mut epochs: Vec<Name> = Vec::new();
    let mut highest = (0, 0);
    for (number, byte) in bytes.iter().take(24).enumerate() {
        let uid = Name::new(["u", "v", "w"][usize::from(byte % 3)]);
        let transitions = i64::from(byte / 3 % 4);
        let age = u64::from(byte / 12 % 4) * 3; // some tokens come late
        let version = (number as u64).saturating_sub(age);
        let named = if ordered { Version::Number(version) } else { Version::new("opaque") };
        let fence = Fence::new(uid.clone(), transitions, named);
        let expected = match epochs.last() {
            None => true,
            Some(current) if *current == uid => transitions >= highest.0,
            Some(_) if epochs.contains(&uid) => false,
            Some(_) => !ordered || version >= highest.1,
        };
        assert_eq!(admits(&fence), expected, "token {number}: {fence:?} after {epochs:?}");
        let moves = match epochs.last() {
            Some(current) if *current == uid => transitions > highest.0,
            Some(_) => !ordered || version > highest.1,
            None => true,
        };
        if expected && moves {
            if epochs.last() != Some(&uid) {
                epochs.push(uid);
            }
            highest = (transitions, version);
        }
    }
}

type Maps = Arc<MemoryStore<System, ConfigMap>>;

const NAMESPACE: &str = "default";
const NAME: &str = "lock";
/// An annotation of another program.
const OTHERS: &str = "others";

/// Lets a lock read and change objects of other programs: with no annotations at all, with other
/// ones, with a record, and with an unreadable record.
pub(super) fn locks_keep<L: Lock>(bytes: &[u8], lock: impl Fn(Maps) -> L) {
    for byte in bytes.iter().take(4) {
        let maps: Maps = Arc::new(MemoryStore::new(&System::new()));
        let annotations = annotations(*byte);
        let name = ObjectName::new(NAMESPACE, NAME);
        let mut meta = Meta::new(name.clone());
        meta.annotations = annotations.clone();
        ObjectStore::create(&*maps, &Object::new(meta, ConfigMap), Call::default())
            .expect("there is none");
        let mut lock = lock(Arc::clone(&maps));
        let text = annotations.as_ref().and_then(|all| all.get(ANNOTATION));
        let expected = text.map_or(Ok(Record::default()), |text| Record::from_json(text));
        let read = lock.get(Call::default());
        match (&read, expected) {
            (Ok(stored), Ok(record)) => assert_eq!(stored.record, record, "{annotations:?}"),
            (Err(StoreError::Invalid(_)), Err(_)) => continue,
            (read, expected) => panic!("{annotations:?} reads as {read:?}, not as {expected:?}"),
        }
        let record = Record::default().holder(Name::new("me")).duration_seconds(3);
        let version = read.expect("it was read").version;
        let written = lock.update(&record, &version, Call::default()).expect("nobody is beside");
        assert_eq!(written.record, record);
        let kept = ObjectStore::get(&*maps, &name, Call::default()).expect("it is there");
        let mut expected = annotations.unwrap_or_default();
        expected.insert(ANNOTATION.to_owned(), record.to_json(Fields::Older));
        assert_eq!(kept.meta.annotations, Some(expected), "the rest of the object is others'");
    }
}

fn annotations(byte: u8) -> Option<BTreeMap<String, String>> {
    let mut all = BTreeMap::new();
    if byte & 1 != 0 {
        all.insert(OTHERS.to_owned(), "keep me".to_owned());
    }
    let record = Record::default().holder(Name::new("you")).transitions(4);
    let text = match byte / 2 % 4 {
        0 => None,
        1 => Some(record.to_json(Fields::Current)),
        2 => Some(record.to_json(Fields::Older)),
        _ => Some("{ no record".to_owned()),
    };
    all.extend(text.map(|text| (ANNOTATION.to_owned(), text)));
    (byte & 8 == 0 || !all.is_empty()).then_some(all)
}
