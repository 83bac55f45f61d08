//! The record of one simulated run.

use seatrial_core::elector::{Config, Fence, Name};

use super::server::{Entry, Writer};

/// The request of a call.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Verb {
    /// Read.
    Get,
    /// Create.
    Create,
    /// Update the version with this number.
    Update {
        /// The version.
        version: u64,
        /// Whether it frees the lease.
        releases: bool,
    },
}

/// The answer to a call.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Answer {
    /// Success, with the version read or written.
    Version(u64),
    /// There is no object.
    NotFound,
    /// The object exists, or has another version.
    Conflict,
    /// It is not known whether the call was served.
    Unsure,
    /// The store refused.
    Refused,
}

/// Something that happened.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum What {
    /// A process began a run.
    Begins,
    /// It made a call; `first` if it is the first since it slept.
    Calls {
        /// The number of the call.
        call: u32,
        /// The request.
        verb: Verb,
        /// Whether an attempt begins with it.
        first: bool,
    },
    /// The server applied a write of the process: the version that it made.
    Applied {
        /// The call.
        call: u32,
        /// The version.
        version: u64,
    },
    /// The process learned the outcome of its call.
    Learns {
        /// The call.
        call: u32,
        /// The outcome.
        answer: Answer,
    },
    /// The process started its protected work: its belief begins.
    Leads {
        /// The term.
        term: u32,
    },
    /// Its leading token was cancelled: its belief ends.
    Revoked {
        /// The term.
        term: u32,
    },
    /// Its protected work has ended.
    WorkEnded {
        /// The term.
        term: u32,
    },
    /// An effect of its work reached the protected resource.
    Acts {
        /// The term.
        term: u32,
        /// Whether the resource accepted the fencing token.
        accepted: bool,
    },
    /// Its run was cancelled.
    Cancelled,
    /// Its run is over, and its stop callback was called.
    Ended {
        /// Whether it led.
        led: bool,
    },
    /// The process is gone.
    Crashed,
    /// Its metric goes on or off.
    Metric(bool),
    /// It reports a leader: the process with that identity; `None` if there is none, or for a
    /// stranger.
    Reports(Option<u16>),
    /// The event "became leader" or "stopped leading" was recorded.
    Event {
        /// Whether it was "became leader".
        became: bool,
    },
    /// The lock object was changed from outside.
    Outside {
        /// The version that this made.
        version: u64,
    },
    /// The node of the process stopped moving.
    Frozen,
    /// The observed record of the process changed.
    Observes {
        /// The time from which the new record counts, on the clock of the process.
        at: u64,
    },
}

/// Something that happened, when, and to which process.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Happening {
    /// When it happened.
    pub at: u64,
    /// When it happened, on the clock of the process.
    pub local: u64,
    /// The process that it happened to.
    pub process: u16,
    /// The event.
    pub what: What,
}

/// A process that took part.
#[derive(Clone, Debug)]
pub struct Process {
    /// Its node.
    pub node: u8,
    /// Its set-up.
    pub config: Config,
    /// The fencing tokens of its terms, in order.
    pub fences: Vec<(u32, Fence)>,
}

impl Process {
    /// Returns its identity.
    #[must_use]
    pub fn identity(&self) -> &Name {
        &self.config.identity
    }
}

/// A whole run, in the form that the invariants judge.
#[derive(Clone, Debug, Default)]
pub struct Run {
    /// The happenings, in order.
    pub happenings: Vec<Happening>,
    /// Every version of the lock object; version `n` is the `n`-th, counted from one.
    pub versions: Vec<Entry>,
    /// The processes that took part.
    pub processes: Vec<Process>,
    /// The end of the run.
    pub end: u64,
    /// How many steps were simulated.
    pub steps: u64,
}

/// A span of time in which a process was the leader, or believed so.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Window {
    /// The process.
    pub process: u16,
    /// Its term.
    pub term: u32,
    /// When it begins.
    pub from: u64,
    /// When it ends; at the end of the run if it had not ended.
    pub to: u64,
}

