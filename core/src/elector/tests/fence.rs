//! The tokens that a gate admits.

use crate::elector::{Fence, Gate, Version};

fn token(uid: &str, transitions: i64, version: &str) -> Fence {
    Fence { uid: uid.into(), transitions, version: Version::new(version) }
}

#[test]
fn effects_of_an_earlier_term_are_refused() {
    let mut gate = Gate::new();
    assert!(gate.admit(&token("a", 3, "10")));
    assert!(gate.admit(&token("a", 3, "10")), "again");
    assert!(gate.admit(&token("a", 4, "20")));
    assert!(!gate.admit(&token("a", 3, "10")));
    assert_eq!(gate.highest(), Some(&token("a", 4, "20")));
}

#[test]
fn a_lock_created_anew_begins_a_new_epoch_although_its_count_is_lower() {
    let mut gate = Gate::new();
    assert!(gate.admit(&token("a", 9, "10")));
    assert!(gate.admit(&token("b", 0, "20")));
    assert!(!gate.admit(&token("a", 9, "10")));
    assert!(!gate.admit(&token("c", 5, "15")), "an older epoch, by its version");
}

#[test]
fn epochs_without_ordered_versions_go_by_first_sight() {
    let mut gate = Gate::new();
    assert!(gate.admit(&token("a", 9, "x")));
    assert!(gate.admit(&token("b", 0, "y")));
    assert!(!gate.admit(&token("a", 99, "x")));
    assert!(gate.admit(&token("c", 0, "z")));
    assert!(!gate.admit(&token("b", 1, "y")), "the one before is past");
    assert!(!gate.admit(&token("a", 99, "x")), "and so is the one before that (SF-14)");
}

#[test]
fn terms_of_one_lock_are_ordered_by_their_count_whatever_the_versions() {
    let mut gate = Gate::new();
    assert!(gate.admit(&token("a", 4, "not a number")));
    assert!(!gate.admit(&token("a", 3, "nor this")));
}

#[test]
fn a_gate_of_many_epochs_keeps_little_and_admits_no_past_one() {
    let mut gate = Gate::new();
    let uid = |number: u32| format!("lock-{number}");
    for number in 0..5_000 {
        assert!(gate.admit(&token(&uid(number), 0, "text")));
    }
    for number in 4_000..4_999 {
        assert!(!gate.admit(&token(&uid(number), 9, "text")), "{number}");
    }
    assert_eq!(gate.remembered(), 1_024);
}
