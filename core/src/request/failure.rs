//! Why a call has no result.

use std::fmt;

use crate::cancel::Reason as Ended;
use crate::limiter::WaitError;

use super::error::BuildError;
use super::json::JsonError;
use super::status::Status;
use super::transport::TransportError;

/// Why a call has no result.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum RequestError {
    /// The request cannot be made. Nothing was sent.
    Build(BuildError),
    /// The body could not be made for an attempt.
    Body(std::sync::Arc<std::io::Error>),
    /// The call was cancelled, or its time ran out. A write may have been applied.
    Ended(Ended),
    /// The limiter does not let the call continue.
    Throttled(WaitError),
    /// There was no answer. A write may have been applied.
    Transport {
        /// How the last attempt failed.
        last: TransportError,
        /// How an earlier attempt failed, if the error differs.
        previous: Option<TransportError>,
    },
    /// The answer ended too early; ask again (`election:RQ-80`).
    Incomplete(TransportError),
    /// The answer is larger than the client's limit: the limit, in bytes.
    TooLarge(usize),
    /// The server refused the request.
    Status(Box<Status>),
    /// The answer cannot be decoded: where.
    Decode(JsonError),
}

impl RequestError {
    /// Returns the server's status, if it refused.
    #[must_use]
    pub fn status(&self) -> Option<&Status> {
        match self {
            Self::Status(status) => Some(status),
            _ => None,
        }
    }
}

impl fmt::Display for RequestError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Build(error) => fmt::Display::fmt(error, f),
            Self::Body(_) => f.write_str("the body of the request could not be made"),
            Self::Ended(reason) => fmt::Display::fmt(reason, f),
            Self::Throttled(_) => f.write_str("the client's rate limiter refused"),
            Self::Transport { last, previous: None } => fmt::Display::fmt(last, f),
            Self::Transport { last, previous: Some(previous) } => {
                write!(f, "{last} (an earlier attempt: {previous})")
            }
            Self::Incomplete(_) => f.write_str("the answer ended before it was whole, try again"),
            Self::TooLarge(limit) => write!(f, "the answer has more than {limit} bytes"),
            Self::Status(status) => fmt::Display::fmt(status, f),
            Self::Decode(_) => f.write_str("the answer is not what was asked for"),
        }
    }
}

impl std::error::Error for RequestError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            // `Display` shows these errors themselves, so their causes are the causes of this one.
            Self::Build(error) => error.source(),
            Self::Ended(reason) => reason.source(),
            Self::Transport { last, .. } => last.source(),
            Self::Status(_) | Self::TooLarge(_) => None,
            Self::Body(why) => Some(why.as_ref()),
            Self::Throttled(why) => Some(why),
            Self::Incomplete(why) => Some(why),
            Self::Decode(why) => Some(why),
        }
    }
}

impl From<BuildError> for RequestError {
    fn from(error: BuildError) -> Self {
        Self::Build(error)
    }
}

impl From<Ended> for RequestError {
    fn from(reason: Ended) -> Self {
        Self::Ended(reason)
    }
}
