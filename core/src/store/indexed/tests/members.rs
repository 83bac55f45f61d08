//! The slots that have a value.

use std::collections::BTreeSet;

use super::super::members::Members;
use crate::runtime::{Ambient, Manual};

fn all(members: &Members) -> Vec<u32> {
    let mut all = Vec::with_capacity(members.len());
    members.for_each(|slot| all.push(slot));
    all
}

fn count_up(end: u32) -> Members {
    let mut members = Members::One(0);
    (1..end).for_each(|slot| members.insert(slot));
    members.check();
    members
}

#[test]
fn slots_are_shown_in_their_order_each_once() {
    let mut members = Members::One(7);
    [3, 9, 7, 3, 8].into_iter().for_each(|slot| members.insert(slot));
    assert_eq!((all(&members), members.len()), (vec![3, 7, 8, 9], 4));
    assert!(members.contains(8) && !members.contains(4));
    assert!(members.remove(8) && members.remove(4) && members.remove(3) && members.remove(9));
    assert!(!members.remove(7), "none is left");
}

#[test]
fn one_that_is_alone_leaves_only_itself() {
    let mut members = Members::One(7);
    members.insert(7);
    assert!(members.remove(8));
    assert!(members.contains(7) && !members.contains(8));
    assert!(!members.remove(7));
}

#[test]
fn a_copy_stays_as_it_is() {
    let mut members = count_up(2_000);
    let copy = members.clone();
    (0..2_000).step_by(2).for_each(|slot| assert!(members.remove(slot)));
    assert_eq!((copy.len(), members.len()), (2_000, 1_000));
    assert_eq!(all(&copy), (0..2_000).collect::<Vec<_>>());
}

/// Adds more than it removes for a while, then the reverse, and compares with the standard set.
#[test]
fn however_many_come_and_go_it_is_those_that_are_there() {
    let random = Manual::seeded(1);
    let (mut members, mut expected) = (Members::One(0), BTreeSet::from([0]));
    let mut copies = Vec::new();
    for round in 0..40_000_u32 {
        let slot = random.choose(6_000) + 1; // zero stays, so that there is always one
        let adds = random.choose(10) < if round < 20_000 { 7 } else { 2 };
        if adds {
            members.insert(slot);
            expected.insert(slot);
        } else {
            assert!(members.remove(slot));
            expected.remove(&slot);
        }
        assert_eq!(members.contains(slot), adds);
        if round % 1_000 == 0 {
            members.check();
            assert!(all(&members).into_iter().eq(expected.iter().copied()), "round {round}");
        }
        if round % 10_000 == 0 {
            copies.push((members.clone(), expected.clone()));
        }
    }
    for (copy, expected) in copies {
        assert!(all(&copy).into_iter().eq(expected), "it stays as it was");
    }
    assert!((500..2_500).contains(&members.len()), "it has grown and shrunk: {}", members.len());
}
