//! A machine and where its callers are at some moment.

use seatrial_core::machine::{Channel, Machine};
use seatrial_core::runtime::Instant;

use super::Explored;
use super::woken::Woken;

/// The progress of a caller in its call.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Status {
    /// It can run a critical section: its next call, or the one that it was woken in.
    Awake,
    /// Its deadline has passed. It can go on; a wake-up may still be spent on it.
    Late(Channel),
    /// It sleeps until it is woken, or until this time.
    Asleep(Channel, Instant),
    Gone,
}

/// A caller among the others.
#[derive(Clone)]
pub(super) struct Seat<W: Explored> {
    pub(super) caller: W::Caller,
    pub(super) status: Status,
    pub(super) under_way: Option<<W::Machine as Machine>::Op>,
    /// How many of the sleepers went to sleep before it.
    pub(super) place: u8,
    /// How often it may still wake for no reason.
    pub(super) spurious: u8,
}

/// The state of a machine and its callers.
pub struct State<W: Explored> {
    pub(super) machine: W::Machine,
    pub(super) seats: Vec<Seat<W>>,
    /// The caller that holds the lock between two operations.
    pub(super) holder: Option<u8>,
    pub(super) now: Instant,
}

impl<W: Explored> Clone for State<W> {
    fn clone(&self) -> Self {
        Self { machine: self.machine.clone(), seats: self.seats.clone(), ..*self }
    }

    /// Copies into the memory that is there.
    fn clone_from(&mut self, source: &Self) {
        let Self { machine, seats, holder, now } = self;
        machine.clone_from(&source.machine);
        seats.clone_from(&source.seats);
        (*holder, *now) = (source.holder, source.now);
    }
}

impl<W: Explored> State<W> {
    /// Returns the callers.
    pub fn callers(&self) -> impl Iterator<Item = &W::Caller> + Clone {
        self.seats.iter().map(|seat| &seat.caller)
    }

    /// Returns the machine.
    pub fn machine(&self) -> &W::Machine {
        &self.machine
    }

    /// Returns the time.
    pub fn now(&self) -> Instant {
        self.now
    }

    /// Sends a caller to sleep, behind all others.
    pub(super) fn sleep(&mut self, at: usize, on: Channel, until: Option<Instant>) {
        let asleep = self.seats.iter().filter(|seat| matches!(seat.status, Status::Asleep(..)));
        self.seats[at].place = asleep.count() as u8;
        self.seats[at].status = Status::Asleep(on, until.unwrap_or(Instant::NEVER));
    }

    /// Ends the sleep of a caller, if it sleeps.
    pub(super) fn rouse(&mut self, at: usize, status: Status) {
        if matches!(self.seats[at].status, Status::Asleep(..)) {
            let place = std::mem::take(&mut self.seats[at].place);
            for seat in &mut self.seats {
                seat.place -= u8::from(seat.place > place);
            }
        }
        self.seats[at].status = status;
    }

    /// Spends wake-ups on callers.
    pub(super) fn wake(&mut self, callers: Woken) {
        callers.members().for_each(|woken| self.rouse(woken, Status::Awake));
    }

    /// Returns how many went to sleep on the same channel before a caller.
    pub(super) fn rank(&self, at: usize, on: Channel) -> u8 {
        let place = self.seats[at].place;
        let before = |seat: &&Seat<W>| {
            matches!(seat.status, Status::Asleep(channel, _) if channel == on) && seat.place < place
        };
        self.seats.iter().filter(before).count() as u8
    }
}

impl<W: Explored> std::fmt::Debug for State<W> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("State").field("now", &self.now).finish_non_exhaustive()
    }
}
