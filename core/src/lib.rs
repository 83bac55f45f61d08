//! The parts that every Kubernetes controller stands on, with client-go's semantics.
//!
//! | part | feature | what it is |
//! |---|---|---|
//! | [`runtime`] | | the one seam: locks, time, threads, randomness; [`runtime::System`] is the real one |
//! | [`queue`] | `queues` | the de-duplicating work queue |
//! | [`delaying_queue`] | `queues` | the same with items that are added later |
//! | [`limited_queue`] | `queues` | the same with failed items that come back when a limiter says so |
//! | [`priority_queue`] | `queues` | the same again, the highest priority first |
//! | [`cancel`] | | cancellation tokens: a tree, with deadlines |
//! | [`channel`] | `queues` | channels: bounded, without bound, from hand to hand; `select` |
//! | [`polling`] | `queues` | back-off steps, loops with a period, polls |
//! | [`pool`] | `queues` | workers at a queue: retries, panics, an orderly end |
//! | [`metrics`] | `queues` | what queues tell about themselves |
//! | [`parallel`] | `queues` | the bounded parallel loop |
//! | [`limiter`] | `queues` | how long to wait: per item, shared, token bucket, back-off |
//! | `store` | `informers` | stores of objects, with indices, expiry or an order; keys and tombstones |
//! | `fifo` | `informers` | the queue of newest objects, and what queues of objects share |
//! | `delta_fifo` | `informers` | the queue of changes, one entry per object |
//! | `ordered_fifo` | `informers` | the queue of events in their order of arrival |
//! | `informer` | `informers` | a store that follows a collection of a server, and those who are told |
//! | `request` | `request` | requests to an API server: built, throttled, repeated, watched |
//! | `elector` | `election` | leader election over a lock object in a versioned store |
//!
//! An id in brackets, (`workqueue:WQ-21`), is the number of a rule of behaviour. Where the models
//! check that rule, or the reference departs from it, `models/requirements` says so under that
//! number.
//!
//! # When your code panics
//!
//! Keys, wakers, callbacks and sinks are yours, and may panic. No item is lost for it, nobody is
//! left asleep, and a drain ends.
//!
//! | what panics | what happens |
//! |---|---|
//! | a key that a call compares or copies | the call panics; an item that cannot be copied waits again, and a batch ends before it |
//! | a waker; a key, an object or a waker that is dropped | the hook of the process reports it; the call returns what it would, and the other wakers are woken |
//! | a sink, an observer, a listener of failures | the hook reports it; it misses one report, and nobody else does |
//! | a limiter | the call panics; an item that was to be added is not; a delivery ends, and an item that was to be tried again is, without a delay of the limiter |
//! | the function of a worker | the item is tried again, as after an error ([`pool`]) |
//! | the work of a leader, a callback, a lock | the term ends, and the panic goes on in the thread or task that runs the elector |
//! | the callback of a pop | it goes on in the caller, and what was popped is gone |
//! | a function of an index or of an order | the call panics, and the store is as it was |
//!
//! What all of them panic with is dropped where no lock is held. A storage of your own
//! ([`queue::Storage`]) is the exception: it is a part of the rules, and must not panic.
//!
//! Everything is generic over [`runtime::Runtime`]. The same source runs on real threads and under
//! checkers that explore its schedules; this crate knows none of them and carries no hook for one.
//!
//! Every part that waits is pure state and steps, without lock or clock (`machine`), under the one shell
//! that puts it under a lock and lets callers sleep (`monitor`). The feature `harness` makes both public,
//! with the operations and states of every part, so that a checker can step them one by one, record them,
//! or put a changed machine behind the lock (`with_host`). A program that uses the parts does without it.
//!
//! # Features
//!
//! A program compiles the parts that it names. `queues` is on by default; `informers` and `election` are
//! each more than that, and `parts` is all three. Without any this crate is the seam alone: [`runtime`],
//! [`cancel`], and with `harness` the machine and the shell. That is what the checkers of other code need.

// What only a checker names is reachable with the feature `harness` alone, and what only the parts use stays
// in the seam without them.
#![cfg_attr(
    not(all(feature = "harness", feature = "parts")),
    allow(dead_code, reason = "left without its caller: a checker, or a part")
)]
#![cfg_attr(not(feature = "harness"), allow(unreachable_pub))]
#![cfg_attr(
    not(feature = "parts"),
    allow(unused_imports, reason = "re-exports of the machine that only the parts name")
)]

/// Re-exports for checkers: public with the feature `harness`, the crate's own without it.
macro_rules! for_harness {
    ($(use $module:ident::$names:tt;)+) => {
        $(
            #[cfg(feature = "harness")]
            pub use $module::$names;
            #[cfg(not(feature = "harness"))]
            #[allow(unused_imports, reason = "the crate itself uses some of them")]
            pub(crate) use $module::$names;
        )+
    };
}

// For checkers: public with the feature `harness`, the crate's own without it.
#[cfg(not(feature = "harness"))]
mod machine;
#[cfg(feature = "harness")]
pub mod machine;
#[cfg(not(feature = "harness"))]
mod monitor;
#[cfg(feature = "harness")]
pub mod monitor;
#[cfg(not(feature = "harness"))]
pub(crate) use machine::operations;

pub mod cancel;
#[cfg(feature = "queues")]
pub mod channel;
#[cfg(feature = "queues")]
pub mod delaying_queue;
#[cfg(feature = "informers")]
pub mod delta_fifo;
#[cfg(feature = "election")]
pub mod elector;
#[cfg(feature = "informers")]
pub mod fifo;
#[cfg(feature = "informers")]
pub mod informer;
#[cfg(feature = "queues")]
pub mod limited_queue;
#[cfg(feature = "queues")]
pub mod limiter;
#[cfg(feature = "queues")]
pub mod metrics;
#[cfg(feature = "informers")]
pub mod ordered_fifo;
#[cfg(feature = "queues")]
pub mod parallel;
#[cfg(feature = "queues")]
pub mod polling;
#[cfg(feature = "queues")]
pub mod pool;
#[cfg(feature = "queues")]
pub mod priority_queue;
#[cfg(feature = "queues")]
pub mod queue;
#[cfg(feature = "request")]
pub mod request;
pub mod runtime;
#[cfg(feature = "informers")]
pub mod store;

#[cfg(all(doctest, feature = "queues"))]
mod book;
mod caught;
#[cfg(feature = "informers")]
mod events;
#[cfg(test)]
mod every_queue;
#[cfg(feature = "queues")]
mod slab;
