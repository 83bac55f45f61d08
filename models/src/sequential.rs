//! Parts that have recorded traces and random calls, and no concurrent program of their own yet.
//!
//! The catalogue lists them, so their traces are replayed; a run has nothing to say about them.

use std::convert::Infallible;

use seatrial_core::machine::Step;

use crate::conformance::Conformance;
use crate::trial::{Component, DynScenario, Invariant, MachineOf, NoMachine};

macro_rules! sequential {
    ($($(#[$doc:meta])+ $part:ident, $name:literal, $says:literal, $traces:expr;)+) => {
        $(
            $(#[$doc])+
            #[derive(Clone, Copy, Debug)]
            pub struct $part;

            impl Component for $part {
                type Machine = NoMachine;

                const NAME: &'static str = $name;
                const SAYS: &'static str = $says;

                fn machine() -> MachineOf<Self> {
                    Box::new(NoMachine)
                }

                fn scenarios() -> Vec<Box<dyn DynScenario<Self>>> {
                    Vec::new()
                }

                fn invariants() -> Vec<Invariant<Self>> {
                    Vec::new()
                }

                fn describe(op: &Infallible, _: &Step<Infallible>) -> String {
                    match *op {}
                }

                fn conformance() -> Vec<Conformance> {
                    $traces
                }
            }
        )+
    };
}

sequential! {
    /// The token bucket.
    TokenBucket, "token_bucket", "so many events a second, and so many at once",
        vec![crate::token_bucket::conformance()];
    /// The keyed back-off.
    Backoff, "backoff", "a delay per key that doubles and is forgotten",
        vec![crate::backoff::conformance()];
}
