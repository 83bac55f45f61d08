//! The parts that every Kubernetes controller stands on, with client-go's semantics.
//!
//! | part | what it is |
//! |---|---|
//! | [`runtime`] | the one seam: locks, time, threads, randomness; [`runtime::System`] is the real one |
//! | [`machine`] | pure state and steps, without lock or clock |
//! | [`monitor`] | the one shell that puts a machine under a lock and lets callers sleep |
//! | [`queue`] | the de-duplicating work queue |
//! | [`store`] | keys, tombstones and what a consumer knows |
//! | [`fifo`] | the queue of newest objects, and what queues of objects share |
//! | [`delta_fifo`] | the queue of changes, one entry per object |
//! | [`ordered_fifo`] | the queue of events in their order of arrival |
//!
//! Everything is generic over [`runtime::Runtime`]. The same source runs on real threads and under
//! checkers that explore its schedules; this crate knows none of them and carries no hook for one.

pub mod delta_fifo;
pub mod fifo;
pub mod machine;
pub mod monitor;
pub mod ordered_fifo;
pub mod queue;
pub mod runtime;
pub mod store;
