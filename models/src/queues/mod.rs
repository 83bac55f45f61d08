//! The work queues, and the workers at them.

pub mod delaying_queue;
pub(crate) mod items;
pub mod limited_queue;
pub mod pool;
pub mod priority_queue;
pub mod queue;
