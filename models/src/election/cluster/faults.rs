//! The faults that may occur, and the trait that chooses them (`election` section 5).

use seatrial_core::elector::Io;
use seatrial_sim::world::Fate;

use crate::random::Random;

/// A call, as [`Faults`] sees it.
#[derive(Debug)]
pub struct Attempted<'a> {
    /// When the call is made.
    pub at: u64,
    /// The node that makes it.
    pub node: u8,
    /// The process of that node.
    pub process: u16,
    /// The request.
    pub io: &'a Io,
    /// Whether it is the first call since the process last slept.
    pub first: bool,
    /// Whether the process leads.
    pub leads: bool,
}

/// The next step of a process after its run is over.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum After {
    /// It stays down.
    Down,
    /// It runs the same elector again after this time.
    RunsAgain(u64),
    /// A new process with a new identity takes its place after this time.
    Replaced(u64),
}

/// An action on the cluster at a given time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Action {
    /// Nothing on the node moves for this long, except its clock.
    Pause {
        /// The node.
        node: u8,
        /// For how long.
        nanos: u64,
    },
    /// Nothing on the node moves for this long, not even its clock (`election:CX-6`).
    Stall {
        /// The node.
        node: u8,
        /// For how long.
        nanos: u64,
    },
    /// The node's process is gone at once.
    Crash {
        /// The node.
        node: u8,
        /// The time after which a new process takes its place.
        back_after: u64,
        /// Whether the new process has the old identity.
        same_identity: bool,
    },
    /// The node's run is cancelled.
    Cancel {
        /// The node.
        node: u8,
    },
    /// The lock object is deleted.
    Delete,
    /// The store goes back to an older state: its last changes are lost.
    GoBack {
        /// How many of them; more than there are for all.
        writes: u64,
    },
    /// An administrator clears the holder.
    ClearHolder,
    /// An administrator or another program removes the duration (`election:CX-11`).
    ClearDuration,
    /// A node's wall clock stops, or is set back to the same second again and again
    /// (`election:CX-9`).
    FreezeWall {
        /// The node.
        node: u8,
    },
}

/// Chooses the faults.
pub trait Faults {
    /// Decides the fate of a call.
    fn fate(&mut self, call: &Attempted<'_>) -> Fate;

    /// Draws the random number that a step on a node may use, for example for its jitter.
    fn entropy(&mut self, node: u8, at: u64) -> u64;

    /// Decides how late a due timer or a cancellation of a node is served (up to ε).
    fn lateness(&mut self, node: u8) -> u64 {
        let _ = node;
        0
    }

    /// Decides how long the protected work goes on after it was cancelled (up to γ).
    fn winds_down(&mut self) -> u64 {
        0
    }

    /// Decides how long the protected work waits between the check whether it may act and the act,
    /// and then until the next check; `None` if it does nothing.
    fn works(&mut self) -> Option<(u64, u64)> {
        None
    }

    /// Decides what happens on a node after a run.
    fn after(&mut self, node: u8) -> After {
        let _ = node;
        After::Down
    }
}

/// How much goes wrong at random: rates per thousand calls, and upper limits of times.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Weather {
    pub(super) random: Random,
    /// Usual latency each way.
    pub(super) usual: u64,
    /// How many of a thousand messages are slow, and how slow at most.
    pub(super) slow_permille: u32,
    pub(super) slow: u64,
    pub(super) lost_request_permille: u32,
    pub(super) lost_reply_permille: u32,
    pub(super) refused_permille: u32,
    pub(super) lag_permille: u32,
    pub(super) lag: u64,
    pub(super) lateness: u64,
    pub(super) work: u64,
    pub(super) works_every: u64,
    /// For each node, the span in which it is cut off.
    pub(super) cut_off: Vec<(u64, u64)>,
    pub(super) after: [u32; 2],
    pub(super) after_delay: u64,
}

impl Weather {
    fn latency(&mut self) -> u64 {
        if self.random.permille(self.slow_permille) {
            self.random.up_to(self.slow)
        } else {
            self.random.up_to(self.usual)
        }
    }
}

impl Faults for Weather {
    fn fate(&mut self, call: &Attempted<'_>) -> Fate {
        let cut = self.cut_off.get(usize::from(call.node));
        if cut.is_some_and(|(from, to)| (*from..*to).contains(&call.at)) {
            return Fate::LOST;
        }
        if self.random.permille(self.lost_request_permille) {
            return Fate::LOST;
        }
        let request = Some(self.latency());
        let lost_reply = self.random.permille(self.lost_reply_permille);
        let reply = if lost_reply { None } else { Some(self.latency()) };
        let lags = matches!(call.io, Io::Get) && self.random.permille(self.lag_permille);
        let lag = if lags { 1 + self.random.below(self.lag) } else { 0 };
        Fate { request, reply, lag, refused: self.random.permille(self.refused_permille) }
    }

    fn entropy(&mut self, _: u8, _: u64) -> u64 {
        self.random.bits()
    }

    fn lateness(&mut self, _: u8) -> u64 {
        self.random.up_to(self.lateness)
    }

    fn winds_down(&mut self) -> u64 {
        self.random.up_to(self.work)
    }

    fn works(&mut self) -> Option<(u64, u64)> {
        if self.works_every == 0 {
            return None;
        }
        Some((self.random.up_to(self.work), 1 + self.random.up_to(self.works_every)))
    }

    fn after(&mut self, _: u8) -> After {
        let delay = self.random.up_to(self.after_delay);
        let [again, replaced] = self.after;
        match self.random.below(1_000) {
            draw if draw < u64::from(again) => After::RunsAgain(delay),
            draw if draw < u64::from(again) + u64::from(replaced) => After::Replaced(delay),
            _ => After::Down,
        }
    }
}
