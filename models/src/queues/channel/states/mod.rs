//! A channel and its callers, as states.

pub(crate) mod tests;

use seatrial_core::channel::{
    Act, Acts, Choose, Group, Hold, Leave, Op, Open, Outcome, PipeId, Ret, Side,
};
use seatrial_core::machine::{Cx, Machine, Step, Wakes};
use seatrial_core::runtime::Instant;

use super::Channel;
use crate::engine::state::{
    Bytes, Explored, Jumps, Moment, Place, Programs, Rules as May, WakeUps, Wrong,
};
use crate::single_step::HandClock;
use crate::trial::{Component, Simulation, States};

/// The only channel.
const PIPE: PipeId = PipeId(0);

/// One instruction of a caller.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Call {
    /// Sends a message; the messages of one sender grow.
    Send(u8),
    /// Receives this many messages, or fewer if no more come.
    Receive(u8),
    /// Stops using an end.
    Leave(Side),
}

/// The position of a caller.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Caller {
    at: Place,
    /// The messages that it has received, a bit each.
    got: u16,
    /// How many messages it has received in the call under way.
    received: u8,
    /// Whether a message came after a later one of the same sender.
    disordered: bool,
    /// Whether one of its sends failed because there is no receiver.
    failed: bool,
}

/// Callers at one channel.
#[derive(Clone, Debug)]
pub(super) struct AtChannel {
    programs: Programs<Call>,
    capacity: Option<usize>,
    edit: fn(&mut Wakes),
}

impl AtChannel {
    fn new(capacity: Option<usize>, programs: &[&[Call]]) -> Self {
        Self { programs: Programs::new(programs), capacity, edit: |_| {} }
    }

    /// Returns the messages of the same sender that are later than `message`; a sender has eight.
    fn later(message: u8) -> u16 {
        let all = (1_u16 << 8) - 1;
        let its = if message < 8 { all } else { all << 8 };
        its & !((2_u16 << message) - 1)
    }

    fn sends(&self) -> u16 {
        let sent = self.programs.all().filter_map(|call| match call {
            Call::Send(message) => Some(1_u16 << message),
            _ => None,
        });
        sent.fold(0, |all, message| all | message)
    }
}

const SENDS: Call = Call::Leave(Side::Sending);
const RECEIVES: Call = Call::Leave(Side::Receiving);

/// Two senders, and two receivers that receive until the end.
const ALL: &[&[Call]] = &[
    &[Call::Send(0), Call::Send(1), SENDS],
    &[Call::Send(8), Call::Send(9), SENDS],
    &[Call::Receive(9), RECEIVES],
    &[Call::Receive(9), RECEIVES],
];

/// As [`ALL`], but the receivers leave early.
const FEW: &[&[Call]] = &[
    &[Call::Send(0), Call::Send(1), Call::Send(2), SENDS],
    &[Call::Send(8), Call::Send(9), SENDS],
    &[Call::Receive(1), RECEIVES],
    &[Call::Receive(1), RECEIVES],
];

/// Lists the models.
pub(super) fn all() -> Vec<Box<dyn Simulation<Channel>>> {
    const JUDGES: &[&str] =
        &["received_once", "nothing_lost", "in_order", "fails_without_receivers"];
    const RULES: May =
        May { symmetric: true, jumps: Jumps::AtStandstill, wake_ups: WakeUps::Any, spurious: 0 };
    let models = [
        States {
            name: "states_of_a_place",
            says: "two callers send and two receive through a channel with room for one message",
            judges: JUDGES,
            subject: || AtChannel::new(Some(1), ALL),
            rules: RULES,
        },
        States {
            name: "states_of_a_rendezvous",
            says: "two callers send and two receive through a channel without a buffer",
            judges: JUDGES,
            subject: || AtChannel::new(Some(0), ALL),
            rules: RULES,
        },
        States {
            name: "states_of_receivers_that_go",
            says: "two callers send, and the receivers leave before they have received all",
            judges: JUDGES,
            subject: || AtChannel::new(Some(1), FEW),
            rules: May { spurious: 1, ..RULES },
        },
    ];
    models.into_iter().map(|model| Box::new(model) as Box<dyn Simulation<Channel>>).collect()
}

impl Explored for AtChannel {
    type Machine = Group<u8>;
    type Caller = Caller;

