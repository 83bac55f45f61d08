//! What std promises of a panic.

use std::panic::{AssertUnwindSafe, catch_unwind};

use seatrial_sync::sync::{Arc, Mutex, RwLock, mpsc};
use seatrial_sync::thread;

use super::Body;

/// All of them.
pub(crate) const ALL: &[(&str, Body)] = &[
    ("a_panic_poisons", Body::Thread(a_panic_poisons)),
    ("who_does_not_panic_does_not_poison", Body::Thread(who_does_not_panic_does_not_poison)),
    ("one_panic_after_the_other_poisons", Body::Thread(one_panic_after_the_other_poisons)),
];

fn a_panic_poisons() {
    let shared = Arc::new((Mutex::new(1), RwLock::new(1)));
    let theirs = Arc::clone(&shared);
    let panics = thread::spawn(move || {
        let (_guard, _writes) = (theirs.0.lock().unwrap(), theirs.1.write().unwrap());
        panic!("on purpose");
    });
    assert!(panics.join().is_err());
    assert!(shared.0.is_poisoned() && shared.1.is_poisoned());
    let value = *shared.0.lock().expect_err("poisoned").into_inner();
    assert!(value == 1 && shared.1.read().is_err() && shared.1.try_write().is_err());
    shared.0.clear_poison();
    shared.1.clear_poison();
    assert!(shared.0.lock().is_ok() && shared.1.read().is_ok());
    let reads = catch_unwind(AssertUnwindSafe(|| {
        let _reads = shared.1.read().unwrap();
        panic!("while it reads");
    }));
    assert!(reads.is_err() && !shared.1.is_poisoned(), "a reader leaves nothing half done");
}

fn who_does_not_panic_does_not_poison() {
    let shared = Arc::new((Mutex::new(0), Mutex::new(0)));
    let (sender, receiver) = mpsc::channel::<u8>();
    let theirs = Arc::clone(&shared);
    let panics = thread::spawn(move || {
        let _guard = theirs.0.lock().unwrap();
        let _sends = sender; // its end takes a lock, before the guard is dropped
        panic!("on purpose");
    });
    let guard = shared.1.lock().unwrap();
    assert!(!thread::panicking(), "another one does");
    drop(guard);
    assert!(panics.join().is_err() && receiver.recv().is_err());
    assert!(shared.0.is_poisoned() && !shared.1.is_poisoned());
}

fn one_panic_after_the_other_poisons() {
    let shared = Arc::new((Mutex::new(0), Mutex::new(0)));
    let theirs = Arc::clone(&shared);
    let first = thread::spawn(move || {
        let _guard = theirs.0.lock().unwrap();
        panic!("on purpose");
    });
    let theirs = Arc::clone(&shared);
    let second = thread::spawn(move || {
        let _guard = theirs.1.lock().unwrap();
        first.join().unwrap();
    });
    assert!(second.join().is_err());
    assert!(shared.0.is_poisoned() && shared.1.is_poisoned());
}
