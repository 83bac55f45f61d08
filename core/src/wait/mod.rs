//! Loops that wait between their runs and end with a token (`election:ENV-6`, `ENV-7`).
//!
//! | loop | first run | the gap | ends |
//! |---|---|---|---|
//! | [`repeat`] | if the token has not ended | counted from the end of a run, with jitter | with the token |
//! | [`poll`] | always | a fixed rate, counted from the beginning | with the token, a time-out or a result |
//!
//! A panic in a run goes on to the caller (`election:ENV-8`).

mod poll;
mod repeat;

#[cfg(test)]
pub(crate) mod tests;

pub(crate) use poll::Ticker;
pub use poll::poll;
pub use repeat::repeat;
