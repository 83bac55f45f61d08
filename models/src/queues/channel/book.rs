//! The state of the channels of a history: their messages, and the calls that wait for them.
//!
//! All messages of a scenario are different numbers, and a thread has one call under way at a time.
//! So a waiting call is identified by its thread, and a message by its number.

use std::collections::{BTreeMap, BTreeSet};

use seatrial_core::channel::{Act, Chosen, Op, Outcome, PipeId, Ret, Side};
use seatrial_core::machine::Step;
use seatrial_core::runtime::Instant;

use super::{Channel, Event};
use crate::trial::{self, What};

/// A channel.
#[derive(Clone, Debug)]
pub(super) struct Pipe {
    pub(super) capacity: Option<usize>,
    pub(super) senders: usize,
    pub(super) receivers: usize,
    /// The messages that were sent and not received. In a rendezvous, a message here is on its way
    /// to a caller that waited, or it came back from one that gave up.
    pub(super) kept: Vec<u8>,
}

impl Pipe {
    pub(super) fn is_rendezvous(&self) -> bool {
        self.capacity == Some(0)
    }

    pub(super) fn has_room(&self) -> bool {
        self.capacity.is_none_or(|capacity| self.kept.len() < capacity)
    }
}

/// A call that waits.
#[derive(Clone, Debug)]
pub(super) struct Call {
    pub(super) acts: Vec<Act<u8>>,
    pub(super) until: Instant,
    /// How many calls waited before it.
    pub(super) place: usize,
}

/// A call that ends.
pub(super) struct Ending<'a> {
    pub(super) acts: Vec<Act<u8>>,
    pub(super) until: Instant,
    pub(super) chosen: &'a Chosen<u8>,
}

impl Ending<'_> {
    /// Returns the message that it sent, and the channel, if it sent one.
    pub(super) fn sent(&self) -> Option<(PipeId, u8)> {
        match self.done()? {
            (Act::Send(pipe, Some(message)), Outcome::Sent(Ok(()))) => Some((*pipe, *message)),
            _ => None,
        }
    }

    /// Returns the message that it received, and the channel, if it received one.
    pub(super) fn received(&self) -> Option<(PipeId, u8)> {
        match self.done()? {
            (Act::Receive(pipe), Outcome::Received(Ok(message))) => Some((*pipe, *message)),
            _ => None,
        }
    }

    /// Returns the act that was done, and its outcome.
    pub(super) fn done(&self) -> Option<(&Act<u8>, &Outcome<u8>)> {
        let (at, outcome) = self.chosen.done.as_ref()?;
        Some((self.acts.get(*at)?, outcome))
    }
}

/// The state before an event.
#[derive(Clone, Debug, Default)]
pub(crate) struct Known {
    pub(super) pipes: BTreeMap<PipeId, Pipe>,
    /// Calls that wait, by their threads.
    pub(super) calls: BTreeMap<u8, Call>,
    /// The messages that were received from a caller that still waits to send them.
    pub(super) taken: BTreeSet<u8>,
    /// The messages that were not sent: their call was given up, or gave them back.
    pub(super) withdrawn: BTreeSet<u8>,
    waited: usize,
}

