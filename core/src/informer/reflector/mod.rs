//! The reflector: keeps a consumer in step with a collection, by lists and watches.
//!
//! The rules are a machine without IO: it returns its next step and takes the result. A [`Driver`]
//! drives one: it calls the source, feeds the consumer - the store of an informer, or a queue - and
//! sleeps. When its token ends, it ends at once, wherever it is.

mod config;
mod consistency;
mod consumer;
mod driver;
mod initial;
pub(super) mod known;
mod list;
mod machine;
mod position;
mod stream;
#[cfg(test)]
mod tests;
mod want;

pub use config::Config;
pub use consistency::{Consistency, Difference};
pub(super) use consumer::Consumer;
pub use driver::{Driver, Hooks};
pub(super) use driver::{delays, pause};
pub use want::{ReflectorError, Skipped};

for_harness! {
    use machine::Reflector;
    use want::{Delivery, Got, Want};
}
