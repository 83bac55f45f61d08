//! The parts that all queues of objects share: their entries, their contract, the calls about their progress, the
//! ends of calls, the detection of the first list, and taking the next entry.

mod calls;
mod contract;
mod delta;
mod event;
#[cfg(test)]
pub(crate) mod fixtures;
mod latch;
mod operations;
mod outcome;
mod taking;

pub(crate) use calls::{event_queue_calls, own_calls};
pub use contract::Queue;
pub use delta::{Delta, DeltaKind};
pub use event::{Bookmark, Event, Snapshot};
pub(crate) use latch::SyncLatch;
pub(crate) use operations::Progress;
pub use operations::{Close, HasSynced, IsClosed, Len, POPPERS, SYNC, WaitForSync};
pub(crate) use outcome::Stopwatch;
pub use outcome::{AfterPop, Closed, SlowHook, SlowProcessing};
pub(crate) use taking::{Taken, Taking};
