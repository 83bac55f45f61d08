//! Two accounts, each transfer locks where it takes from first: two in opposite directions wait for each other.

use seatrial_sync::sync::{Arc, Mutex};
use seatrial_sync::thread;

use super::Program;

pub(super) const PROGRAM: Program = Program {
    name: "transfer",
    broken: || there_and_back(false),
    mended: || there_and_back(true),
    says: "terminates",
};

type Accounts = Arc<[Mutex<i64>; 2]>;

fn transfer(accounts: &Accounts, from: usize, to: usize, in_order: bool) {
    let (mut first, mut second) = (from, to);
    if in_order && from > to {
        (first, second) = (to, from);
    }
    let mut first = accounts[first].lock().unwrap();
    let mut second = accounts[second].lock().unwrap();
    let change = if in_order && from > to { -1 } else { 1 };
    *first -= change;
    *second += change;
}

fn there_and_back(in_order: bool) {
    let accounts = Accounts::new([Mutex::new(1), Mutex::new(1)]);
    let theirs = Arc::clone(&accounts);
    let other = thread::spawn(move || transfer(&theirs, 0, 1, in_order));
    transfer(&accounts, 1, 0, in_order);
    other.join().unwrap();
    assert_eq!(accounts.each_ref().map(|account| *account.lock().unwrap()), [1, 1]);
}