impl Window {
    /// Returns how long two windows overlap.
    #[must_use]
    pub fn overlap(&self, other: &Self) -> u64 {
        self.to.min(other.to).saturating_sub(self.from.max(other.from))
    }
}

/// Returns the longest time for which two windows of different processes overlap.
#[must_use]
pub fn longest_overlap(windows: &[Window]) -> u64 {
    let mut longest = 0;
    for (index, first) in windows.iter().enumerate() {
        for second in &windows[index + 1..] {
            if first.process != second.process {
                longest = longest.max(first.overlap(second));
            }
        }
    }
    longest
}

impl Run {
    /// Returns the belief windows: from the start of the work until its token was cancelled
    /// (`election:SF-1`).
    #[must_use]
    pub fn belief_windows(&self) -> Vec<Window> {
        self.windows(|what, term| matches!(what, What::Revoked { term: over } if *over == term))
    }

    /// Returns the acting windows: from the start of the work until its last effect
    /// (`election:SF-2`).
    #[must_use]
    pub fn acting_windows(&self) -> Vec<Window> {
        self.windows(|what, term| matches!(what, What::WorkEnded { term: over } if *over == term))
    }

    fn windows(&self, ends: impl Fn(&What, u32) -> bool) -> Vec<Window> {
        let mut windows: Vec<Window> = Vec::new();
        let mut open: Vec<usize> = Vec::new();
        for happening in &self.happenings {
            let Happening { at, process, what, .. } = happening;
            if let What::Leads { term } = what {
                open.push(windows.len());
                windows.push(Window { process: *process, term: *term, from: *at, to: self.end });
                continue;
            }
            if open.is_empty() {
                continue;
            }
            open.retain(|index| {
                let window = &mut windows[*index];
                let over = window.process == *process
                    && (ends(what, window.term) || matches!(what, What::Crashed));
                if over {
                    window.to = *at;
                }
                !over
            });
        }
        windows
    }

    /// Returns the lease windows, one for each write that names a holder. A window begins when the
    /// write is applied. It ends with a version that does not name the holder, or at the earliest
    /// moment at which another process may take the lease, given the drift of the clocks
    /// (`election:SF-3`).
    #[must_use]
    pub fn lease_windows(&self, drift_ppm: u32) -> Vec<Window> {
        let mut windows = Vec::with_capacity(self.versions.len());
        // Backwards, so that the next change of the holder is already known.
        let mut next: Option<u16> = None;
        let mut changes_at = self.end;
        for (index, entry) in self.versions.iter().enumerate().rev() {
            let holder = self.holder_of(entry);
            if index + 1 < self.versions.len() && holder != next {
                changes_at = self.versions[index + 1].at;
            }
            next = holder;
            let Some(process) = holder else { continue };
            let seconds = entry.record.as_ref().map_or(0, |record| record.duration_seconds);
            let lasts = u128::try_from(seconds).unwrap_or(0) * 1_000_000_000_000_000
                / (1_000_000 + u128::from(drift_ppm));
            let until = entry.at.saturating_add(u64::try_from(lasts).unwrap_or(u64::MAX));
            let to = until.min(changes_at).min(self.end);
            windows.push(Window { process, term: index as u32 + 1, from: entry.at, to });
        }
        windows.reverse();
        windows
    }

    /// Returns the process that a version names. If several have that identity, it is the one that
    /// wrote the version, or else the youngest.
    fn holder_of(&self, entry: &Entry) -> Option<u16> {
        let record = entry.record.as_ref()?;
        // Nearly all holders wrote their record themselves.
        if let Writer::Process(writer) = entry.by
            && *self.processes[usize::from(writer)].identity() == record.holder
        {
            return Some(writer);
        }
        let names = |process: &Process| *process.identity() == record.holder;
        self.processes.iter().rposition(names).map(|index| index as u16)
    }
}
