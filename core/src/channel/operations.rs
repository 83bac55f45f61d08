//! The calls on a group of channels.

use std::collections::VecDeque;

use super::acts::{Act, Acts, Outcome, PipeId};
use super::state::{Group, Side};
use crate::machine::{Cx, Operation, Step};
use crate::runtime::Instant;

/// What a channel carries. The parts never clone it; a checker that repeats a step does.
pub trait Message: Clone + Send + 'static {}

impl<T: Clone + Send + 'static> Message for T {}

/// Opens a channel for this many messages, `None` for any number. It has one user at each end.
#[derive(Clone, Debug)]
pub struct Open(pub Option<usize>);

/// Says that one more uses an end of a channel.
#[derive(Clone, Debug)]
pub struct Hold(pub PipeId, pub Side);

/// Says that one less does. Returns what nobody can receive any more.
#[derive(Clone, Debug)]
pub struct Leave(pub PipeId, pub Side);

/// Counts the messages in a channel.
#[derive(Clone, Debug)]
pub struct Len(pub PipeId);

/// Does one of several things, waiting until one can be done.
#[derive(Clone, Debug)]
pub struct Choose<T> {
    /// What may be done. While it waits the group has them.
    pub acts: Acts<T>,
    /// Until when it waits: [`Instant::NEVER`] for ever, [`Instant::ZERO`] not at all.
    pub until: Instant,
    /// Under which number it waits, once it does.
    pub ticket: Option<u64>,
}

/// What came of it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Chosen<T> {
    /// Which was done, `None` if none could be in time.
    pub done: Option<(usize, Outcome<T>)>,
    /// What was not sent, and by which.
    pub unsent: Vec<(usize, T)>,
}

impl<T> Choose<T> {
    /// Does one of these.
    #[must_use]
    pub fn new(acts: Acts<T>, until: Instant) -> Self {
        Self { acts, until, ticket: None }
    }

    fn is_too_late(&self, cx: &mut Cx<'_>) -> bool {
        self.until == Instant::ZERO || (self.until != Instant::NEVER && self.until <= cx.now())
    }

    fn end(&mut self, done: Option<(usize, Outcome<T>)>) -> Chosen<T> {
        let unsent = self.acts.iter_mut().enumerate().filter_map(|(at, act)| match act {
            Act::Send(_, message) => Some((at, message.take()?)),
            Act::Receive(_) => None,
        });
        Chosen { unsent: unsent.collect(), done }
    }
}

crate::operations! {
    [T: Message] Group<T>: Op, Ret {
        Open(Open) -> PipeId,
        Hold(Hold) -> (),
        Leave(Leave) -> VecDeque<T>,
        Len(Len) -> usize,
        Choose(Choose<T>) -> Chosen<T>,
    } valid = Group::check
}

impl<T: Message> Operation<Group<T>> for Open {
    fn step(&mut self, group: &mut Group<T>, _: &mut Cx<'_>) -> Step<PipeId> {
        Step::Done(group.open(self.0))
    }
}

impl<T: Message> Operation<Group<T>> for Hold {
    fn step(&mut self, group: &mut Group<T>, _: &mut Cx<'_>) -> Step<()> {
        group.hold(self.0, self.1);
        Step::Done(())
    }
}

impl<T: Message> Operation<Group<T>> for Leave {
    fn step(&mut self, group: &mut Group<T>, cx: &mut Cx<'_>) -> Step<VecDeque<T>> {
        Step::Done(group.leave(self.0, self.1, cx))
    }
}

impl<T: Message> Operation<Group<T>> for Len {
    fn step(&mut self, group: &mut Group<T>, _: &mut Cx<'_>) -> Step<usize> {
        Step::Done(group.len(self.0))
    }
}

impl<T: Message> Operation<Group<T>> for Choose<T> {
    fn step(&mut self, group: &mut Group<T>, cx: &mut Cx<'_>) -> Step<Chosen<T>> {
        let mut done = None;
        if let Some(waiting) = self.ticket.and_then(|ticket| group.waiting.remove(&ticket)) {
            (self.acts, done) = (waiting.acts, waiting.met);
        }
        done = done.or_else(|| group.attempt(&mut self.acts, cx));
        if done.is_some() || self.is_too_late(cx) {
            return Step::Done(self.end(done));
        }
        let on = group.line(&self.acts);
        self.ticket = Some(group.enrol(self.ticket, std::mem::take(&mut self.acts)));
        Step::Wait { on, until: Some(self.until).filter(|until| *until != Instant::NEVER) }
    }

    fn cancel(&mut self, group: &mut Group<T>, cx: &mut Cx<'_>) {
        let Some(waiting) = self.ticket.and_then(|ticket| group.waiting.remove(&ticket)) else {
            return;
        };
        self.acts = waiting.acts; // they drop with the call, without the lock
        if let Some((at, Outcome::Received(Ok(message)))) = waiting.met {
            group.take_back(self.acts[at].pipe(), (waiting.handed, message), cx);
        }
    }
}
