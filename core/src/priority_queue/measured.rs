//! A priority queue reports how much is unfinished.

use std::hash::{BuildHasher, Hash};
use std::time::Duration;

use crate::limiter::Limiter;
use crate::machine::Host;
use crate::metrics::Measured;
use crate::queue::Key;
use crate::runtime::Runtime;

use super::{Observer, Prioritized, PriorityQueue};

impl<K, R, L, O, B, H> Measured for PriorityQueue<K, R, L, O, B, H>
where
    K: Key + Hash,
    R: Runtime,
    L: Limiter<K>,
    O: Observer,
    B: BuildHasher + Send + Sync + 'static,
    H: Host<Prioritized<K, L, O>>,
{
    fn refresh_metrics(&self, every: Duration) {
        Self::refresh_metrics(self, every);
    }
}
