//! The recorded traces of a real server, replayed.

use std::sync::LazyLock;

use seatrial_sim::apiserver::Server;
use seatrial_sim::conformance as sim;

use crate::conformance::{Conformance, Replayed, Trace, TraceError, Traces};

macro_rules! files {
    ($($name:ident),+) => {
        $(
            /// How the traces of this file are replayed.
            #[must_use]
            pub fn $name() -> Conformance {
                let carried = Traces(sim::TRACES);
                Conformance { traces_of: stringify!($name), carried, replay, faithful: None }
            }
        )+
    };
}

files!(crud, finalizers, lease, list, patch, watch);

/// A fresh server; copies of it are cheap.
static WORLD: LazyLock<Server> = LazyLock::new(|| sim::world(1));

fn replay(trace: &Trace) -> Result<Replayed, TraceError> {
    let recorded = sim::Trace::parse(&trace.line).map_err(TraceError::Unreadable)?;
    let report = sim::replay(&recorded, WORLD.clone());
    let Some(first) = report.departures.into_iter().next() else {
        return Ok(Replayed { steps: recorded.steps.len(), departure: None });
    };
    let op = format!("{} (rules of `{}`)", first.path, first.rules);
    let (step, recorded, got) = (first.step, first.recorded, first.ours);
    Err(TraceError::Different { step, op, recorded, got })
}
