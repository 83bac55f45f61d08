//! The slab compared with a plain map.

use std::collections::BTreeMap;
use std::hash::BuildHasher;

use quickcheck::quickcheck;

use super::*;
use crate::runtime::Manual;

/// Few hashes for many keys, so that keys collide.
fn hash(key: u8) -> u64 {
    u64::from(key % 3)
}

quickcheck! {
    fn a_slab_holds_what_a_map_holds(calls: Vec<(u8, bool)>) -> bool {
        let (mut slab, mut map) = (Slab::<u8, u32>::new(), BTreeMap::new());
        for (n, (key, add)) in (0..).zip(calls) {
            if add {
                let slot = slab.intern(&mut Some(key), hash(key)).unwrap();
                *slab.value_mut(slot) = n;
                map.insert(key, n);
            } else if let Some(slot) = slab.find(Item::new(&key, hash(key))) {
                assert_eq!(slab.remove(slot), Some(key));
                assert!(map.remove(&key).is_some());
            }
        }
        let held: BTreeMap<_, _> = slab.iter().map(|(slot, n)| (*slab.item(slot).key(), *n)).collect();
        held == map && slab.len() == map.len()
    }
}

#[test]
fn a_freed_slot_is_used_again_and_keeps_its_value() {
    let mut slab = Slab::<_, u32>::new();
    let first = slab.intern(&mut Some("a"), 1).unwrap();
    *slab.value_mut(first) = 7;
    slab.remove(first);
    let second = slab.intern(&mut Some("b"), 2).unwrap();
    assert_eq!((first, *slab.value(second)), (second, 7));
}

#[test]
fn interning_takes_a_new_key_and_leaves_a_known_one() {
    let mut slab = Slab::<_, ()>::new();
    let mut key = Some(String::from("a"));
    let slot = slab.intern(&mut key, 9);
    assert_eq!(key, None);
    let mut again = Some(String::from("a"));
    assert_eq!(slab.intern(&mut again, 9), slot);
    assert!(again.is_some());
    assert_eq!(slab.intern(&mut None, 9), None);
    assert_eq!(slab.intern_copy(Item::new(&String::from("a"), 9)), slot.unwrap());
}

#[test]
fn folding_a_hash_twice_is_folding_it_once() {
    let once = Item::new(&7, 0x0123_4567_89AB_CDEF);
    assert_eq!(once.key(), &7);
    assert_eq!(once.hash(), 0x0123_4567 ^ 0x89AB_CDEF);
    assert_eq!(Item::new(&(), u64::from(once.hash())).hash(), once.hash());
}

#[test]
fn hashers_are_keyed_by_the_runtime_and_nothing_else() {
    let hash = |seed| hasher(&Manual::seeded(seed)).hash_one("default/web");
    assert_eq!(hash(1), hash(1));
    assert_ne!(hash(1), hash(2), "strangers cannot tell how their names collide");
}

#[test]
fn a_copy_made_in_place_holds_what_the_original_holds_and_goes_its_own_way() {
    let of = |keys: std::ops::Range<u32>| {
        let mut slab = Slab::<u32, u32>::new();
        for key in keys {
            let slot = slab.intern(&mut Some(key), key.into()).unwrap();
            *slab.value_mut(slot) = key * 10;
        }
        slab
    };
    let find = |slab: &Slab<u32, u32>, key: u32| {
        slab.find(Item::new(&key, key.into())).map(|slot| *slab.value(slot))
    };
    let mut source = of(0..100);
    let freed = source.find(Item::new(&7, 7)).unwrap();
    source.remove(freed);
    for mut copy in [of(0..0), of(50..500)] {
        copy.clone_from(&source);
        assert_eq!(copy.len(), 99);
        assert!((0..500).all(|key| find(&copy, key) == find(&source, key)));
        assert_eq!(copy.intern(&mut Some(600), 600), Some(freed), "the same slot is free");
        assert_eq!((copy.len(), find(&copy, 600), find(&source, 600)), (100, Some(70), None));
        for key in 600..900 {
            copy.intern(&mut Some(key), key.into());
        }
        assert_eq!((copy.len(), source.len()), (399, 99));
    }
}

#[test]
fn all_freed_slots_are_used_again_before_a_new_one_is() {
    let mut slab = Slab::<u32, ()>::new();
    let intern = |slab: &mut Slab<_, _>, key: u32| slab.intern(&mut Some(key), key.into());
    let slots: Vec<_> = (0..5).filter_map(|key| intern(&mut slab, key)).collect();
    for slot in &slots[1..4] {
        slab.remove(*slot);
    }
    let again: Vec<_> = (5..9).filter_map(|key| intern(&mut slab, key)).collect();
    assert_eq!(again, [slots[1], slots[2], slots[3], Slot(5)]);
}

/// Counts the chunks that have memory.
fn chunks<K: Eq, V: Value>(slab: &Slab<K, V>) -> usize {
    slab.chunks.iter().filter(|chunk| chunk.entries.is_some()).count()
}

#[test]
fn what_a_burst_took_is_given_back_as_it_drains() {
    const ITEMS: u32 = 10_000;
    let mut slab = Slab::<u32, ()>::new();
    for round in 0..2 {
        let slots: Vec<_> =
            (0..ITEMS).filter_map(|key| slab.intern(&mut Some(key), key.into())).collect();
        assert_eq!(chunks(&slab), ITEMS.div_ceil(CHUNK as u32) as usize, "round {round}");
        for (left, slot) in (0..slots.len()).rev().zip(slots) {
            slab.remove(slot);
            assert!(chunks(&slab) <= left.div_ceil(CHUNK) + 2, "{left} are left");
        }
        assert_eq!((slab.len(), chunks(&slab)), (0, 1), "one is kept for the next");
    }
}

#[test]
fn a_count_goes_on_where_the_memory_of_its_slot_was_given_back() {
    let mut slab = Slab::<u32, u32>::new();
    let fill = |slab: &mut Slab<u32, u32>| {
        let intern = |key: u32| slab.intern(&mut Some(key), key.into());
        (0..1_000).filter_map(intern).collect::<Vec<_>>()
    };
    let slots = fill(&mut slab);
    let mut counts = std::collections::BTreeMap::new();
    for (slot, count) in slots.into_iter().zip(10..) {
        *slab.value_mut(slot) = count;
        counts.insert(slot, count);
        slab.remove(slot);
    }
    assert_eq!(slab.at(0), None, "nobody finds what is gone");
    for slot in fill(&mut slab) {
        assert!(counts.get(&slot).is_none_or(|count| slab.value(slot) >= count));
    }
}
