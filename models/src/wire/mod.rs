//! Requests on the wire.

pub mod address;
pub mod client;
pub mod leases;
pub mod watch;
