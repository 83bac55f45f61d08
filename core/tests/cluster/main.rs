//! Against an API server, over sockets and TLS: everything that a controller does with a cluster. The
//! server is the simulated one unless [`bed`] is told of a real one.

#![expect(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "processes and sockets run on the machine's own time"
)]

mod bed;
mod chain;
mod collections;
mod leases;
mod protocols;
mod throughput;
mod typed;
mod wire;
