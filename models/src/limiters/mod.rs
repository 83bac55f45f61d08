//! Limiters: they decide how long a caller waits.

pub mod backoff;
pub mod limiter;
pub mod token_bucket;
