//! The election of a leader, and the cluster that is simulated around it.

pub mod candidate;
pub mod cluster;
pub mod elector;
pub mod plain;
