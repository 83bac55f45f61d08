//! The reference's own algorithms: plain containers under one lock.
//!
//! They use the same hash function as ours. Rows may be measured a second time with SipHash, the
//! default of the standard library's containers.

pub(crate) mod delaying;
pub(crate) mod delta_fifo;
pub(crate) mod ordered_fifo;
pub(crate) mod priority;
pub(crate) mod queue;
pub(crate) mod store;

use std::hash::BuildHasher;

pub(crate) use std::hash::RandomState as SipHash;

pub(crate) use foldhash::fast::RandomState as Same;

pub(crate) use hashbrown::{HashMap, HashSet};

/// The hash function of a plain container.
pub(crate) trait Hashing: BuildHasher + Default + Send + Sync {}
impl<S: BuildHasher + Default + Send + Sync> Hashing for S {}
