//! One machine and its callers, as a model.

use seatrial_core::machine::{CHANNELS, Channel, Cx, Machine, Step, Wakes};
use seatrial_core::runtime::{Ambient, Instant, WallTime};

use super::seats::{Seat, State, Status};
use super::woken::{MOST, Woken};
use super::{Bytes, Explored, Model, Moment, Steps, Wrong};
use crate::engine::TERMINATES;
pub use crate::engine::WakeUps;

/// When the clock may jump to the earliest deadline.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Jumps {
    /// When no caller can move.
    #[default]
    AtStandstill,
    /// Whenever a caller waits for a deadline.
    AtAnyTime,
}

/// The events that may happen to callers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Rules {
    /// Whether states that differ only by a permutation of callers are one state.
    pub symmetric: bool,
    /// When deadlines pass.
    pub jumps: Jumps,
    /// The waiters that a wake-up may reach.
    pub wake_ups: WakeUps,
    /// How many waits of each caller may end for no reason.
    pub spurious: u8,
}

impl Default for Rules {
    fn default() -> Self {
        Self { symmetric: true, jumps: Jumps::AtStandstill, wake_ups: WakeUps::Any, spurious: 0 }
    }
}

/// The event of a step.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Act {
    /// A caller runs one critical section and wakes others.
    Step {
        /// The caller.
        caller: u8,
        /// The callers that it wakes.
        wakes: Woken,
    },
    /// A caller wakes for no reason.
    Spurious {
        /// The caller.
        caller: u8,
    },
    /// The clock jumps to the earliest deadline.
    Jump,
}

/// The model of an [`Explored`].
#[derive(Clone, Debug)]
pub struct Callers<W> {
    /// The machine and the programs.
    pub subject: W,
    /// The events that may happen.
    pub rules: Rules,
}

/// The surroundings of one step: a time, and nothing else that changes.
#[derive(Clone, Copy, Debug)]
pub struct At(pub Instant);

impl Ambient for At {
    fn now(&self) -> Instant {
        self.0
    }

    fn wall(&self) -> WallTime {
        WallTime::default()
    }

    fn entropy(&self) -> u64 {
        0
    }
}

impl<W: Explored> Callers<W> {
    fn can_step(state: &State<W>, caller: usize) -> bool {
        matches!(state.seats[caller].status, Status::Awake | Status::Late(_))
            && state.holder.is_none_or(|holder| usize::from(holder) == caller)
    }

    /// Returns the call that a caller makes next, or goes on with.
    pub(super) fn pending(
        &self,
        state: &State<W>,
        at: usize,
    ) -> Option<<W::Machine as Machine>::Op> {
        let seat = &state.seats[at];
        seat.under_way.clone().or_else(|| self.subject.next(&seat.caller))
    }

    /// Lets a caller run one critical section, shows its outcome, and returns whom it wakes.
    pub(super) fn step(
        &self,
        state: &mut State<W>,
        at: usize,
        show: impl FnOnce(&Step<<W::Machine as Machine>::Ret>),
    ) -> Wakes {
        let seat = &mut state.seats[at];
        let next = seat.under_way.take().or_else(|| self.subject.next(&seat.caller));
        let mut op = next.expect("a caller that is awake has a call to make");
        let clock = At(state.now);
        let mut cx = Cx::new(&clock);
        let step = state.machine.step(&mut op, &mut cx);
        let mut wakes = cx.wakes;
        show(&step);
        state.holder = matches!(step, Step::Held(_)).then_some(at as u8);
        match step {
            Step::Done(ret) | Step::Held(ret) => {
                self.subject.returned(&mut seat.caller, ret);
                let has_more = self.subject.next(&seat.caller).is_some();
                seat.status = if has_more { Status::Awake } else { Status::Gone };
            }
            Step::Wait { on, until } => {
                seat.under_way = Some(op);
                if until.is_some_and(|until| until <= state.now) {
                    seat.status = Status::Late(on);
                } else {
                    state.sleep(at, on, until);
                }
            }
        }
        self.subject.edit(&mut wakes);
        wakes
    }

    /// Appends every way in which the wake-ups can be spent on callers that slept before the step.
    fn spend(
        &self,
        mut state: Box<State<W>>,
        stepped: usize,
        wakes: Wakes,
        into: &mut Steps<Self>,
    ) {
        let act = |wakes| Act::Step { caller: stepped as u8, wakes };
        let mut ways = std::mem::take(&mut into.ways);
        ways.begin();
        for on in (0..CHANNELS as Channel).filter(|&on| wakes.get(on) > 0) {
            let sleepers = self.sleepers(&state, stepped, on);
            let count = u32::from(wakes.get(on));
            match self.rules.wake_ups {
                WakeUps::Any => ways.spend(sleepers, count),
                WakeUps::InOrder => {
                    let first = |&at: &usize| u32::from(state.rank(at, on)) < count;
                    ways.reach(Woken::of(sleepers.members().filter(first)));
                }
            }
        }
        let (last, others) = ways.split_last();
        for &wakes in others {
            let mut copy = into.copy(&state);
            copy.wake(wakes);
            into.push(stepped, act(wakes), copy);
        }
        state.wake(last);
        into.push(stepped, act(last), state);
        into.ways = ways;
    }

