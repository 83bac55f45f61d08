//! A priority queue reports how much is unfinished.

use std::hash::Hash;
use std::time::Duration;

use crate::limiter::Limiter;
use crate::metrics::Measured;
use crate::queue::Key;
use crate::runtime::Runtime;

use super::{Observer, PriorityQueue};

impl<K: Key + Hash, R: Runtime, L: Limiter<K>, O: Observer> Measured for PriorityQueue<K, R, L, O> {
    fn refresh_metrics(&self, every: Duration) {
        Self::refresh_metrics(self, every);
    }
}
