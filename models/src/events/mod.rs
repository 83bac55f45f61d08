//! The queues of objects and of events, informers, and a controller that stands on them.

pub mod delivery;
pub mod delta_fifo;
pub mod feed;
pub mod fifo;
pub mod fixtures;
pub mod informer;
pub mod ordered_fifo;
pub mod own_writes;
pub mod reflector;
pub mod registry;
pub mod replica_set;
