//! For operators on [kube](https://docs.rs/kube): a leader election with at most one leader, and a
//! controller in which no key starves; on stable Rust APIs, and built on the parts of
//! [`seatrial_core`], which are checked under every schedule.
//!
//! Requests by users of kube, and their answers in this crate:
//!
//! | wish | answer |
//! |---|---|
//! | a leader election | [`election::LeaderElection`]: compare-and-swap on the Lease, expiry by each replica's own monotonic clock, work that has stopped before another replica may lead, a fencing token, an orderly release |
//! | back-off by key that a success resets | [`controller::Action::Requeue`] from the error policy; [`Controller::backoff`](controller::Controller::backoff) |
//! | an error policy with its own state | not needed: the queue's limiter counts how often a key failed |
//! | metrics of the queue | the reference's seven, through [`Controller::metrics`](controller::Controller::metrics) |
//! | limited concurrency that reaches every key | [`controller`]: the key that became ready first is next; figures below |
//! | indices on a store | [`Controller::store`](controller::Controller::store) and `add_indexers` |
//! | one cache, many readers | [`cache`]: any number of controllers and subscriptions, and of streams of [`watcher::changes`] |
//! | kinds that are known at run time, or metadata alone | [`cache::Cache::of_kind`] of `DynamicObject`; `Api` of `PartialObjectMeta` |
//! | predicates on what is owned or watched | [`cache::Cache::filter_updates`] of the handle that a controller gets |
//! | several controllers in one program | [`manager`]: one election, one address for probes and metrics, an orderly end |
//! | finalizers, writes after conflicts, events | [`finalizer`], [`conflict`], [`events`] |
//! | a limit on retries, and jitter | [`Controller::limiter`](controller::Controller::limiter) with any of core's limiters, [`Controller::jitter`](controller::Controller::jitter) |
//! | subscribing late without a race between snapshot and changes | a subscription begins with all existing objects, and then tells each change once |
//! | deletions that a filter swallows | [`Controller::filter_updates`](controller::Controller::filter_updates) judges only updates, and never skips one that hides a deletion |
//! | stale reads after one's own writes | [`Controller::writes`](controller::Controller::writes) |
//! | a server to test against | `seatrial-sim`, on loopback; both [examples](https://github.com/seatrial/seatrial/tree/main/kube/examples) run on it. With crashes and replicas that lag: [`Controller::on`](controller::Controller::on) and [`Tokio::seeded`] |
//! | a controller that is sharded over replicas | [`shards`]: by hash or by label, with one Lease for each shard |
//!
//! Not answered: a rate limit for the client, which belongs into its service stack.
//!
//! `docs/from-kube-rs.md` shows how to change an operator from kube's `Controller` to this one in
//! ten lines, and how to add an election in five.
//!
//! # Starvation, in figures
//!
//! Hot keys take 20 ms and ask to be reconciled again at once; there are twice as many as workers,
//! or one more. Three cold keys come every five seconds. The table shows a hundred runs of 30 s
//! each, in virtual time, of this crate's [`Controller`](controller::Controller) and of that of
//! kube-runtime 5.0.0. A run is *starved* if a cold key was reconciled at most once.
//!
//! | workers | hot keys | ours: starved | longest wait | kube's: starved | longest wait |
//! |---|---|---|---|---|---|
//! | 1 | 2 | 0 % | 20.00ms | 66 % | 30.00s |
//! | 1 | 3 | 0 % | 40.00ms | 84 % | 30.00s |
//! | 2 | 4 | 0 % | 20.00ms | 63 % | 30.00s |
//! | 2 | 5 | 0 % | 20.00ms | 71 % | 30.00s |
//! | 3 | 6 | 0 % | 20.00ms | 39 % | 30.00s |
//! | 3 | 7 | 0 % | 20.00ms | 66 % | 30.00s |
//!
//! `tests/starvation.rs` prints the table. It fails if a cold key waits longer than the keys that
//! were ready before it take, or at the start longer than six seconds more.
//!
//! # Overhead, in figures
//!
//! Ten workers and a reconcile that does nothing, with this crate's
//! [`Controller`](controller::Controller) and with kube-runtime 5.0.0. Time is processor time of
//! the single thread, without reading the list. `cargo bench -p seatrial-kube --bench overhead`
//! prints the table.
//!
//! | | ours | kube's |
//! |---|---|---|
//! | 100,000 objects, each once: reconciles/s | 1,159,241 | 154,184 |
//! | 1,000 objects, each at once again: reconciles/s | 1,453,790 | 449,945 |
//! | 100,000 objects in the store: MiB (the objects alone: 162) | 168 | 234 |
//! | bytes an object beyond the object | 61 | 755 |

#![cfg_attr(docsrs, feature(doc_cfg))]

pub mod cache;
pub mod conflict;
pub mod controller;
pub mod election;
pub mod events;
pub mod finalizer;
pub mod manager;
mod object;
mod object_ref;
mod race;
pub mod shards;
pub mod watcher;
mod writes;

pub use object::Object;
pub use seatrial_core::runtime::Tokio;

/// Compiles the code of the guide.
#[cfg(doctest)]
#[doc = include_str!("../../docs/from-kube-rs.md")]
mod guide {}
