//! Values whose destructors panic.

use std::hash::{Hash, Hasher};
use std::panic::panic_any;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::task::Wake;
use std::thread::panicking;

/// Lets destructors panic, and counts those that did.
#[derive(Debug, Default)]
pub(crate) struct Fuse {
    lit: AtomicBool,
    bursts: AtomicUsize,
}

impl Fuse {
    /// From now on they panic.
    pub(crate) fn light(&self) {
        self.lit.store(true, Ordering::SeqCst);
    }

    /// Ends that, and returns how many of them panicked since the last time.
    pub(crate) fn bursts(&self) -> usize {
        self.lit.store(false, Ordering::SeqCst);
        self.bursts.swap(0, Ordering::SeqCst)
    }

    /// A second panic would end the process, and with it all tests. It is not counted.
    fn burn(&self) {
        if self.lit.load(Ordering::SeqCst) && !panicking() {
            self.bursts.fetch_add(1, Ordering::SeqCst);
            panic_any("a bug of the destructor");
        }
    }
}

/// A key, an object, a message or a waker whose destructor panics while the fuse is lit.
#[derive(Clone, Debug)]
pub(crate) struct Bursting(pub(crate) u8, pub(crate) Arc<Fuse>);

impl Drop for Bursting {
    fn drop(&mut self) {
        self.1.burn();
    }
}

impl PartialEq for Bursting {
    fn eq(&self, other: &Self) -> bool {
        self.0 == other.0
    }
}

impl Eq for Bursting {}

impl Hash for Bursting {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.hash(state);
    }
}

impl Wake for Bursting {
    fn wake(self: Arc<Self>) {}
}
