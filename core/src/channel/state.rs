//! The rules of a group of channels: what lies in them, who waits for which, and who meets whom.

use std::collections::{BTreeMap, VecDeque};

use super::acts::{Act, Acts, Outcome, PipeId};
use super::errors::Disconnected;
use super::operations::Message;
use crate::machine::{Channel, Cx};

/// Where those sleep who wait to send into one channel that keeps messages.
pub const SENDERS: Channel = 0;
/// Where those sleep who wait to receive from one channel that keeps messages.
pub const RECEIVERS: Channel = 1;
/// Where those sleep who must meet somebody, or who wait for several channels.
pub const MEETING: Channel = 2;

/// Room for this many messages is kept.
const KEPT: usize = 1024;

/// One end of a channel.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Side {
    /// Where messages go in.
    Sending,
    /// Where they come out.
    Receiving,
}

/// Channels under one lock.
#[derive(Clone, Debug)]
pub struct Group<T> {
    pipes: Vec<Pipe<T>>,
    /// Calls that wait, the oldest first.
    pub(super) waiting: BTreeMap<u64, Waiting<T>>,
    tickets: u64,
    /// How many messages were handed to one who waited.
    handed: u64,
}

#[derive(Clone, Debug)]
struct Pipe<T> {
    /// `None` without limit. Through one of none a message goes from hand to hand.
    capacity: Option<usize>,
    queue: VecDeque<T>,
    /// What was handed to calls that were then given up, in the order in which it was handed.
    back: BTreeMap<u64, T>,
    /// How many can send, and how many can receive.
    senders: usize,
    receivers: usize,
}

/// A call that waits.
#[derive(Clone, Debug)]
pub(super) struct Waiting<T> {
    pub(super) acts: Acts<T>,
    /// What somebody who came later did with it, and with which of its acts.
    pub(super) met: Option<(usize, Outcome<T>)>,
    /// The number of the message that it was handed.
    pub(super) handed: u64,
}

impl<T> Default for Group<T> {
    fn default() -> Self {
        Self { pipes: Vec::new(), waiting: BTreeMap::new(), tickets: 0, handed: 0 }
    }
}

impl<T> Pipe<T> {
    fn is_rendezvous(&self) -> bool {
        self.capacity == Some(0)
    }

    fn has_room(&self) -> bool {
        self.capacity.is_none_or(|capacity| self.queue.len() < capacity)
    }

    fn has_message(&self) -> bool {
        !self.queue.is_empty() || !self.back.is_empty()
    }

    fn take_first(&mut self) -> Option<T> {
        self.queue.pop_front().or_else(|| Some(self.back.pop_first()?.1))
    }

    /// Gives memory back that a burst took.
    fn shrink(&mut self) {
        if self.queue.capacity() > KEPT && self.queue.len() < self.queue.capacity() / 4 {
            self.queue.shrink_to(self.queue.capacity() / 2);
        }
    }
}

impl<T: Message> Group<T> {
    /// Opens a channel, in the place of one that nobody can use any more if there is one.
    pub(super) fn open(&mut self, capacity: Option<usize>) -> PipeId {
        let (queue, back) = (VecDeque::new(), BTreeMap::new());
        let pipe = Pipe { capacity, queue, back, senders: 1, receivers: 1 };
        let unused = self.pipes.iter().position(|pipe| pipe.senders + pipe.receivers == 0);
        let at = unused.unwrap_or(self.pipes.len());
        match self.pipes.get_mut(at) {
            Some(old) => *old = pipe,
            None => self.pipes.push(pipe),
        }
        PipeId(at)
    }

    /// Counts one more who can use an end.
    pub(super) fn hold(&mut self, pipe: PipeId, side: Side) {
        *self.users(pipe, side) += 1;
    }

