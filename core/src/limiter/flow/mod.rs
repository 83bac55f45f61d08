//! Flow control: whether, or when, a caller may go on (client-go `util/flowcontrol`).
//!
//! ```
//! use seatrial_core::cancel::CancelToken;
//! use seatrial_core::limiter::{FlowLimiter, TokenBucketFlow, WaitError};
//! use seatrial_core::runtime::{Ambient, System};
//!
//! let system = System::new();
//! let limiter = TokenBucketFlow::new(&system, 5.0, 1);
//! assert!(limiter.try_accept()); // it starts full
//! let impatient = CancelToken::with_deadline(&system, system.now());
//! assert!(limiter.wait(&impatient).is_err());
//! limiter.accept(); // sleeps a fifth of a second
//! ```

mod bucket;
#[cfg(test)]
mod crowd;
mod fakes;
#[cfg(test)]
mod tests;

use std::fmt;
use std::pin::Pin;

use crate::cancel::{CancelToken, Reason};
use crate::runtime::Runtime;

pub use bucket::TokenBucketFlow;
pub use fakes::{AlwaysAccept, NeverAccept};

for_harness! {
    use fakes::{Gate, GateOp, GateRet, Pass, Stop};
}

/// The future of [`FlowLimiter::wait_async`].
pub type Waits<'a> = Pin<Box<dyn Future<Output = Result<(), WaitError>> + Send + 'a>>;

/// Decides whether, or when, callers may go on. Object-safe, so that requests can share any
/// limiter.
pub trait FlowLimiter<R: Runtime>: Send + Sync {
    /// Lets the caller go on now or not at all; a refusal changes nothing (`workqueue:FC-3`).
    fn try_accept(&self) -> bool;

    /// Sleeps until the caller may go on (`workqueue:FC-4`).
    fn accept(&self);

    /// Sleeps until the caller may go on or the token has ended (`workqueue:FC-7`).
    ///
    /// # Errors
    /// Why the caller may not go on. Its tokens are given back.
    fn wait(&self, token: &CancelToken<R>) -> Result<(), WaitError>;

    /// As [`wait`](Self::wait), without a thread. Dropping the future gives up, and unused tokens
    /// are given back.
    fn wait_async<'a>(&'a self, token: &'a CancelToken<R>) -> Waits<'a>;

    /// Returns the configured number of callers a second (`workqueue:FC-6`).
    fn qps(&self) -> f32;

    /// Says that the limiter is not needed any more.
    fn stop(&self) {}
}

/// Why a caller may not go on (`workqueue:TB-15`). If its token has ended, the message is that of
/// the token.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum WaitError {
    /// It asked for more than the burst.
    ExceedsBurst,
    /// Its turn would come after its token's deadline.
    WouldExceedDeadline,
    /// Its token ended before its turn came.
    Ended(Reason),
    /// Nobody may go on.
    Closed,
}

impl fmt::Display for WaitError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ExceedsBurst => f.write_str("more was asked for than the burst"),
            Self::WouldExceedDeadline => f.write_str("the wait would exceed the deadline"),
            Self::Ended(reason) => fmt::Display::fmt(reason, f),
            Self::Closed => f.write_str("nobody may go on"),
        }
    }
}

impl std::error::Error for WaitError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Ended(reason) => reason.source(),
            _ => None,
        }
    }
}
