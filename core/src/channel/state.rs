//! The rules of a group of channels: waiting messages, waiting calls, and how calls meet.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use super::acts::{Act, Acts, Outcome, PipeId};
use super::errors::Disconnected;
use super::operations::Message;
use crate::machine::{Channel, Cx};

/// Callers that wait to send into a single channel that stores messages sleep here.
pub const SENDERS: Channel = 0;
/// Callers that wait to receive from a single channel that stores messages sleep here.
pub const RECEIVERS: Channel = 1;
/// Callers in a rendezvous, or that wait for several channels, sleep here.
pub const MEETING: Channel = 2;

/// A smaller buffer than this is not shrunk.
const KEPT: usize = 1024;

/// One end of a channel.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Side {
    /// The end where messages go in.
    Sending,
    /// The end where messages come out.
    Receiving,
}

impl Side {
    const fn other(self) -> Self {
        match self {
            Self::Sending => Self::Receiving,
            Self::Receiving => Self::Sending,
        }
    }
}

/// Channels under one lock.
#[derive(Clone, Debug)]
pub struct Group<T> {
    pipes: Vec<Pipe<T>>,
    /// Channels without users, whose places are used again.
    unused: BTreeSet<PipeId>,
    /// Waiting calls, the oldest first.
    waiting: BTreeMap<u64, Waiting<T>>,
    /// The waiting calls at each end of a rendezvous that have not met another one, by ticket.
    unmet: BTreeSet<(PipeId, Side, u64)>,
    tickets: u64,
    /// How many messages were handed directly to a waiting call.
    handed: u64,
}

#[derive(Clone, Debug)]
struct Pipe<T> {
    /// `None` for no limit. With zero, the channel is a rendezvous.
    capacity: Option<usize>,
    queue: VecDeque<T>,
    /// Messages that were handed to calls which were then dropped, in the order of handing.
    back: BTreeMap<u64, T>,
    /// How many users can send, and how many can receive.
    senders: usize,
    receivers: usize,
}

/// A call that waits.
#[derive(Clone, Debug)]
pub(super) struct Waiting<T> {
    pub(super) acts: Acts<T>,
    /// The act that a later call completed for it, and the outcome.
    pub(super) met: Option<(usize, Outcome<T>)>,
    /// The number of the message that it was handed.
    pub(super) handed: u64,
}

impl<T> Default for Group<T> {
    fn default() -> Self {
        Self {
            pipes: Vec::new(),
            unused: BTreeSet::new(),
            waiting: BTreeMap::new(),
            unmet: BTreeSet::new(),
            tickets: 0,
            handed: 0,
        }
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

    /// Gives back memory that a burst took.
    fn shrink(&mut self) {
        if self.queue.capacity() > KEPT && self.queue.len() < self.queue.capacity() / 4 {
            self.queue.shrink_to(self.queue.capacity() / 2);
        }
    }
}

impl<T: Message> Group<T> {
    /// Opens a channel. It reuses the place of a channel without users, if there is one.
    pub(super) fn open(&mut self, capacity: Option<usize>) -> PipeId {
        let (queue, back) = (VecDeque::new(), BTreeMap::new());
        let pipe = Pipe { capacity, queue, back, senders: 1, receivers: 1 };
        if let Some(unused) = self.unused.pop_first() {
            self.pipes[unused.0] = pipe;
            return unused;
        }
        self.pipes.push(pipe);
        PipeId(self.pipes.len() - 1)
    }

    /// Counts one more user of an end.
    pub(super) fn hold(&mut self, pipe: PipeId, side: Side) {
        *self.users(pipe, side) += 1;
    }

