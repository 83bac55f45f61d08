//! The tests of what joins kube-rs: one test program, since each of them would contain most of kube-rs.

mod cache;
mod common;
mod controller;
mod election;
mod lease_store;
mod manager;
mod parts;
mod paused;
mod plans;
mod shards;
mod watcher;