    /// Counts one less. Behind the last receiver nobody is given what waits: it is returned.
    pub(super) fn leave(&mut self, pipe: PipeId, side: Side, cx: &mut Cx<'_>) -> VecDeque<T> {
        let users = self.users(pipe, side);
        *users -= 1;
        if *users > 0 {
            return VecDeque::new();
        }
        cx.wakes.all(MEETING);
        match side {
            Side::Sending => {
                cx.wakes.all(RECEIVERS);
                VecDeque::new()
            }
            Side::Receiving => {
                cx.wakes.all(SENDERS);
                let pipe = &mut self.pipes[pipe.0];
                let mut left = std::mem::take(&mut pipe.queue);
                left.extend(std::mem::take(&mut pipe.back).into_values());
                left
            }
        }
    }

    fn users(&mut self, pipe: PipeId, side: Side) -> &mut usize {
        let pipe = &mut self.pipes[pipe.0];
        match side {
            Side::Sending => &mut pipe.senders,
            Side::Receiving => &mut pipe.receivers,
        }
    }

    pub(super) fn len(&self, pipe: PipeId) -> usize {
        self.pipes[pipe.0].queue.len()
    }

    /// Does one of the acts that can be done now, each with the same chance.
    pub(super) fn attempt(
        &mut self,
        acts: &mut [Act<T>],
        cx: &mut Cx<'_>,
    ) -> Option<(usize, Outcome<T>)> {
        let is_ready = |at: &usize| self.is_ready(&acts[*at]);
        let nth = match (0..acts.len()).filter(is_ready).count() {
            0 => return None,
            1 => 0,
            several => cx.ambient().choose(u32::try_from(several).unwrap_or(u32::MAX)),
        };
        let at = (0..acts.len()).filter(is_ready).nth(nth as usize)?;
        let outcome = match &mut acts[at] {
            Act::Receive(pipe) => self.receive(*pipe, cx),
            Act::Send(pipe, message) => {
                let message = message.take().expect("a message is sent once");
                self.send(*pipe, message, cx)
            }
        };
        Some((at, outcome))
    }

    fn is_ready(&self, act: &Act<T>) -> bool {
        let pipe = &self.pipes[act.pipe().0];
        match act.side() {
            Side::Sending => {
                let over = pipe.receivers == 0;
                over || pipe.has_room() || self.partner(act.pipe(), Side::Receiving).is_some()
            }
            Side::Receiving => {
                let over = pipe.senders == 0;
                over || pipe.has_message() || self.partner(act.pipe(), Side::Sending).is_some()
            }
        }
    }

    /// Finds who has waited longest at an end of a channel from hand to hand, and for which act.
    fn partner(&self, pipe: PipeId, side: Side) -> Option<(u64, usize)> {
        if !self.pipes[pipe.0].is_rendezvous() {
            return None;
        }
        let unmet = self.waiting.iter().filter(|(_, waiting)| waiting.met.is_none());
        let mut found = unmet.filter_map(|(ticket, waiting)| {
            let at = waiting.acts.iter().position(|act| act.pipe() == pipe && act.side() == side);
            Some((*ticket, at?))
        });
        found.next()
    }

    /// Ends the waiting of a partner by this act.
    fn meet(&mut self, (ticket, at): (u64, usize), outcome: Outcome<T>) -> Option<&mut Act<T>> {
        let waiting = self.waiting.get_mut(&ticket)?;
        waiting.met = Some((at, outcome));
        waiting.acts.get_mut(at)
    }

    fn hand(&mut self, partner: (u64, usize), number: u64, message: T) {
        self.meet(partner, Outcome::Received(Ok(message)));
        if let Some(waiting) = self.waiting.get_mut(&partner.0) {
            waiting.handed = number;
        }
    }

    fn send(&mut self, to: PipeId, message: T, cx: &mut Cx<'_>) -> Outcome<T> {
        if self.pipes[to.0].receivers == 0 {
            return Outcome::Sent(Err(Disconnected(message)));
        }
        cx.wakes.all(MEETING);
        if let Some(partner) = self.partner(to, Side::Receiving) {
            self.handed += 1;
            self.hand(partner, self.handed, message);
        } else {
            self.pipes[to.0].queue.push_back(message);
            self.wake(RECEIVERS, cx);
        }
        Outcome::Sent(Ok(()))
    }

