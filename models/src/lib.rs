//! The components of `seatrial-core` under trial, and the program that tries them.
//!
//! The checker is [`seatrial`], which knows none of the components; its modules are re-exported
//! here under the same names. The page of each component states its promises and the bugs that it
//! is tried with.

#![cfg_attr(docsrs, feature(doc_cfg))]

pub mod apiserver;
pub mod cancel;
pub mod catalogue;
pub mod conformance;
pub mod election;
pub mod events;
pub mod limiters;
pub mod queues;
mod regressions;
pub mod request;
mod shared;
pub mod shell;
pub mod stores;
pub mod tests;
pub mod wire;

pub use election::{candidate, cluster, elector};
pub use events::{
    delivery, delta_fifo, feed, fifo, informer, ordered_fifo, own_writes, reflector, registry,
    replica_set,
};
pub use limiters::{backoff, limiter, token_bucket};
pub use queues::{channel, delaying_queue, limited_queue, pool, priority_queue, queue};
pub use stores::{expiring_store, heap, indexed_store, mutation_cache};
pub use wire::{address, client, leases, watch};

pub use seatrial::{
    canary, check, cli, engine, picture, random, report, runner, seam, single_step, texts, toy,
    trial,
};
