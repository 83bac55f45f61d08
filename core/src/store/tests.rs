//! The rules of keys, one behaviour a test.

use std::error::Error;
use std::sync::Arc;

use super::indexed::metadata_version;
use super::*;
use crate::runtime::System;

#[derive(Clone, Debug)]
struct Pod {
    namespace: &'static str,
    name: &'static str,
}

impl Described for Pod {
    fn metadata(&self) -> Option<Metadata<'_>> {
        Some(Metadata { namespace: self.namespace, name: self.name, ..Metadata::default() })
    }
}

#[derive(Clone, Debug)]
struct Opaque;

impl Described for Opaque {
    fn metadata(&self) -> Option<Metadata<'_>> {
        None
    }
}

fn pod(namespace: &'static str, name: &'static str) -> Pod {
    Pod { namespace, name }
}

#[test]
fn a_key_is_namespace_and_name_or_the_name_alone() {
    assert_eq!(metadata_key(&pod("prod", "web")).unwrap(), "prod/web");
    assert_eq!(metadata_key(&Arc::new(pod("", "node"))).unwrap(), "node");
    assert_eq!(metadata_key(&pod("", "")).unwrap(), "");
    assert_eq!(metadata_key(&pod("prod", "")).unwrap(), "prod/");
}

#[test]
fn keys_are_neither_escaped_nor_checked() {
    let namespaced = metadata_key(&pod("a", "b")).unwrap();
    assert_eq!(metadata_key(&pod("", "a/b")).unwrap(), namespaced, "they collide (KY-3)");
}

#[test]
fn an_explicit_key_is_its_own_key() {
    assert_eq!(metadata_key(&ExplicitKey("a/b/c".to_owned())).unwrap(), "a/b/c");
}

#[test]
fn an_object_without_metadata_has_no_key() {
    assert_eq!(metadata_key(&Opaque).unwrap_err().to_string(), "object has no meta");
    assert_eq!(ObjectName::of(&Opaque), Err(NoMetadata));
    assert_eq!(ExplicitKey("a/b".to_owned()).metadata(), None);
}

#[test]
fn a_tombstone_has_the_key_that_it_names() {
    let tombstone = LastState::unknown("x/y/z".to_owned(), Some(pod("prod", "web")));
    assert_eq!(metadata_key_of_last_state(&tombstone).unwrap(), "x/y/z", "verbatim (KY-5)");
    let error = ObjectName::of_last_state(&tombstone).unwrap_err();
    assert!(error.to_string().contains("x/y/z"), "{error}");
    let seen = LastState::Final(pod("prod", "web"));
    assert_eq!(metadata_key_of_last_state(&seen).unwrap(), "prod/web");
    assert_eq!(ObjectName::of_last_state(&seen).unwrap().to_string(), "prod/web");
}

#[test]
fn a_tombstone_gives_its_object() {
    assert_eq!(LastState::unknown("a", Some(1)).object(), Some(&1));
    assert_eq!(LastState::<_, u8>::unknown("a", None).object(), None);
    assert_eq!(LastState::<&str, _>::Final(2).object(), Some(&2));
    assert!(LastState::from(Tombstone { key: "a", object: Some(1) }).is_tombstone());
    assert!(!LastState::<&str, _>::Final(2).is_tombstone());
}

#[test]
fn splitting_a_key_gives_its_parts_back() {
    assert_eq!(split_key("web"), Ok(("", "web")));
    assert_eq!(split_key("prod/web"), Ok(("prod", "web")));
    assert_eq!(split_key(""), Ok(("", "")));
    assert_eq!(split_key("/x"), Ok(("", "x")));
    assert_eq!(split_key("x/"), Ok(("x", "")));
    for (namespace, name) in [("prod", "web"), ("", "node"), ("prod", "")] {
        let key = metadata_key(&pod(namespace, name)).unwrap();
        assert_eq!(split_key(&key), Ok((namespace, name)), "{key}");
        let parsed: ObjectName = key.parse().unwrap();
        assert_eq!(parsed.to_string(), key);
    }
}

