//! The report that every engine makes of every execution, and the decision whether to go on.

use std::ops::ControlFlow;

use super::schedule::Schedule;

/// How one execution ended.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum End {
    /// Every thread ran to its end.
    Finished,
    /// Threads are left and none of them can move. The text lists what each of them waits for.
    Deadlock(String),
    /// The execution went on beyond the limit of steps. The text says what was running.
    Endless(String),
    /// A thread panicked and no thread joined it, or the main thread panicked: the message.
    Panicked(String),
    /// The schedule to replay asks for something that the program cannot do. The text names that
    /// decision.
    Diverged(String),
    /// The engine cannot run such a program, for this reason.
    Refused(String),
}

/// One execution, after it ended.
#[derive(Debug)]
pub struct Execution<'a> {
    /// Counts from one.
    pub number: u64,
    /// How it ended.
    pub end: End,
    /// Scheduling points that it passed.
    pub steps: u64,
    /// Switches away from a thread that could have gone on, where the engine can tell.
    pub preemptions: Option<u32>,
    /// The way back to it, where the engine decides the schedule.
    pub schedule: Option<&'a Schedule>,
    /// A number that two executions share iff they are the same trace, where the engine can tell.
    pub trace: Option<u64>,
    /// The logarithm of how many traces it stands for, where the engine can tell: on average over
    /// its executions, that is the number of all traces.
    pub stands_for: Option<f64>,
    /// Whether the engine had no choice in it, so that every execution of the program is this one.
    pub is_only: bool,
}

/// Looks at an execution and says whether to go on.
pub type Judge<'a> = dyn FnMut(&Execution<'_>) -> ControlFlow<()> + 'a;

/// The totals of a whole run of an engine.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Exploration {
    /// Executions run.
    pub executions: u64,
    /// Scheduling points of all of them.
    pub steps: u64,
    /// Whether nothing is left to explore within the bounds.
    pub exhausted: bool,
}

/// No thread panics unless the scenario expects it. Judged for every component.
pub const NEVER_PANICS: &str = "never_panics";
/// Every call returns: no deadlock, no endless loop. Judged for every component.
pub const TERMINATES: &str = "terminates";
