//! Chance, and what panics by it: keys and wakers.

use std::cell::Cell;
use std::hash::{Hash, Hasher};
use std::panic::{AssertUnwindSafe, catch_unwind, panic_any};
use std::sync::Arc;
use std::task::Wake;
use std::time::Duration;

use crate::KEYS;

/// Numbers that depend on a seed alone.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn below(&mut self, end: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % end
    }

    pub(crate) fn key(&mut self) -> usize {
        self.below(KEYS as u64) as usize
    }

    pub(crate) fn delay(&mut self) -> Duration {
        Duration::from_micros(self.below(3_000))
    }
}

/// What keys and wakers panic with here, which is no failure.
pub(crate) struct Expected;

thread_local! {
    /// How often keys may be touched on this thread before one panics; 0 if none will.
    static FUSE: Cell<u64> = const { Cell::new(0) };
}

/// A key that panics when it is touched on a thread whose fuse burns.
#[derive(Debug)]
pub(crate) struct Key(pub(crate) usize);

impl Key {
    fn touched(&self) -> usize {
        FUSE.with(|fuse| match fuse.get() {
            0 => self.0,
            left => {
                fuse.set(left - 1);
                if left == 1 { panic_any(Expected) } else { self.0 }
            }
        })
    }
}

impl Clone for Key {
    fn clone(&self) -> Self {
        Self(self.touched())
    }
}

impl PartialEq for Key {
    fn eq(&self, other: &Self) -> bool {
        self.touched() == other.0
    }
}

impl Eq for Key {}

impl Hash for Key {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.touched().hash(state);
    }
}

/// Calls something during which a key may panic; nothing if one did.
pub(crate) fn lit<T>(random: &mut Random, call: impl FnOnce() -> T) -> Option<T> {
    FUSE.set(1 + random.below(5));
    let returned = catch_unwind(AssertUnwindSafe(call));
    FUSE.set(0);
    match returned {
        Ok(value) => Some(value),
        Err(panic) => {
            assert!(panic.is::<Expected>(), "only keys panic");
            None
        }
    }
}

/// A waker that panics.
pub(crate) struct Bomb;

impl Wake for Bomb {
    fn wake(self: Arc<Self>) {
        panic_any(Expected);
    }
}
