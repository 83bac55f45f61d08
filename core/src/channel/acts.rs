//! What a call on channels wants, and what came of it.

use std::ops::{Deref, DerefMut};

use super::errors::Disconnected;
use super::state::Side;

/// A channel of a group.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct PipeId(pub usize);

/// One thing that a call may do.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Act<T> {
    /// Sends a message: `None` once it is gone.
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

/// The acts of which a call does one. One alone takes no memory of its own.
#[derive(Clone, Debug)]
pub enum Acts<T> {
    /// The only one.
    One([Act<T>; 1]),
    /// Several.
    Several(Vec<Act<T>>),
}

impl<T> Default for Acts<T> {
    fn default() -> Self {
        Self::Several(Vec::new())
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

/// What came of a case that could be done.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Outcome<T> {
    /// It was sent, unless nobody can receive it any more.
    Sent(Result<(), Disconnected<T>>),
    /// It was received, unless there is none left and nobody can send one any more.
    Received(Result<T, Disconnected>),
}
