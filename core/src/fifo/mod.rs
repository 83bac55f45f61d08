//! Queues of objects on their way to a store (client-go `tools/cache`), and what they share.
//!
//! Every call first runs the caller's own functions - the key function, the transformer - outside
//! the lock ([`Intake`]), so whatever they do, the queue is untouched until they have succeeded.

mod intake;
mod latch;
mod outcome;

pub use intake::{Intake, KeyFunction, Keyed, Listed, Transform};
pub use latch::SyncLatch;
pub(crate) use outcome::Stopwatch;
pub use outcome::{AfterPop, Closed, EnqueueError, SlowHook, SlowProcessing};
