//! What can be seen of one execution at each of its decisions.

use serde::Serialize;

/// One execution, decision by decision.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
pub struct Watched {
    /// The names of the threads, by their numbers.
    pub threads: Vec<String>,
    /// The decisions, each with what was there before it.
    pub steps: Vec<Look>,
    /// What was there when no thread could move any more; absent if the execution was cut short.
    pub rest: Option<Look>,
}

/// What is there before a decision, and the decision.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Look {
    /// What can be chosen, as in schedules: threads, and `.` for a jump of the clock.
    pub options: Vec<String>,
    /// Where a thread asks for a choice of data: how many answers there are, `=0` the first.
    pub answers: u32,
    /// The choice.
    pub taken: String,
    /// The thread that takes the step; `None` for the clock.
    pub by: Option<u8>,
    /// What the chosen thread does.
    pub does: String,
    /// The last step that changed what this one touches: the step that it reads from.
    pub follows: Option<usize>,
    /// The threads of which there is something new.
    pub threads: Vec<Next>,
    /// The locks that are held.
    pub locks: Vec<Held>,
    /// The time.
    pub at_nanos: u64,
    /// How many events there were so far.
    pub events: usize,
}

/// What a thread does when it is chosen next, or what it waits for; nothing if it has ended.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Next {
    /// The thread.
    pub thread: u8,
    /// What it does.
    pub does: String,
}

/// A lock that threads hold.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Held {
    /// Its number, in the order in which locks were made.
    pub lock: usize,
    /// Its holders.
    pub by: Vec<u8>,
    /// Whether they share it.
    pub shared: bool,
}
