//! The reflector: keeps a queue in step with a collection, by lists and watches.
//!
//! The rules are a machine without IO: it returns its next step and takes the result.
//! [`Driver::run`] drives one: it calls the source, fills a queue and sleeps. When its token ends,
//! it ends at once, wherever it is.

mod config;
mod consistency;
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
pub use driver::{Driver, Hooks};
pub(super) use driver::{Forget, delays, pause};
pub use want::{Failed, Skipped};

for_harness! {
    use machine::Reflector;
    use want::{Delivery, Got, Want};
}
