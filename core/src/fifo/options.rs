//! What can be chosen when a queue is made.

use std::fmt;

use super::SlowHook;

/// What can be chosen when a [`Fifo`](super::Fifo) is made.
#[derive(Clone, Default)]
pub struct Options {
    /// Who is told of slow processing.
    pub on_slow: Option<SlowHook>,
}

impl fmt::Debug for Options {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Options").field("on_slow", &self.on_slow.is_some()).finish()
    }
}
