//! What happens when the functions that an informer calls panic, and how the informer is.

use std::fmt;
use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::task::Poll;

use crate::caught::drop_caught;
use crate::runtime::Panic;

/// The consequence of a panic in a function that an informer calls: its source, its transformer, or
/// an index function. Handlers have [a policy of their own](super::OnPanic).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
#[non_exhaustive]
pub enum Recovery {
    /// The informer lists everything again after a pause, which grows from a second to half a
    /// minute. The panic is reported as a [failure](super::reflector::ReflectorError).
    #[default]
    ListAgain,
    /// The informer ends, and its run panics.
    End,
}

/// Why an informer does not follow its collection.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Unwell {
    /// It has ended.
    Ended {
        /// The message of the panic that ended it, if it was a panic and has a message.
        panic: Option<String>,
    },
    /// It has panicked, and has stored no list since.
    Panicked {
        /// The message of the last panic, if it has one.
        message: Option<String>,
        /// How often it has panicked since the last list.
        times: u64,
    },
}

impl fmt::Display for Unwell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (what, message) = match self {
            Self::Ended { panic } => ("the informer has ended", panic),
            Self::Panicked { message, .. } => ("the informer has panicked", message),
        };
        match message {
            None => f.write_str(what),
            Some(message) => write!(f, "{what}: {message}"),
        }
    }
}

impl std::error::Error for Unwell {}

/// The panics of an informer since the last list.
#[derive(Debug, Default)]
pub(super) struct Panics {
    last: Option<String>,
    times: u64,
}

impl Panics {
    pub(super) fn note(&mut self, message: Option<String>) {
        self.last = message;
        self.times += 1;
    }

    /// Says how the informer is.
    pub(super) fn check(&self, is_over: bool) -> Result<(), Unwell> {
        match (is_over, self.times) {
            (true, _) => Err(Unwell::Ended { panic: self.last.clone() }),
            (false, 0) => Ok(()),
            (false, times) => Err(Unwell::Panicked { message: self.last.clone(), times }),
        }
    }
}

/// Awaits a future and catches its panic. The future is dropped in both cases.
pub(super) async fn caught<F: Future>(future: F) -> Result<F::Output, Panic> {
    let mut future = Box::pin(future);
    let result =
        poll_fn(|context| match catch_unwind(AssertUnwindSafe(|| future.as_mut().poll(context))) {
            Ok(polled) => polled.map(Ok),
            Err(panic) => Poll::Ready(Err(panic)),
        })
        .await;
    drop_caught(future);
    result
}

/// Returns the message of a panic.
pub(super) fn message(panic: &Panic) -> Option<String> {
    let text = panic.downcast_ref::<String>().cloned();
    text.or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned()))
}
