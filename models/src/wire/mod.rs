//! Requests on the wire.

pub mod address;
pub mod client;
mod fixtures;
pub mod leases;
pub mod watch;

pub use fixtures::check;
