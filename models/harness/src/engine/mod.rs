//! The engines: ways to run one scenario many times.
//!
//! An engine is given the body of a scenario over its own runtime and a [`Judge`] that looks at
//! every execution and says whether to go on. It decides nothing about right or wrong.

mod any;
#[cfg(any(feature = "loom", feature = "shuttle"))]
mod either;
mod execution;
#[cfg(feature = "loom")]
pub mod loom;
mod observed;
mod origin;
mod quiet;
mod route;
mod schedule;
#[cfg(feature = "shuttle")]
pub mod shuttle;
mod spare;
mod stack;
pub mod state;
mod tally;
pub mod threads;
mod watched;

use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use any::AnyRuntime;
#[cfg(any(feature = "loom", feature = "shuttle"))]
pub use either::Either;
pub use execution::{End, Execution, Exploration, Judge, NEVER_PANICS, TERMINATES};
pub use observed::Observed;
pub use origin::told_in_full;
pub use quiet::{is_of_engine, panic_text, quietly};
pub use route::Route;
pub use schedule::{Choice, MAX_STEPS, MAX_THREADS, ParseScheduleError, Schedule, ThreadLetter};
pub(crate) use spare::Spare;
pub use stack::on_a_stack;
pub use tally::Left;
pub(crate) use tally::Tally;
pub use watched::{Held, Look, Next, Watched};

/// The waiters that a condition variable may wake.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum WakeUps {
    /// Any of them, as the operating system may: every choice is explored.
    #[default]
    Any,
    /// The waiter that has waited longest.
    InOrder,
}

/// An engine, by name.
#[derive(
    Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Engine {
    /// loom: all schedules within a bound of preemptions, C11 acquire and release included.
    Loom,
    /// Our own search over the shell: one execution of every distinguishable trace.
    Trace,
    /// Every state of a machine and its callers in data form, without threads.
    State,
    /// Samplers over shuttle: random, PCT, URW, POS, SURW.
    Sample,
    /// Simulated clusters: no threads and no schedule, but whole runs of a component's own
    /// simulation.
    Cluster,
    /// Random calls of one caller, compared with the component's sequential object: no scenario and
    /// no schedule. A component has them as one case, named `made_up_calls`.
    Fuzz,
    /// Real threads.
    Threads,
}

impl Engine {
    /// All engines, in the order of reports.
    pub const ALL: &'static [Self] = &[
        Self::Loom,
        Self::Trace,
        Self::State,
        Self::Sample,
        Self::Cluster,
        Self::Fuzz,
        Self::Threads,
    ];

    /// Returns its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Loom => "loom",
            Self::Trace => "trace",
            Self::State => "state",
            Self::Sample => "sample",
            Self::Cluster => "cluster",
            Self::Fuzz => "fuzz",
            Self::Threads => "threads",
        }
    }

    /// Says in a few words what it does.
    pub fn says(self) -> &'static str {
        match self {
            Self::Loom => "loom: every schedule within a bound of preemptions",
            Self::Trace => "every distinguishable schedule, by optimal partial-order reduction",
            Self::State => "every state of a machine and its callers, without threads",
            Self::Sample => "a portfolio of samplers: random, PCT, URW, POS, SURW",
            Self::Cluster => "simulated clusters: drifting clocks, late and lost messages, crashes",
            Self::Fuzz => "random calls of one caller against the sequential object",
            Self::Threads => "real threads, again and again; sanity only",
        }
    }

    /// Says why it is not in this build, if it is not.
    pub fn missing(self) -> Option<&'static str> {
        match self {
            Self::Loom if !cfg!(feature = "loom") => {
                Some("this build has no loom: build with `--features loom`")
            }
            Self::Trace | Self::Sample if !cfg!(feature = "shuttle") => {
                Some("this build has no shuttle: build with `--features shuttle`")
            }
            _ => None,
        }
    }

    /// Returns what it runs.
    pub fn runs(self) -> Kind {
        match self {
            Self::Cluster => Kind::Simulation,
            Self::State => Kind::States,
            Self::Fuzz => Kind::Calls,
            Self::Loom | Self::Trace | Self::Sample | Self::Threads => Kind::Program,
        }
    }

    /// Tells whether it makes up calls of its own, and so runs no scenario.
    pub fn makes_up_calls(self) -> bool {
        self.runs() == Kind::Calls
    }

    /// Tells whether it means to explore everything within its bounds.
    pub fn exhausts(self) -> bool {
        matches!(self, Self::Loom | Self::Trace | Self::State)
    }

    /// Tells whether what it reports depends on the machine it runs on.
    pub fn depends_on_the_machine(self) -> bool {
        self == Self::Threads
    }
}

/// The kinds of subjects that engines run.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Kind {
    /// A program of threads, which most of them schedule.
    Program,
    /// A model: a machine, and callers in data form.
    States,
    /// Whole runs of a simulated system.
    Simulation,
    /// Calls of its own.
    Calls,
}

impl Kind {
    /// Says what it is, as the end of "it is ...".
    pub fn says(self) -> &'static str {
        match self {
            Self::Program => "a program of threads",
            Self::States => "a model of states",
            Self::Simulation => "a simulation",
            Self::Calls => "made-up calls",
        }
    }
}

impl fmt::Display for Engine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Engine {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Self::ALL.iter().copied().find(|engine| engine.name() == text).ok_or_else(|| {
            let known: Vec<_> = Self::ALL.iter().map(|engine| engine.name()).collect();
            format!("unknown engine '{text}': use one of {}", known.join(", "))
        })
    }
}