    /// Counts one user less. After the last receiver, returns the waiting messages.
    pub(super) fn leave(&mut self, pipe: PipeId, side: Side, cx: &mut Cx<'_>) -> VecDeque<T> {
        let users = self.users(pipe, side);
        *users -= 1;
        if *users > 0 {
            return VecDeque::new();
        }
        if *self.users(pipe, side.other()) == 0 {
            self.unused.insert(pipe);
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

    /// Does one of the acts that are possible now, each with the same chance.
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

    /// Finds the call that has waited longest at an end of a rendezvous, and its act.
    fn partner(&self, pipe: PipeId, side: Side) -> Option<(u64, usize)> {
        let (_, _, ticket) = *self.unmet.range((pipe, side, 0)..=(pipe, side, u64::MAX)).next()?;
        let acts = &self.waiting.get(&ticket)?.acts;
        let at = acts.iter().position(|act| act.pipe() == pipe && act.side() == side)?;
        Some((ticket, at))
    }

    /// Lists the places in `unmet` of a call with these acts.
    fn places(&self, ticket: u64, acts: &[Act<T>]) -> Vec<(PipeId, Side, u64)> {
        let places = acts.iter().map(|act| (act.pipe(), act.side(), ticket));
        places.filter(|(pipe, ..)| self.pipes[pipe.0].is_rendezvous()).collect()
    }

    /// Completes the act of a waiting partner.
    fn meet(&mut self, (ticket, at): (u64, usize), outcome: Outcome<T>) -> Option<&mut Act<T>> {
        for place in self.places(ticket, &self.waiting.get(&ticket)?.acts) {
            self.unmet.remove(&place);
        }
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

    /// Wakes one caller that can use the change. With several channels, sleepers wait for different
    /// things, so all are woken.
    fn wake(&self, on: Channel, cx: &mut Cx<'_>) {
        if self.pipes.len() == 1 { cx.wakes.one(on) } else { cx.wakes.all(on) }
    }

    /// Returns the place where a call with these acts sleeps.
    pub(super) fn line(&self, acts: &[Act<T>]) -> Channel {
        match acts {
            [act] if !self.pipes[act.pipe().0].is_rendezvous() => match act.side() {
                Side::Sending => SENDERS,
                Side::Receiving => RECEIVERS,
            },
            _ => MEETING,
        }
    }

    /// Notes a waiting call. A call that has waited before keeps its place.
    pub(super) fn enrol(&mut self, ticket: Option<u64>, acts: Acts<T>) -> u64 {
        let ticket = ticket.unwrap_or_else(|| {
            self.tickets += 1;
            self.tickets
        });
        let places = self.places(ticket, &acts);
        self.unmet.extend(places);
        self.waiting.insert(ticket, Waiting { acts, met: None, handed: 0 });
        ticket
    }

    /// Removes a call from those that wait, whether it has met another one or not.
    pub(super) fn withdraw(&mut self, ticket: Option<u64>) -> Option<Waiting<T>> {
        let ticket = ticket?;
        let waiting = self.waiting.remove(&ticket)?;
        for place in self.places(ticket, &waiting.acts) {
            self.unmet.remove(&place);
        }
        Some(waiting)
    }

    /// Takes back a message that was handed to a call which was then dropped. Its sender has
    /// already continued, so it is received before later messages, and after those handed over
    /// before it.
    pub(super) fn take_back(&mut self, from: PipeId, (number, message): (u64, T), cx: &mut Cx<'_>) {
        cx.wakes.all(MEETING);
        match self.partner(from, Side::Receiving) {
            Some(partner) => self.hand(partner, number, message),
            None => drop(self.pipes[from.0].back.insert(number, message)),
        }
    }

    /// Lists, in order, the messages of a channel that no waiting call has.
    pub fn messages(&self, pipe: PipeId) -> impl Iterator<Item = &T> {
        let pipe = &self.pipes[pipe.0];
        pipe.queue.iter().chain(pipe.back.values())
    }

    /// Counts the calls that wait.
    pub fn waits(&self) -> usize {
        self.waiting.len()
    }

    /// Returns how many calls began to wait before this one, and the outcome if a later call
    /// completed it.
    pub fn place(&self, ticket: u64) -> Option<(usize, Option<&Outcome<T>>)> {
        let met = self.waiting.get(&ticket)?.met.as_ref();
        Some((self.waiting.range(..ticket).count(), met.map(|(_, outcome)| outcome)))
    }

    /// Checks the rules that every step keeps.
    ///
    /// # Panics
    /// If a rule is violated.
    pub fn check(&self) {
        let unmet = self.waiting.iter().filter(|(_, waiting)| waiting.met.is_none());
        let places = unmet.flat_map(|(ticket, waiting)| self.places(*ticket, &waiting.acts));
        assert_eq!(places.collect::<BTreeSet<_>>(), self.unmet, "each waits at its places");
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
    /// Returns the capacity of the buffer of a channel.
    pub(super) fn room(&self, pipe: PipeId) -> usize {
        self.pipes[pipe.0].queue.capacity()
    }

    /// Puts messages into a channel without any checks.
    pub(super) fn put(&mut self, pipe: PipeId, messages: &[T]) {
        self.pipes[pipe.0].queue.extend(messages.iter().cloned());
    }
}
