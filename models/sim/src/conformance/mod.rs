//! Replays traces of a real server against [`Server`](crate::apiserver::Server), and compares.
//!
//! A [`Trace`] is a sequence of requests with the answers that a real server gave. [`replay`] makes
//! the same requests and reports every [`Departure`]. Values that a server may choose (versions,
//! uids, generated names, tokens) are recorded as symbols. A table binds each symbol to our own
//! value when it first appears, and compares later values with it.
//!
//! Status, reason, code, details, objects, events and their order are compared strictly; texts for
//! people, content types and warnings are compared loosely: their differences are counted.

//!
//! [`Recorder`] writes traces of the same form.

mod carried;
mod compare;
#[cfg(feature = "tls")]
mod live;
mod normal;
mod programs;
mod record;
mod replay;
mod rules;
mod symbols;
mod target;
mod trace;

pub use carried::{DEFINITIONS, TRACES, world};
#[cfg(feature = "tls")]
pub use live::Live;
pub use programs::{Tried, fields, program, program_line};
pub use record::Recorder;
pub use replay::{Report, replay, replay_on};
pub use rules::{RULES, rules_of};
pub use target::{Simulated, Target};
pub use trace::{Step, Trace};

/// A place where an answer is not what was recorded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Departure {
    /// The step.
    pub step: usize,
    /// The rules that decide its answer: one of [`RULES`].
    pub rules: &'static str,
    /// The path within the answer.
    pub path: String,
    /// The value of the real server.
    pub recorded: String,
    /// Our value.
    pub ours: String,
}