    fn receive(&mut self, from: PipeId, cx: &mut Cx<'_>) -> Outcome<T> {
        let pipe = &mut self.pipes[from.0];
        let mut message = pipe.take_first();
        pipe.shrink();
        if message.is_some() {
            self.wake(SENDERS, cx);
        } else if let Some(partner) = self.partner(from, Side::Sending)
            && let Some(Act::Send(_, sent)) = self.meet(partner, Outcome::Sent(Ok(())))
        {
            message = sent.take();
        }
        if message.is_some() {
            cx.wakes.all(MEETING);
        }
        Outcome::Received(message.ok_or(Disconnected(())))
    }

    /// Wakes one who can use what has changed. With several channels those who sleep want different
    /// things, so all of them look.
    fn wake(&self, on: Channel, cx: &mut Cx<'_>) {
        if self.pipes.len() == 1 { cx.wakes.one(on) } else { cx.wakes.all(on) }
    }

    /// Returns where a call sleeps that wants one of these.
    pub(super) fn line(&self, acts: &[Act<T>]) -> Channel {
        match acts {
            [act] if !self.pipes[act.pipe().0].is_rendezvous() => match act.side() {
                Side::Sending => SENDERS,
                Side::Receiving => RECEIVERS,
            },
            _ => MEETING,
        }
    }

    /// Notes who waits. Who waited before keeps its place.
    pub(super) fn enrol(&mut self, ticket: Option<u64>, acts: Acts<T>) -> u64 {
        let ticket = ticket.unwrap_or_else(|| {
            self.tickets += 1;
            self.tickets
        });
        self.waiting.insert(ticket, Waiting { acts, met: None, handed: 0 });
        ticket
    }

    /// Takes a message back that was handed to a call which was given up. Its sender has gone on, so
    /// it is received before what is sent later, and behind what was handed over before it.
    pub(super) fn take_back(&mut self, from: PipeId, (number, message): (u64, T), cx: &mut Cx<'_>) {
        cx.wakes.all(MEETING);
        match self.partner(from, Side::Receiving) {
            Some(partner) => self.hand(partner, number, message),
            None => drop(self.pipes[from.0].back.insert(number, message)),
        }
    }

    /// Lists the messages of a channel that are on their way to nobody, in their order.
    pub fn messages(&self, pipe: PipeId) -> impl Iterator<Item = &T> {
        let pipe = &self.pipes[pipe.0];
        pipe.queue.iter().chain(pipe.back.values())
    }

    /// Counts the calls that wait.
    pub fn waits(&self) -> usize {
        self.waiting.len()
    }

    /// Returns how many began to wait before a call that waits, and what somebody did with it.
    pub fn place(&self, ticket: u64) -> Option<(usize, Option<&Outcome<T>>)> {
        let met = self.waiting.get(&ticket)?.met.as_ref();
        Some((self.waiting.range(..ticket).count(), met.map(|(_, outcome)| outcome)))
    }

    /// Checks the rules that every step keeps.
    ///
    /// # Panics
    /// If one is broken.
    pub fn check(&self) {
        for (at, pipe) in self.pipes.iter().enumerate() {
            let [sends, receives] = [Side::Sending, Side::Receiving]
                .map(|side| self.partner(PipeId(at), side).map(|(ticket, _)| ticket));
            if pipe.is_rendezvous() {
                let both = sends.is_some() && receives.is_some() && sends != receives;
                assert!(!both, "a sender and a receiver that wait have not met");
                let missed = receives.is_some() && pipe.has_message();
                assert!(!missed, "a receiver waits for what is there");
            } else {
                let most = pipe.capacity.unwrap_or(usize::MAX);
                assert!(pipe.queue.len() <= most, "there is more in a channel than fits");
            }
        }
    }
}

#[cfg(test)]
impl<T: Message> Group<T> {
    /// Returns for how many messages there is memory.
    pub(super) fn room(&self, pipe: PipeId) -> usize {
        self.pipes[pipe.0].queue.capacity()
    }

    /// Puts messages in without asking.
    pub(super) fn put(&mut self, pipe: PipeId, messages: &[T]) {
        self.pipes[pipe.0].queue.extend(messages.iter().cloned());
    }
}