    fn machine(&self) -> Group<u8> {
        let (mut group, clock) = (Group::default(), HandClock::default());
        let mut call = |mut op| drop(group.step(&mut op, &mut Cx::new(&clock)));
        call(Op::Open(Open(self.capacity)));
        for side in [Side::Sending, Side::Receiving] {
            let users = self.programs.all().filter(|call| *call == Call::Leave(side)).count();
            (1..users).for_each(|_| call(Op::Hold(Hold(PIPE, side))));
        }
        group
    }

    fn callers(&self) -> Vec<Caller> {
        let start = |at| Caller { at, got: 0, received: 0, disordered: false, failed: false };
        self.programs.places().into_iter().map(start).collect()
    }

    fn next(&self, caller: &Caller) -> Option<Op<u8>> {
        let act = match self.programs.call(caller.at)? {
            Call::Send(message) => Act::Send(PIPE, Some(message)),
            Call::Receive(_) => Act::Receive(PIPE),
            Call::Leave(side) => return Some(Op::Leave(Leave(PIPE, side))),
        };
        Some(Op::Choose(Choose::new(Acts::One([act]), Instant::NEVER)))
    }

    fn returned(&self, caller: &mut Caller, ret: Ret<u8>) {
        let done = match ret {
            Ret::Choose(chosen) => chosen.done.map(|(_, outcome)| outcome),
            _ => None,
        };
        caller.failed |= matches!(done, Some(Outcome::Sent(Err(_))));
        if let Some(Outcome::Received(Ok(message))) = done {
            caller.disordered |= caller.got & Self::later(message) != 0;
            caller.got |= 1 << message;
            caller.received += 1;
            if self.programs.call(caller.at) != Some(Call::Receive(caller.received)) {
                return;
            }
        }
        caller.received = 0;
        caller.at.advance();
    }

    fn view(&self, machine: &Group<u8>, into: &mut Bytes) {
        into.number(machine.messages(PIPE).count() as u64);
        machine.messages(PIPE).for_each(|message| into.number(*message));
    }

    /// The view of a caller: its remaining calls, the messages that it has seen, and its place
    /// among the callers that wait.
    fn view_caller(
        &self,
        machine: &Group<u8>,
        caller: &Caller,
        call: Option<&Op<u8>>,
        into: &mut Bytes,
    ) {
        self.programs.view(caller.at, into);
        into.number(caller.got);
        into.number(caller.received);
        into.number(u8::from(caller.disordered) << 1 | u8::from(caller.failed));
        let ticket = match call {
            Some(Op::Choose(call)) => call.ticket,
            _ => None,
        };
        let place = ticket.and_then(|ticket| machine.place(ticket));
        into.maybe(place.map(|(place, met)| {
            let met = match met {
                None => 0,
                Some(Outcome::Received(Ok(message))) => 2 + u64::from(*message),
                Some(_) => 1,
            };
            (place as u64) << 8 | met
        }));
    }

    fn wrong<'a>(
        &self,
        at: Moment<'_, Group<u8>>,
        callers: impl Iterator<Item = &'a Caller> + Clone,
    ) -> Option<Wrong> {
        let mut got = 0;
        for caller in callers.clone() {
            if caller.got & got != 0 {
                return Some(Wrong::new("received_once", "two have received a message"));
            }
            got |= caller.got;
            if caller.disordered {
                return Some(Wrong::new("in_order", "a later message of a sender came first"));
            }
        }
        let receives = |caller: &&Caller| {
            let left = self.programs.call(caller.at);
            matches!(left, Some(Call::Receive(_) | RECEIVES))
        };
        let failed = callers.clone().any(|caller| caller.failed);
        if failed && callers.clone().any(|caller| receives(&caller)) {
            return Some(Wrong::new("fails_without_receivers", "a send has failed beside one"));
        }
        let is_lost = at.is_end && !failed && at.machine.messages(PIPE).next().is_some();
        let is_short = self.programs.all().any(|call| matches!(call, Call::Receive(n) if n < 9));
        let is_gone = at.is_end && !is_short && got != self.sends();
        (is_lost || is_gone).then(|| Wrong::new("nothing_lost", "a message is nowhere"))
    }

    fn reaches<'a>(
        &self,
        machine: &Group<u8>,
        _: impl Iterator<Item = &'a Caller> + Clone,
    ) -> bool {
        machine.waits() == 2
    }

    fn describe(&self, op: &Op<u8>, outcome: &Step<Ret<u8>>) -> String {
        Channel::describe(op, outcome)
    }

    fn edit(&self, wakes: &mut Wakes) {
        (self.edit)(wakes);
    }
}
