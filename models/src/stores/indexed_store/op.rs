//! Sequences of calls, and the property that the store agrees with the sequential object.

use std::sync::Arc;

use seatrial_core::runtime::System;
use seatrial_core::store::indexed::{IndexFunction, StoreError, Transaction, index_by};
use seatrial_core::store::{Cause, IndexedStore, Intake, KeyHasher, LastState, NoMetadata};

use super::Spec;
use crate::single_step::each_call;

/// An object: key 0 is refused by the key function, version 13 by the index function `bits`.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Labelled {
    /// The key.
    pub key: u8,
    /// The version; 0 stands for none.
    pub version: u8,
    /// The values: each set bit is one.
    pub bits: u8,
}

/// A call.
#[derive(Clone, PartialEq, Eq, Debug)]
#[expect(missing_docs, reason = "the variants are the calls of the store")]
pub enum Op {
    Add(Labelled),
    Delete(Labelled),
    DeleteKey(u8),
    Replace(Vec<Labelled>),
    /// Several writes in one step; the flag marks deletions.
    Transact(Vec<(bool, Labelled)>),
    AddBits,
    AddParity,
    Bookmark,
    Like(Labelled),
}

type Object = Arc<Labelled>;

pub(super) fn key_of(object: &Object) -> Result<u8, Cause> {
    if object.key == 0 { Err(Arc::new(NoMetadata)) } else { Ok(object.key) }
}

fn bits_of(object: &Object) -> Vec<String> {
    let set = (0..8).filter(|bit| object.bits & 1 << bit != 0);
    set.map(|bit| bit.to_string()).collect()
}

fn parity_of(object: &Object) -> Vec<String> {
    vec![if object.version.is_multiple_of(2) { "even" } else { "odd" }.to_owned()]
}

pub(super) fn by_bits() -> IndexFunction<Object> {
    Arc::new(|object, values| {
        bits_of(object).iter().for_each(|value| values.add(value));
        if object.version == 13 { Err(Arc::new(NoMetadata)) } else { Ok(()) }
    })
}

/// Versions as texts, so that they can be borrowed.
pub(super) const VERSIONS: [&str; 4] = ["", "1", "2", "3"];

fn version_of(object: &Object) -> Option<&str> {
    let version = VERSIONS[usize::from(object.version) % VERSIONS.len()];
    (!version.is_empty()).then_some(version)
}

/// Runs calls on the store that ships and on the sequential object.
///
/// # Panics
/// If the two disagree, or the store breaks a rule of its own.
pub fn check(ops: &[Op]) {
    let intake = Intake::with_hasher(KeyHasher::fixed(7), key_of);
    let follows = Arc::new(version_of);
    let store = IndexedStore::with_intake(&System::new(), intake, Some(follows));
    let mut pair = Pair { store, spec: Spec::new(), indices: vec![] };
    for op in each_call(ops) {
        pair.step(op);
        pair.compare();
    }
}

/// The values of an object under an index.
type ValuesOf = fn(&Object) -> Vec<String>;

/// The store and the sequential object, given the same calls.
struct Pair {
    store: IndexedStore<u8, Object>,
    spec: Spec<u8, Object>,
    indices: Vec<(&'static str, ValuesOf)>,
}

impl Pair {
    fn step(&mut self, op: &Op) {
        match op {
            Op::Add(object) => self.put(Arc::new(object.clone())),
            Op::Delete(object) => {
                let object = Arc::new(object.clone());
                let done = self.store.delete(&object);
                assert_eq!(said(&done), if object.key == 0 { "key" } else { "ok" });
                if done.is_ok() {
                    self.spec.delete(&object.key, version_of(&object));
                }
            }
            Op::DeleteKey(key) => {
                self.store.delete_key(key).expect("what is stored has values");
                self.spec.delete(key, None);
            }
            Op::Replace(list) => self.replace(list),
            Op::Transact(entries) => self.transact(entries),
            Op::AddBits => self.add_index("bits", by_bits(), bits_of),
            Op::AddParity => self.add_index("parity", index_by(parity_of), parity_of),
            Op::Bookmark => {
                self.store.bookmark("9");
                "9".clone_into(&mut self.spec.version);
            }
            Op::Like(object) => self.like(&Arc::new(object.clone())),
        }
    }

    fn has_bits(&self) -> bool {
        self.indices.iter().any(|(name, _)| *name == "bits")
    }

    fn put(&mut self, object: Object) {
        let done = self.store.add(Arc::clone(&object));
        let fails = self.has_bits() && object.version == 13;
        assert_eq!(said(&done), expected(object.key != 0, fails));
        if done.is_ok() {
            self.spec.put(object.key, Arc::clone(&object), version_of(&object));
        }
    }

    fn replace(&mut self, list: &[Labelled]) {
        let list: Vec<Object> = list.iter().cloned().map(Arc::new).collect();
        let done = self.store.replace(list.clone(), "8");
        // If a key is listed twice, only the last object is indexed.
        let mut spec = self.spec.clone();
        spec.replace(list.iter().map(|object| (object.key, Arc::clone(object))), "8");
        let fails = self.has_bits() && spec.items.values().any(|object| object.version == 13);
        assert_eq!(said(&done), expected(list.iter().all(|object| object.key != 0), fails));
        if done.is_ok() {
            self.spec = spec;
        }
    }

