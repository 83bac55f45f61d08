//! What can happen in a simulated election.

/// Something that is due.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Due {
    /// A process's run wakes from its sleep; stale unless the number is its newest.
    Wake { process: u16, sleep: u32 },
    /// A process's watchdog checks its term; stale unless the number is its newest.
    Watch { process: u16, look: u32 },
    /// A process starts the protected work of its term.
    Start { process: u16 },
    /// A process's work checks whether it may act.
    Look { process: u16, term: u32 },
    /// A process's work acts.
    Act { process: u16, term: u32 },
    /// A process's work has ended.
    WorkEnds { process: u16, term: u32 },
    /// A call reaches the server.
    Arrives { call: u32 },
    /// The answer of a call reaches its caller.
    Answers { call: u32 },
    /// The caller gives up the call.
    GivesUp { call: u32 },
    /// A process runs its elector again, or a new process starts on its node.
    Begins { process: u16 },
    /// A stalled clock goes on.
    Resumes { node: u8 },
    /// An intervention from outside; the number is its index in the plan.
    Intervenes { index: u32 },
}
