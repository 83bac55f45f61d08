//! The parts that every Kubernetes controller stands on, with client-go's semantics.
//!
//! | part | what it is |
//! |---|---|
//! | [`runtime`] | the one seam: locks, time, threads, randomness; [`runtime::System`] is the real one |
//! | [`machine`] | pure state and steps, without lock or clock |
//! | [`monitor`] | the one shell that puts a machine under a lock and lets callers sleep |
//! | [`queue`] | the de-duplicating work queue |
//! | [`delaying_queue`] | the same with items that are added later |
//! | [`limited_queue`] | the same with failed items that come back when a limiter says so |
//! | [`priority_queue`] | the same again, the highest priority first |
//! | [`cancel`] | cancellation tokens: a tree, with deadlines |
//! | [`polling`] | back-off steps, loops with a period, polls |
//! | [`pool`] | workers at a queue: retries, panics, an orderly end |
//! | [`metrics`] | what queues tell about themselves |
//! | [`parallel`] | the bounded parallel loop |
//! | [`limiter`] | how long to wait: per item, shared, token bucket, back-off |
//! | [`store`] | stores of objects, with indices, expiry or an order; keys and tombstones |
//! | [`fifo`] | the queue of newest objects, and what queues of objects share |
//! | [`delta_fifo`] | the queue of changes, one entry per object |
//! | [`ordered_fifo`] | the queue of events in their order of arrival |
//! | [`elector`] | leader election over a lock object in a versioned store |
//!
//! An id in brackets, (`workqueue:WQ-21`), is the number of a rule of behaviour. Where the models
//! check that rule, or the reference departs from it, `models/requirements` says so under that
//! number.
//!
//! Everything is generic over [`runtime::Runtime`]. The same source runs on real threads and under
//! checkers that explore its schedules; this crate knows none of them and carries no hook for one.

pub mod cancel;
pub mod delaying_queue;
pub mod delta_fifo;
pub mod elector;
pub mod fifo;
pub mod limited_queue;
pub mod limiter;
pub mod machine;
pub mod metrics;
pub mod monitor;
pub mod ordered_fifo;
pub mod parallel;
pub mod polling;
pub mod pool;
pub mod priority_queue;
pub mod queue;
pub mod runtime;
pub mod store;

mod slab;