impl Known {
    /// Returns the call that an event ends, if it ends a send, a receive or a select.
    pub(super) fn ending<'a>(&self, event: &'a Event) -> Option<Ending<'a>> {
        let Some((Op::Choose(call), Ret::Choose(chosen))) = event.returned() else { return None };
        let acts = match self.calls.get(&event.thread) {
            Some(waited) => waited.acts.clone(),
            None => call.acts.to_vec(),
        };
        Some(Ending { acts, until: call.until, chosen })
    }

    /// Lists the other calls that wait at an end of a channel, each with its act.
    pub(super) fn others(
        &self,
        thread: u8,
        pipe: PipeId,
        side: Side,
    ) -> impl Iterator<Item = (&Call, &Act<u8>)> {
        let others = self.calls.iter().filter(move |(other, _)| **other != thread);
        others.filter_map(move |(_, call)| {
            let mut acts = call.acts.iter();
            Some((call, acts.find(|act| act.pipe() == pipe && act.side() == side)?))
        })
    }

    /// Tells whether no partner can have met a waiting call.
    pub(super) fn is_unmet(&self, call: &Call) -> bool {
        call.acts.iter().all(|act| match act {
            Act::Receive(pipe) => {
                let pipe = &self.pipes[pipe];
                !pipe.is_rendezvous() || pipe.kept.is_empty()
            }
            Act::Send(_, message) => message.is_none_or(|message| !self.taken.contains(&message)),
        })
    }

    /// Returns the reason why an act can be done now, if it certainly can.
    pub(super) fn ready(&self, thread: u8, act: &Act<u8>) -> Option<&'static str> {
        let (at, pipe) = (act.pipe(), self.pipes.get(&act.pipe())?);
        let waits = |side| {
            let mut others = self.others(thread, at, side);
            pipe.is_rendezvous() && others.any(|(call, _)| self.is_unmet(call))
        };
        match act {
            Act::Send(_, Some(message)) if self.taken.contains(message) => Some("it was received"),
            Act::Send(..) if pipe.receivers == 0 => Some("all receivers are gone"),
            Act::Send(..) if !pipe.is_rendezvous() && pipe.has_room() => Some("there is room"),
            Act::Send(..) if waits(Side::Receiving) => Some("somebody waits to receive it"),
            Act::Receive(_) if self.lies(thread, at) => Some("a message is there"),
            Act::Receive(_) if pipe.senders == 0 => Some("all senders are gone"),
            Act::Receive(_) if waits(Side::Sending) => Some("somebody waits to send"),
            _ => None,
        }
    }

    /// Tells whether a channel has a message that is not on its way to another caller.
    pub(super) fn lies(&self, thread: u8, at: PipeId) -> bool {
        let kept = self.pipes[&at].kept.len();
        let others = self.others(thread, at, Side::Receiving).count();
        kept > if self.pipes[&at].is_rendezvous() { others } else { 0 }
    }

    fn users(&mut self, pipe: PipeId, side: Side, change: impl Fn(usize) -> usize) {
        if let Some(pipe) = self.pipes.get_mut(&pipe) {
            let users = match side {
                Side::Sending => &mut pipe.senders,
                Side::Receiving => &mut pipe.receivers,
            };
            *users = change(*users);
            if pipe.receivers == 0 {
                pipe.kept.clear();
            }
        }
    }

    /// Notes the outcome of a call.
    fn settle(&mut self, ending: &Ending<'_>) {
        self.withdrawn.extend(ending.chosen.unsent.iter().map(|(_, message)| *message));
        if let Some((pipe, message)) = ending.sent()
            && !self.taken.remove(&message)
            && let Some(pipe) = self.pipes.get_mut(&pipe)
        {
            pipe.kept.push(message);
        }
        if let Some((pipe, message)) = ending.received()
            && let Some(pipe) = self.pipes.get_mut(&pipe)
        {
            match pipe.kept.iter().position(|kept| *kept == message) {
                Some(at) => drop(pipe.kept.remove(at)),
                None => drop(self.taken.insert(message)),
            }
        }
    }

    fn gives_up(&mut self, thread: u8) {
        let acts = self.calls.remove(&thread).map_or(vec![], |call| call.acts);
        for act in acts {
            if let Act::Send(_, Some(message)) = act
                && !self.taken.contains(&message)
            {
                self.withdrawn.insert(message);
            }
        }
    }
}

impl trial::Ledger<Channel> for Known {
    fn apply(&mut self, event: &Event) {
        if let Some(ending) = self.ending(event) {
            self.calls.remove(&event.thread);
            self.settle(&ending);
        }
        let (op, outcome) = match &event.what {
            What::Step { op, outcome, .. } => (op, outcome),
            What::Cancel { .. } => return self.gives_up(event.thread),
            _ => return,
        };
        match (op, outcome) {
            (Op::Open(open), Step::Done(Ret::Open(pipe))) => {
                let opened = Pipe { capacity: open.0, senders: 1, receivers: 1, kept: Vec::new() };
                self.pipes.insert(*pipe, opened);
            }
            (Op::Hold(hold), _) => self.users(hold.0, hold.1, |users| users + 1),
            (Op::Leave(leave), _) => {
                self.users(leave.0, leave.1, |users| users.saturating_sub(1));
            }
            (Op::Choose(call), Step::Wait { .. }) if !self.calls.contains_key(&event.thread) => {
                self.waited += 1;
                let (acts, place) = (call.acts.to_vec(), self.waited);
                self.calls.insert(event.thread, Call { acts, until: call.until, place });
            }
            _ => {}
        }
    }
}