    fn transact(&mut self, entries: &[(bool, Labelled)]) {
        let entry = |(delete, object): &(bool, Labelled)| {
            let object = Arc::new(object.clone());
            if *delete {
                Transaction::Delete(LastState::Final(object))
            } else {
                Transaction::Update(object)
            }
        };
        let done = self.store.transaction(entries.iter().map(entry).collect());
        let good = || entries.iter().enumerate().filter(|(_, (_, object))| object.key != 0);
        let fails = self.has_bits() && good().any(|(_, (delete, o))| !delete && o.version == 13);
        match done {
            Ok(()) => assert!(!fails && good().count() == entries.len()),
            Err(error) => {
                assert_eq!(error.total, entries.len());
                let expected: Vec<_> = good().map(|(number, _)| number).collect();
                assert_eq!(error.successful, if fails { vec![] } else { expected });
            }
        }
        if fails {
            return;
        }
        let mut last = None;
        for (_, (delete, object)) in good() {
            let object = Arc::new(object.clone());
            if *delete {
                self.spec.delete(&object.key, None);
            } else {
                self.spec.put(object.key, Arc::clone(&object), None);
            }
            last = Some(object);
        }
        if let Some(version) = last.as_ref().and_then(version_of) {
            version.clone_into(&mut self.spec.version);
        }
    }

    fn add_index(&mut self, name: &'static str, function: IndexFunction<Object>, of: ValuesOf) {
        let known = self.indices.iter().any(|(known, _)| *known == name);
        let fails = name == "bits" && self.spec.items.values().any(|o| o.version == 13);
        let added = self.store.add_indexers([(name, function)]);
        assert_eq!(added.is_ok(), !known && !fails);
        if added.is_ok() {
            self.indices.push((name, of));
        }
    }

    fn like(&self, object: &Object) {
        for (name, values_of) in &self.indices {
            let found = self.store.index(name, object);
            if *name == "bits" && object.version == 13 {
                assert!(found.is_err());
                continue;
            }
            let mut keys: Vec<u8> = found.expect("known").iter().map(|found| found.key).collect();
            keys.sort_unstable();
            assert_eq!(keys, self.spec.with_value(values_of, &values_of(object)));
        }
    }

    fn compare(&self) {
        self.store.assert_valid();
        let mut listed: Vec<_> =
            self.store.list().iter().map(|(key, object)| (*key, Arc::clone(object))).collect();
        listed.sort_unstable();
        assert_eq!(listed, Vec::from_iter(self.spec.items.clone()));
        for key in 0..8 {
            assert_eq!(self.store.get(&key), self.spec.items.get(&key).cloned());
        }
        assert_eq!(self.store.last_resource_version(), self.spec.version);
        for (name, values_of) in &self.indices {
            let mut values: Vec<_> = self.store.list_index_values(name);
            values.sort_unstable();
            let expected = self.spec.values(values_of);
            assert!(values.iter().map(|value| &**value).eq(expected.iter().map(String::as_str)));
            for value in expected {
                let keys = self.store.index_keys(name, &value).expect("a known index");
                assert_eq!(keys, self.spec.with_value(values_of, &[value]));
            }
        }
    }
}

/// Returns the result that a write must have.
fn expected(has_keys: bool, index_fails: bool) -> &'static str {
    match (has_keys, index_fails) {
        (false, _) => "key",
        (true, true) => "index",
        (true, false) => "ok",
    }
}

/// Returns the result of a call, in a word.
fn said(result: &Result<(), StoreError>) -> &'static str {
    match result {
        Ok(()) => "ok",
        Err(StoreError::Key(_)) => "key",
        Err(StoreError::Transform(_)) => "transform",
        Err(StoreError::Index(_)) => "index",
        Err(_) => "another error",
    }
}

/// Reads calls from the bytes of a fuzzer; every input is valid.
pub fn decode(bytes: &[u8]) -> Vec<Op> {
    let mut bytes = bytes.iter().copied();
    std::iter::from_fn(|| decode_op(&mut bytes)).collect()
}

fn decode_object(bytes: &mut impl Iterator<Item = u8>) -> Option<Labelled> {
    let (key, version, bits) = (bytes.next()? % 8, bytes.next()? % 16, bytes.next()?);
    Some(Labelled { key, version, bits })
}

fn decode_op(bytes: &mut impl Iterator<Item = u8>) -> Option<Op> {
    let code = bytes.next()?;
    // Each bit marks a write of a transaction as a deletion.
    let deletions = if matches!(code % 16, 10 | 11) { bytes.next()? } else { 0 };
    let mut object = || decode_object(bytes);
    Some(match code % 16 {
        0..5 => Op::Add(object()?),
        5 | 6 => Op::Delete(object()?),
        7 => Op::DeleteKey(bytes.next()? % 8),
        8 | 9 => Op::Replace((0..code >> 5).map_while(|_| object()).collect()),
        10 | 11 => {
            let entry = |number: u8| Some((deletions >> number & 1 != 0, object()?));
            Op::Transact((0..code >> 5).map_while(entry).collect())
        }
        12 => Op::AddBits,
        13 => Op::AddParity,
        14 => Op::Like(object()?),
        _ => Op::Bookmark,
    })
}
