//! The work queues, the workers at them, and channels.

pub mod channel;
pub mod delaying_queue;
pub(crate) mod fixtures;
pub mod limited_queue;
pub mod pool;
pub mod priority_queue;
pub mod queue;
pub(crate) mod tests;
