//! The parts of a Kubernetes controller, with client-go's semantics.
//!
//! | part | feature | what it is |
//! |---|---|---|
//! | [`runtime`] | | the only connection to the outside: locks, time, threads, randomness; [`runtime::System`] is the real one |
//! | [`queue`] | `queues` | the de-duplicating work queue |
//! | [`delaying_queue`] | `queues` | a work queue that can add items later |
//! | [`limited_queue`] | `queues` | a delaying queue whose failed items come back when a limiter says so |
//! | [`priority_queue`] | `queues` | a rate-limiting queue with priorities, the highest first |
//! | [`cancel`] | | cancellation tokens: a tree, with deadlines |
//! | [`channel`] | `queues` | channels: bounded, unbounded, rendezvous; `select` |
//! | [`polling`] | `queues` | back-off steps, loops with a period, polls |
//! | [`pool`] | `queues` | workers at a queue: retries, panics, an orderly end |
//! | [`metrics`] | `queues` | the metrics of queues |
//! | [`parallel`] | `queues` | the bounded parallel loop |
//! | [`limiter`] | `queues` | how long to wait: per item, shared, token bucket, back-off |
//! | `store` | `informers` | stores of objects, with indices, expiry or an order; keys and tombstones |
//! | `fifo` | `informers` | the queue of newest objects, and what queues of objects share |
//! | `delta_fifo` | `informers` | the queue of changes, one entry per object |
//! | `ordered_fifo` | `informers` | the queue of events in their order of arrival |
//! | `informer` | `informers` | a store that follows a collection of a server, with subscribers and handlers |
//! | `request` | `request` | requests to an API server: built, throttled, repeated, watched; objects of a type |
//! | `elector` | `election` | leader election over a lock object in a versioned store |
//!
//! An id in brackets, (`workqueue:WQ-21`), is the number of a rule of behaviour.
//! `docs/rules` says what it means; `models/requirements` says where it comes from, whether the
//! models check it, and whether the parts depart from it.
//!
//! # When your code panics
//!
//! Your keys, wakers, callbacks and sinks may panic. Even then no item is lost, no caller stays
//! asleep, and every drain ends.
//!
//! | what panics | what happens |
//! |---|---|
//! | a key that is compared or copied in a call | the call panics; an item that cannot be copied waits again, and a batch ends before it; a popped entry that should go back, and whose key cannot be copied, is lost |
//! | a waker; the destructor of a key, an object or a waker | the panic hook of the process reports it; the call returns its result, and the other wakers are woken; two objects of a list that a store replaces abort the process |
//! | a sink, an observer, a hook, a listener of failures or of leaders | the panic hook reports it; it misses one report, and the others miss none |
//! | a limiter | the call panics; an item that was to be added is not added; a delivery ends, and an item that was to be tried again is tried again without the limiter's delay |
//! | the function of a worker | the item is tried again, as after an error ([`pool`]) |
//! | a key or a limiter, in the call of a worker of a [`pool`] | the worker rests, longer each time in a row, and goes on |
//! | the work of a leader, a callback, a lock | the term ends, and the panic continues in the thread or task that runs the elector |
//! | the callback of a pop | the panic continues in the caller, and the popped entry is removed |
//! | a function of an index or of an order | the call panics, and the store does not change |
//!
//! The payloads of all these panics are dropped outside the lock. The exception is your own storage
//! ([`queue::Storage`]): it is part of the rules, and must not panic.
//!
//! Everything is generic over [`runtime::Runtime`]. The same source runs on real threads and under
//! checkers that explore its schedules; it has no hooks for any checker.
//!
//! Every part that waits is a pure state with steps, without lock or clock (`machine`), inside a
//! single shell that adds the lock and lets callers sleep (`monitor`). The feature `harness` makes
//! both public, with the operations and states of every part, so that a checker can step them one
//! by one and record them. With `hosts` it can also put a changed machine behind the lock
//! (`with_host`). A normal program needs neither.
//!
//! # Features
//!
//! Only the parts whose features are enabled are compiled. `queues` is the default; `informers` and
//! `election` each include it, and `parts` is all three. Without any feature this crate has only
//! [`runtime`], [`cancel`], and with `harness` the machine and the shell, which is what checkers of
//! other code need.

#![cfg_attr(docsrs, feature(doc_cfg))]
// Some items are used only by checkers, through the feature `harness`, and some only by the parts.
// Both kinds stay in the crate when those features are off.
#![cfg_attr(
    not(all(feature = "harness", feature = "parts")),
    allow(dead_code, reason = "left without its caller: a checker, or a part")
)]
#![cfg_attr(not(feature = "harness"), allow(unreachable_pub))]
#![cfg_attr(
    not(feature = "parts"),
    allow(unused_imports, reason = "re-exports of the machine that only the parts name")
)]

/// Re-exports for checkers: public with the feature `harness`, private to the crate without it.
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

// For checkers: public with the feature `harness`, private to the crate without it.
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