    /// Returns the sleepers that a wake-up can reach. In order of arrival, one whose deadline has
    /// passed has left the line.
    fn sleepers(&self, state: &State<W>, stepped: usize, on: Channel) -> Woken {
        let in_line = |&at: &usize| match state.seats[at].status {
            Status::Asleep(place, _) => place == on,
            Status::Late(place) => place == on && self.rules.wake_ups == WakeUps::Any,
            Status::Awake | Status::Gone => false,
        };
        Woken::of((0..state.seats.len()).filter(|&at| at != stepped).filter(in_line))
    }

    fn jump(state: &State<W>) -> Option<State<W>> {
        let armed = state.seats.iter().filter_map(|seat| match seat.status {
            Status::Asleep(_, until) if until != Instant::NEVER => Some(until),
            _ => None,
        });
        let now = armed.min()?;
        let mut next = State { now, ..state.clone() };
        for at in 0..next.seats.len() {
            if let Status::Asleep(on, until) = next.seats[at].status
                && until <= now
            {
                next.rouse(at, Status::Late(on));
            }
        }
        Some(next)
    }

    /// Appends the wakings that have no reason.
    fn wake_spuriously(&self, state: &State<W>, into: &mut Steps<Self>) {
        let nobody = state.seats.len();
        for at in 0..nobody {
            let asleep = matches!(state.seats[at].status, Status::Asleep(..));
            if asleep && state.seats[at].spurious > 0 {
                let mut next = into.copy(state);
                next.rouse(at, Status::Awake);
                next.seats[at].spurious -= 1;
                into.push(nobody, Act::Spurious { caller: at as u8 }, next);
            }
        }
    }

    fn view_seat(&self, state: &State<W>, at: usize, into: &mut Bytes) {
        let seat = &state.seats[at];
        let holds_lock = u64::from(state.holder == Some(at as u8));
        let beginning = |kind: u64| kind | holds_lock << 2 | u64::from(seat.spurious) << 3;
        match seat.status {
            Status::Awake => into.number(beginning(0)),
            Status::Gone => into.number(beginning(1)),
            Status::Late(on) => {
                into.number(beginning(2));
                into.number(on);
            }
            Status::Asleep(on, until) => {
                into.number(beginning(3));
                into.number(on);
                into.maybe((until != Instant::NEVER).then(|| until.as_nanos()));
                if self.rules.wake_ups == WakeUps::InOrder {
                    into.number(state.rank(at, on));
                }
            }
        }
        self.subject.view_caller(&state.machine, &seat.caller, seat.under_way.as_ref(), into);
    }
}

impl<W: Explored> Model for Callers<W> {
    type State = State<W>;
    type Action = Act;

    fn initial(&self) -> State<W> {
        let seat = |caller: W::Caller| {
            let has_calls = self.subject.next(&caller).is_some();
            let status = if has_calls { Status::Awake } else { Status::Gone };
            Seat { caller, status, under_way: None, place: 0, spurious: self.rules.spurious }
        };
        let seats: Vec<_> = self.subject.callers().into_iter().map(seat).collect();
        assert!(seats.len() <= MOST, "a subject has at most {MOST} callers");
        State { machine: self.subject.machine(), seats, holder: None, now: Instant::ZERO }
    }

    fn steps(&self, state: &State<W>, into: &mut Steps<Self>) {
        for caller in (0..state.seats.len()).filter(|&caller| Self::can_step(state, caller)) {
            let mut next = into.copy(state);
            let wakes = self.step(&mut next, caller, |_| {});
            self.spend(next, caller, wakes, into);
        }
        let may_jump =
            into.is_empty() || self.rules.jumps == Jumps::AtAnyTime && state.holder.is_none();
        if may_jump && let Some(next) = Self::jump(state) {
            into.push(state.seats.len(), Act::Jump, Box::new(next));
        }
        if self.rules.spurious > 0 {
            self.wake_spuriously(state, into);
        }
    }

    fn view(&self, state: &State<W>, into: &mut Bytes) {
        into.number(state.now.as_nanos());
        self.subject.view(&state.machine, into);
        let seats = 0..state.seats.len();
        if self.rules.symmetric {
            into.unordered(seats, |into, at| self.view_seat(state, at, into));
        } else {
            seats.for_each(|at| self.view_seat(state, at, into));
        }
    }

    fn touch(&self, state: &State<W>) -> usize {
        let both_ends = |seat: &Seat<W>| seat.place + u8::from(seat.under_way.is_some());
        let seats: usize = state.seats.iter().map(|seat| usize::from(both_ends(seat))).sum();
        seats + self.subject.touch(&state.machine)
    }

    fn reaches(&self, state: &State<W>) -> bool {
        self.subject.reaches(&state.machine, state.callers())
    }

    fn wrong(&self, state: &State<W>, is_end: bool) -> Option<Wrong> {
        state.machine.assert_valid();
        let left: Vec<usize> = if is_end {
            (0..state.seats.len()).filter(|&at| state.seats[at].status != Status::Gone).collect()
        } else {
            Vec::new()
        };
        let stuck = !left.is_empty();
        let moment = Moment { machine: &state.machine, now: state.now, is_end: is_end && !stuck };
        self.subject.wrong(moment, state.callers()).or_else(|| {
            stuck.then(|| Wrong::new(TERMINATES, format!("callers {left:?} sleep for ever")))
        })
    }
}
