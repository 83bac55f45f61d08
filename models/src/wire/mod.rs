//! What requests are on the wire.

pub mod address;
pub mod client;
pub mod leases;
pub mod watch;

/// Works on a stack of its own: those of loom's threads are too small for a client.
fn on_a_stack<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    let ran = std::thread::scope(|scope| scope.spawn(work).join());
    ran.unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}
