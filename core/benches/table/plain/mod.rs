//! The reference's own algorithms: plain containers under one lock.
//!
//! They hash as ours do. Rows may be measured once more with SipHash, which is what the containers
//! of the standard library do unless they are told otherwise.

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

/// How a plain container hashes.
pub(crate) trait Hashing: BuildHasher + Default + Send + Sync {}
impl<S: BuildHasher + Default + Send + Sync> Hashing for S {}
