//! A value that is made once, checked without the lock first: the flag is raised before the value is there.

use seatrial_sync::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use seatrial_sync::sync::{Arc, Mutex};
use seatrial_sync::thread;

use super::Program;

pub(super) const PROGRAM: Program = Program {
    name: "cell",
    broken: || both_read(true),
    mended: || both_read(false),
    says: "half made",
};

#[derive(Default)]
struct Cell {
    is_made: AtomicBool,
    lock: Mutex<()>,
    value: AtomicUsize,
}

impl Cell {
    fn get(&self, flag_first: bool) -> usize {
        if !self.is_made.load(Ordering::Acquire) {
            let _guard = self.lock.lock().unwrap();
            if !self.is_made.load(Ordering::Relaxed) {
                self.is_made.store(flag_first, Ordering::Release);
                self.value.store(7, Ordering::Relaxed);
                self.is_made.store(true, Ordering::Release);
            }
        }
        self.value.load(Ordering::Relaxed)
    }
}

fn both_read(flag_first: bool) {
    let cell = Arc::new(Cell::default());
    let theirs = Arc::clone(&cell);
    let other = thread::spawn(move || theirs.get(flag_first));
    assert_eq!(cell.get(flag_first), 7, "half made");
    assert_eq!(other.join().expect("it does not panic"), 7, "half made");
}
