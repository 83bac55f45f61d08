//! Reads of one's own writes before the store has them, and detection of changes to its objects.

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
