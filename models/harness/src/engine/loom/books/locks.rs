//! The holders of each lock.

/// A lock that is wanted, or a share of it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::engine::loom) struct Wanted {
    pub(in crate::engine::loom) lock: usize,
    pub(in crate::engine::loom) shared: bool,
}

impl Wanted {
    pub(in crate::engine::loom) fn whole(lock: usize) -> Self {
        Self { lock, shared: false }
    }

    pub(in crate::engine::loom) fn share(lock: usize) -> Self {
        Self { lock, shared: true }
    }
}

/// The holders of one lock.
#[derive(Debug, Default)]
pub(super) struct Lock {
    pub(super) holder: Option<usize>,
    /// The threads that share it.
    pub(super) readers: Vec<usize>,
}

impl Lock {
    /// Tells whether a thread that wants it, or a share of it, has to wait.
    pub(super) fn withholds(&self, shared: bool) -> bool {
        self.holder.is_some() || !shared && !self.readers.is_empty()
    }

    pub(super) fn take(&mut self, me: usize, shared: bool) {
        if shared {
            self.readers.push(me);
        } else {
            self.holder = Some(me);
        }
    }

    /// Returns the threads that have it, or a share of it.
    pub(super) fn owners(&self) -> impl Iterator<Item = usize> {
        self.holder.into_iter().chain(self.readers.iter().copied())
    }
}
