//! Controllers on kube-rs.

use std::future::Future;

use kube::Client;
use seatrial_sim::simulation::Simulation;

/// A simulation of what this function runs.
pub(crate) fn on_kube<F: Future + 'static>(
    run: impl Fn(Client) -> F + Send + Sync + 'static,
) -> Simulation {
    Simulation::of(move |connection| run(Client::new(connection, "default")))
}
