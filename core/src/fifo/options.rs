//! The options of a FIFO.

use std::fmt;

use super::SlowHook;

/// The options of a [`Fifo`](super::Fifo).
#[derive(Clone, Default)]
pub struct Options {
    /// The function that is told of slow processing.
    pub on_slow: Option<SlowHook>,
}

impl fmt::Debug for Options {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Options").field("on_slow", &self.on_slow.is_some()).finish()
    }
}
