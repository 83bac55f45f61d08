//! What all queues of objects share: what they offer, how their calls end, when the first list has
//! been processed, and how the next entry is taken.

mod calls;
mod contract;
mod latch;
mod outcome;
mod taking;

pub(crate) use calls::{event_queue_calls, own_calls};
pub use contract::Queue;
pub(crate) use latch::SyncLatch;
pub(crate) use outcome::Stopwatch;
pub use outcome::{AfterPop, Closed, SlowHook, SlowProcessing};
pub(crate) use taking::{Taken, Taking};
