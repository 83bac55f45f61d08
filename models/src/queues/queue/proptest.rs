//! Random calls on one thread: the machine agrees with the sequential object, and broken machines
//! do not.

use std::sync::Arc;

use ::proptest::collection::vec;
use ::proptest::prelude::*;
use seatrial_core::queue::{Queue as Rules, Slot, Storage, WorkQueue};
use seatrial_core::runtime::System;

use super::op::{Op, check_bytes, check_on, decode};
use super::{Queue, mutants};
use crate::regressions::tried;
use crate::single_step::doubt::notices;
use crate::trial::{Component, MachineOf, MutantKind};

proptest! {
    #![proptest_config(tried!("queue", cases: 1024))]

    fn the_machine_agrees_with_the_sequential_object(bytes in vec(any::<u8>(), 0..300)) {
        check_bytes(&bytes);
    }

    fn storage_is_called_within_its_contract(bytes in vec(any::<u8>(), 0..80)) {
        check_on(&decode(&bytes), Box::new(Rules::<u8, Strict>::new(Strict::default())));
    }
}

/// A storage that is first in, first out, and checks the contract of a storage strictly.
#[derive(Default)]
struct Strict(Vec<(Slot, u8)>);

impl Strict {
    fn holds(&self, slot: Slot) -> bool {
        self.0.iter().any(|(held, _)| *held == slot)
    }
}

impl Storage<u8> for Strict {
    fn push(&mut self, slot: Slot, key: &u8) {
        assert!(!self.holds(slot) && self.0.iter().all(|(_, held)| held != key), "pushed twice");
        self.0.push((slot, *key));
    }

    fn pop(&mut self) -> Option<Slot> {
        assert!(!self.0.is_empty(), "popped when empty");
        Some(self.0.remove(0).0)
    }

    fn len(&self) -> usize {
        self.0.len()
    }

    fn touch(&mut self, slot: Slot, key: &u8) {
        assert!(self.0.contains(&(slot, *key)), "touched though it is not stored");
    }
}

fn a_done_item_is_kept_alive_by_nothing() {
    let queue = WorkQueue::new(&System::new());
    let key: Arc<str> = "default/web".into();
    for _ in 0..3 {
        queue.add(Arc::clone(&key));
        let (token, delivered) = queue.take().expect("it waits");
        queue.add(delivered);
        queue.done(token);
        let (token, delivered) = queue.take().expect("it was added while it was processed");
        queue.done(token);
        drop(delivered);
        assert_eq!(Arc::strong_count(&key), 1);
    }
}

fn single_items_are_still_added_after_a_shutdown() {
    assert_eq!(decode(&[0x0f, 0xc0]), [Op::ShutDown, Op::Add(2)]);
}

fn is_noticed(make: fn() -> MachineOf<Queue>) -> bool {
    notices(|bytes| check_on(&decode(bytes), make()))
}

fn random_bytes_notice_every_mutant() {
    let guilty = |kind| !matches!(kind, MutantKind::Equivalent(_));
    let mutants = mutants::all();
    // No bytes stand for a call that is given up, and only that shows a shell that forgets.
    let of_shells = mutants::of_shells();
    let is_of_a_shell = |name: &str| of_shells.iter().any(|mutant| mutant.name == name);
    let guilty = mutants.iter().filter(|it| guilty(it.kind) && !is_of_a_shell(it.name));
    let unnoticed = guilty.filter(|mutant| !is_noticed(mutant.make)).map(|mutant| mutant.name);
    assert_eq!(unnoticed.collect::<Vec<_>>(), [""; 0]);
}

fn random_bytes_acquit_equivalent_mutants_and_the_machine_that_ships() {
    for mutant in mutants::all() {
        if matches!(mutant.kind, MutantKind::Equivalent(_)) {
            assert!(!is_noticed(mutant.make), "{}", mutant.name);
        }
    }
    assert!(!is_noticed(Queue::machine));
}

pub(crate) const TESTS: seatrial::tests::Tests = seatrial::tests![
    the_machine_agrees_with_the_sequential_object,
    storage_is_called_within_its_contract,
    a_done_item_is_kept_alive_by_nothing,
    single_items_are_still_added_after_a_shutdown,
    random_bytes_notice_every_mutant,
    random_bytes_acquit_equivalent_mutants_and_the_machine_that_ships
];
