//! The stores of objects.

pub mod expiring_store;
pub(crate) mod fixtures;
pub mod heap;
pub mod indexed_store;
pub mod mutation_cache;
