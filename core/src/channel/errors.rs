//! Why a message was not sent or not received.

use std::error::Error;
use std::fmt::{self, Debug, Display, Formatter};

/// The other end of the channel is gone. Holds the message that could not be sent.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Disconnected<T = ()>(pub T);

/// Why a message was not sent, and the message.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum NotSent<T> {
    /// There was no room, or no receiver, in time.
    Unready(T),
    /// All receivers are gone.
    Disconnected(T),
}

/// Why no message was received.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum NotReceived {
    /// There was none in time.
    Unready,
    /// There is none left, and all senders are gone.
    Disconnected,
}

const DISCONNECTED: &str = "the other end of the channel is gone";

impl<T> Display for Disconnected<T> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(DISCONNECTED)
    }
}

impl<T> Display for NotSent<T> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Unready(_) => "the channel had no room in time",
            Self::Disconnected(_) => DISCONNECTED,
        })
    }
}

impl Display for NotReceived {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Unready => "the channel had no message in time",
            Self::Disconnected => DISCONNECTED,
        })
    }
}

impl<T: Debug> Error for Disconnected<T> {}
impl<T: Debug> Error for NotSent<T> {}
impl Error for NotReceived {}