#[test]
fn a_key_with_two_slashes_is_malformed_and_quoted() {
    let error = split_key("a/b/c").unwrap_err();
    assert!(error.to_string().contains("\"a/b/c\""), "{error}");
    assert!("a/b/c".parse::<ObjectName>().is_err());
}

#[test]
fn a_key_error_shows_the_object_and_its_cause() {
    let cause = metadata_key(&Opaque).unwrap_err();
    let error = KeyError::new(&Opaque, cause);
    assert!(error.to_string().contains("Opaque"), "{error}");
    assert_eq!(error.source().unwrap().to_string(), "object has no meta");
}

#[test]
fn a_key_error_shortens_a_large_object_between_characters() {
    let error = KeyError::new(&"ä".repeat(10_000), Arc::new(NoMetadata));
    assert!(error.to_string().len() < 400, "{} bytes", error.to_string().len());
    assert!(error.to_string().ends_with("ä..."), "it shows that something is missing");
}

#[test]
fn a_version_is_read_from_the_metadata_if_there_are_any() {
    struct Versioned;
    impl Described for Versioned {
        fn metadata(&self) -> Option<Metadata<'_>> {
            Some(Metadata { resource_version: "7", ..Metadata::default() })
        }
    }
    assert_eq!(metadata_version(&Versioned), Some("7"));
    assert_eq!(metadata_version(&Opaque), None);
    assert_eq!(Versioned.label("app"), None, "there are none unless somebody says so");
}

#[test]
fn equal_keys_have_equal_hashes() {
    let hasher = KeyHasher::new(&System::new());
    let (one, other) = (hasher.hashed("web"), hasher.hashed("web"));
    assert_eq!(one, other);
    assert_eq!(one.hash(), hasher.hash("web"));
    assert_ne!(one.hash(), hasher.hash("db"));
    assert_eq!(format!("{one:?}"), "\"web\"");
}

/// A name, which is the key, and a number: a version, or a rank.
pub(crate) type Object = (&'static str, u32);

/// The name is the key; an object without a name has none.
pub(crate) fn key_of(object: &Object) -> Result<&'static str, Cause> {
    match object.0 {
        "" => Err(Arc::new(NoMetadata)),
        "panic" => panic!("the key function has a bug"),
        name => Ok(name),
    }
}

/// A key with the same hash as every other key.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Colliding(pub(crate) &'static str);

impl std::hash::Hash for Colliding {
    fn hash<H: std::hash::Hasher>(&self, _: &mut H) {}
}

#[test]
fn keys_that_collide_are_kept_apart_in_every_store() {
    let key_of = |object: &(&'static str, u32)| Ok(Colliding(object.0));
    let system = System::new();
    let expiring = ExpiringStore::new(&system, key_of, TimeToLive(None));
    let indexed = IndexedStore::new(&system, key_of);
    let heap = KeyedHeap::new(&system, key_of, |one, other| one.1 < other.1);
    for object in [("a", 1), ("b", 2), ("c", 3), ("b", 4)] {
        expiring.add(object).unwrap();
        indexed.add(object).unwrap();
        heap.add(object).unwrap();
    }
    expiring.delete(("a", 0)).unwrap();
    indexed.delete(&("a", 0)).unwrap();
    heap.delete(&("a", 0)).unwrap();
    for (name, expected) in [("a", None), ("b", Some(("b", 4))), ("c", Some(("c", 3)))] {
        assert_eq!(expiring.get(&Colliding(name)), expected);
        assert_eq!(indexed.get(&Colliding(name)), expected);
        assert_eq!(heap.get(&Colliding(name)), expected);
    }
    indexed.assert_valid();
}

#[test]
fn a_hasher_shows_nothing_that_strangers_could_use() {
    assert_eq!(format!("{:?}", KeyHasher::fixed(0)), "KeyHasher");
    assert!(LookupFailed.to_string().contains("cannot be read"));
}
