//! What a client knows before its store does, and what it must not do to the store's objects.

mod cache;
mod detector;
#[cfg(test)]
mod drops;
mod error;
#[cfg(test)]
mod tests;

pub use cache::{MutationCache, MutationOptions};
pub use detector::{Mutated, MutationDetector};
pub use error::{NotANumber, ReadError, WriteError};
