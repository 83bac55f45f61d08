use std::fmt;

use quickcheck::quickcheck;

use super::*;

impl<T: Default> Table<T> {
    /// Checks what a search relies on.
    fn check(&self) {
        let standing: Vec<_> = self.places.iter().filter(|place| !place.is_empty()).collect();
        assert_eq!(standing.len(), self.len, "the table counts who stands in it");
        assert!(self.len * OF <= self.homes * TAKEN + OF, "it grows in time");
        assert!(
            standing.is_sorted_by_key(|place| place.spread()),
            "they stand in the order of their hashes"
        );
        for (at, place) in self.places.iter().enumerate().filter(|(_, at)| !at.is_empty()) {
            let home = self.home(place.spread());
            assert!(home <= at, "nobody stands before its place");
            let before = &self.places[home..at];
            assert!(!before.iter().any(Place::is_empty), "a search does not end too soon");
        }
    }
}

/// Calls as `(which slot, whether to remove it)`; the hash is computed from the slot. A table of
/// numbers alone and one with something at hand.
fn agrees(calls: Vec<(u8, bool)>, hash: impl Fn(u32) -> u32) -> bool {
    let at_hand_with = |slot: u32| Some(u64::from(slot) + 1_000);
    agrees_with(&calls, &hash, |_| ()) && agrees_with(&calls, &hash, at_hand_with)
}

fn agrees_with<T: Default + PartialEq + fmt::Debug>(
    calls: &[(u8, bool)],
    hash: impl Fn(u32) -> u32,
    at_hand_with: impl Fn(u32) -> T,
) -> bool {
    let (mut table, mut there) = (Table::new(), [false; 256]);
    for &(slot, remove) in calls {
        let (slot, hash) = (u32::from(slot), hash(slot.into()));
        let with = at_hand_with(slot);
        match table.place(hash, |other, at_hand| other == slot && *at_hand == with) {
            Ok(at) => {
                assert!(there[slot as usize]);
                assert_eq!(table.find(hash, |other| other == slot), Ok(slot));
                assert_eq!(table.at(at), (slot, &with));
                assert_eq!(*table.at_mut(at).1, with);
                if remove && slot % 3 == 0 {
                    table.remove(hash, slot);
                } else if remove {
                    assert_eq!(table.remove_at(at), with);
                }
                there[slot as usize] = !remove;
            }
            Err(at) => {
                assert!(!there[slot as usize]);
                assert_eq!(table.find(hash, |other| other == slot), Err(at));
                table.insert(at, hash, slot, with);
                there[slot as usize] = true;
            }
        }
        table.check();
        for place in table.places.iter().filter(|place| !place.is_empty()) {
            assert_eq!(place.with, at_hand_with(place.slot()), "it goes with its slot");
        }
    }
    table.len() == there.iter().filter(|there| **there).count()
}

quickcheck! {
    fn good_hashes_are_found(calls: Vec<(u8, bool)>) -> bool {
        agrees(calls, |slot| slot.wrapping_mul(0x85EB_CA6B) ^ slot >> 3)
    }

    fn equal_hashes_are_told_apart(calls: Vec<(u8, bool)>) -> bool {
        agrees(calls, |slot| slot % 2)
    }

    fn the_greatest_hashes_find_places_behind_the_last(calls: Vec<(u8, bool)>) -> bool {
        let unspread = 0x9E37_79B1_u32.wrapping_pow((1 << 30) - 1); // its inverse
        assert_eq!(spread(unspread), 1);
        agrees(calls, |slot| (u32::MAX - slot % 20).wrapping_mul(unspread))
    }
}

#[test]
fn a_table_with_room_does_not_grow_before_it_has_so_many() {
    for items in [0, 1, 4, 5, 1000, 1003] {
        let mut table = Table::<()>::with_room(items as usize);
        let homes = table.homes;
        assert!(homes <= items as usize * OF / TAKEN + 1, "nor has it more than it needs");
        for slot in 0..items {
            table.insert(table.find(slot, |_| false).unwrap_err(), slot, slot, ());
            table.check();
        }
        assert_eq!(table.homes, homes);
    }
}

/// So many stand behind the last place that half as many places more are fewer than there are.
#[test]
fn nobody_behind_the_last_place_is_lost_when_a_table_grows() {
    let mut table = Table::<()>::new();
    for slot in 0..300 {
        let hash = 0x9E37_79B1_u32.wrapping_pow((1 << 30) - 1).wrapping_neg();
        assert_eq!(spread(hash), u32::MAX);
        table.insert(table.find(hash, |_| false).unwrap_err(), hash, slot, ());
        table.check();
        (0..=slot).for_each(|slot| assert_eq!(table.find(hash, |at| at == slot), Ok(slot)));
    }
}

#[test]
fn a_copy_made_in_place_grows_when_its_original_would() {
    let filled = |items: u32| {
        let mut table = Table::new();
        (0..items).for_each(|slot| {
            table.insert(table.find(slot, |_| false).unwrap_err(), slot, slot, ());
        });
        table
    };
    let mut copy = filled(1000);
    copy.clone_from(&filled(3));
    for slot in 3..100 {
        copy.insert(copy.find(slot, |_| false).unwrap_err(), slot, slot, ());
        copy.check();
    }
}

#[test]
fn few_places_are_empty_and_few_are_displaced_far() {
    const ITEMS: u32 = 50_000;
    let mut table = Table::new();
    for slot in 0..ITEMS {
        let hash = slot.wrapping_mul(0x85EB_CA6B) ^ slot >> 7;
        let at = table.find(hash, |_| false).unwrap_err();
        table.insert(at, hash, slot, ());
        assert!(table.homes <= 2 * (table.len + LEAST), "{} for {slot}", table.homes);
    }
    table.check();
    assert!(table.places.capacity() < 2 * ITEMS as usize);
    let displaced = |(at, place): (usize, &Place<()>)| at - table.home(place.spread());
    let standing = table.places.iter().enumerate().filter(|(_, place)| !place.is_empty());
    let in_all: usize = standing.map(displaced).sum();
    assert!(in_all < 3 * ITEMS as usize, "{in_all} places in all");
}
