//! What says how long to wait.

pub mod backoff;
pub mod limiter;
pub mod token_bucket;
