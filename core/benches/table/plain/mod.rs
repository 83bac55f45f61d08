//! The reference's own algorithms: plain containers under one lock.

pub(crate) mod delaying;
pub(crate) mod delta_fifo;
pub(crate) mod ordered_fifo;
pub(crate) mod priority;
pub(crate) mod queue;
pub(crate) mod store;

use foldhash::fast::RandomState;

pub(crate) type HashMap<K, V> = hashbrown::HashMap<K, V, RandomState>;
pub(crate) type HashSet<K> = hashbrown::HashSet<K, RandomState>;
