//! The agenda of the simulation: what happens next.

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

/// The due things; things that are due at the same time keep the order in which they were
/// scheduled.
///
/// A sorted list, the next thing last: a cluster has a few dozen due things at most, and most new
/// ones are due soon. A heap was a tenth slower.
#[derive(Debug, Default)]
pub(super) struct Agenda {
    sorted: Vec<(u128, Due)>,
    scheduled: u64,
}

impl Agenda {
    #[inline]
    pub(super) fn at(&mut self, time: u64, due: Due) {
        self.scheduled += 1;
        let key = u128::from(time) << 64 | u128::from(self.scheduled);
        let sooner = self.sorted.iter().rev().take_while(|(other, _)| *other < key).count();
        self.sorted.insert(self.sorted.len() - sooner, (key, due));
    }

    #[inline]
    pub(super) fn next(&mut self) -> Option<(u64, Due)> {
        self.sorted.pop().map(|(key, due)| ((key >> 64) as u64, due))
    }

    pub(super) fn clear(&mut self) {
        self.sorted.clear();
        self.scheduled = 0;
    }
}
