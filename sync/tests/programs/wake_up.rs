//! A gate whose flag is set without the lock: the only wake-up may come between the look and the sleep.

use seatrial_sync::sync::atomic::{AtomicBool, Ordering};
use seatrial_sync::sync::{Arc, Condvar, Mutex};
use seatrial_sync::thread;

use super::Program;

pub(super) const PROGRAM: Program =
    Program { name: "wake_up", broken: || gate(false), mended: || gate(true), says: "terminates" };

#[derive(Default)]
struct Gate {
    lock: Mutex<()>,
    is_open: AtomicBool,
    opened: Condvar,
}

fn gate(locks: bool) {
    let gate = Arc::new(Gate::default());
    let waits = thread::spawn({
        let gate = Arc::clone(&gate);
        move || {
            let mut guard = gate.lock.lock().unwrap();
            while !gate.is_open.load(Ordering::SeqCst) {
                guard = gate.opened.wait(guard).unwrap();
            }
        }
    });
    let guard = locks.then(|| gate.lock.lock().unwrap());
    gate.is_open.store(true, Ordering::SeqCst);
    drop(guard);
    gate.opened.notify_all();
    waits.join().unwrap();
}
