//! The tests of what joins kube-rs: one test program, since each of them would contain most of kube-rs.

mod common;
mod controller;
mod election;
mod lease_store;
mod paused;
mod plans;
mod shards;
mod watcher;
