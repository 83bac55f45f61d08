//! The stores of objects.

pub mod expiring_store;
mod fixtures;
pub mod heap;
pub mod indexed_store;
pub mod mutation_cache;
