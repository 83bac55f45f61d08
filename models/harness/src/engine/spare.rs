//! Cores that have nothing to do: a large search takes them.

use std::sync::atomic::{AtomicIsize, Ordering};

/// How many there are.
static SPARE: AtomicIsize = AtomicIsize::new(0);

/// Cores that others may use as long as this lives.
#[derive(Debug)]
pub(crate) struct Spare(isize);

impl Spare {
    /// Says that some cores have nothing to do.
    pub(crate) fn some(cores: usize) -> Self {
        let cores = isize::try_from(cores).unwrap_or(0);
        SPARE.fetch_add(cores, Ordering::Relaxed);
        Self(cores)
    }

    /// Takes one of them; it is spare again when this is dropped.
    #[cfg(feature = "shuttle")]
    pub(crate) fn take() -> Option<Self> {
        let one_less = |spare| (spare > 0).then(|| spare - 1);
        let taken = SPARE.fetch_update(Ordering::Relaxed, Ordering::Relaxed, one_less);
        taken.ok().map(|_| Self(-1))
    }
}

impl Drop for Spare {
    fn drop(&mut self) {
        SPARE.fetch_sub(self.0, Ordering::Relaxed);
    }
}
