//! The acts that a call on channels may do, and their outcomes.

use std::ops::{Deref, DerefMut};

use crate::caught::Remains;

use super::errors::Disconnected;
use super::state::Side;

/// A channel of a group.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct PipeId(pub usize);

/// An act that a call may do.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Act<T> {
    /// Sends a message; `None` once it is sent.
    Send(PipeId, Option<T>),
    /// Receives a message.
    Receive(PipeId),
}

impl<T> Act<T> {
    /// Returns the channel.
    #[must_use]
    pub const fn pipe(&self) -> PipeId {
        match self {
            Self::Send(pipe, _) | Self::Receive(pipe) => *pipe,
        }
    }

    /// Returns the end of the channel that it uses.
    #[must_use]
    pub const fn side(&self) -> Side {
        match self {
            Self::Send(..) => Side::Sending,
            Self::Receive(_) => Side::Receiving,
        }
    }
}

/// The acts of a call, one of which is done. A single act needs no allocation.
#[derive(Clone, Debug)]
pub enum Acts<T> {
    /// A single act.
    One([Act<T>; 1]),
    /// Several.
    Several(Remains<Act<T>>),
}

impl<T> Default for Acts<T> {
    fn default() -> Self {
        Self::Several(Remains::new())
    }
}

impl<T> Deref for Acts<T> {
    type Target = [Act<T>];

    fn deref(&self) -> &[Act<T>] {
        match self {
            Self::One(act) => act,
            Self::Several(acts) => acts,
        }
    }
}

impl<T> DerefMut for Acts<T> {
    fn deref_mut(&mut self) -> &mut [Act<T>] {
        match self {
            Self::One(act) => act,
            Self::Several(acts) => acts,
        }
    }
}

/// The outcome of an act that was done.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Outcome<T> {
    /// The message was sent, or all receivers are gone.
    Sent(Result<(), Disconnected<T>>),
    /// A message was received, or none is left and all senders are gone.
    Received(Result<T, Disconnected>),
}
