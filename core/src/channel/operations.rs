//! The calls on a group of channels.

use std::collections::VecDeque;

use super::acts::{Act, Acts, Outcome, PipeId};
use super::state::{Group, Side};
use crate::machine::{Cx, Operation, Step};
use crate::runtime::Instant;

/// The messages of a channel. The channels never clone a message; a checker that repeats a step
/// does.
pub trait Message: Clone + Send + 'static {}

impl<T: Clone + Send + 'static> Message for T {}

/// Opens a channel with this capacity, `None` for any number. Each end has one user.
#[derive(Clone, Debug)]
pub struct Open(pub Option<usize>);

/// Counts one more user of an end of a channel.
#[derive(Clone, Debug)]
pub struct Hold(pub PipeId, pub Side);

/// Counts one user less. Returns the messages that can no longer be received.
#[derive(Clone, Debug)]
pub struct Leave(pub PipeId, pub Side);

/// Counts the messages in a channel.
#[derive(Clone, Debug)]
pub struct Len(pub PipeId);

/// Does one of several acts, waiting until one is possible.
#[derive(Clone, Debug)]
pub struct Choose<T> {
    /// The acts. While the call waits, the group has them.
    pub acts: Acts<T>,
    /// The end of the wait: [`Instant::NEVER`] for none, [`Instant::ZERO`] not to wait.
    pub until: Instant,
    /// The number of the waiting call, once it waits.
    pub ticket: Option<u64>,
}

/// The result of a [`Choose`].
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Chosen<T> {
    /// The number and outcome of the act that was done; `None` if none was possible in time.
    pub done: Option<(usize, Outcome<T>)>,
    /// The messages that were not sent, with the numbers of their acts.
    pub unsent: Vec<(usize, T)>,
}

impl<T> Choose<T> {
    /// Makes a call that does one of these acts.
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
        if let Some(waiting) = group.withdraw(self.ticket) {
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
        let Some(waiting) = group.withdraw(self.ticket) else {
            return;
        };
        self.acts = waiting.acts; // they drop with the call, without the lock
        if let Some((at, Outcome::Received(Ok(message)))) = waiting.met {
            group.take_back(self.acts[at].pipe(), (waiting.handed, message), cx);
        }
    }
}
