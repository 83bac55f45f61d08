//! The parts that every Kubernetes controller stands on, with client-go's semantics.
//!
//! | part | what it is |
//! |---|---|
//! | [`runtime`] | the one seam: locks, time, threads, randomness; [`runtime::System`] is the real one |
//! | [`machine`] | pure state and steps, without lock or clock |
//! | [`monitor`] | the one shell that puts a machine under a lock and lets callers sleep |
//! | [`queue`] | the de-duplicating work queue |
//! | [`elector`] | leader election over a lock object in a versioned store |
//!
//! Everything is generic over [`runtime::Runtime`]. The same source runs on real threads and under
//! checkers that explore its schedules; this crate knows none of them and carries no hook for one.

pub mod elector;
pub mod machine;
pub mod monitor;
pub mod queue;
pub mod runtime;
