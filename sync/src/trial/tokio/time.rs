//! `tokio::time`.

use std::fmt;
use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::task::{Context, Poll};

use seatrial::program::{Seam, Sleep as Engine};

pub use super::super::clock::{Duration, Instant};
use super::super::moment::Moment;

/// `tokio::time::Sleep`.
#[derive(Debug)]
pub struct Sleep {
    until: Instant,
    kind: Kind,
}

#[derive(Debug)]
enum Kind {
    OfRun(Engine),
    Real(Pin<Box<::tokio::time::Sleep>>),
}

impl Sleep {
    /// Returns when it ends.
    #[must_use]
    pub fn deadline(&self) -> Instant {
        self.until
    }

    /// Tells whether it is over.
    #[must_use]
    pub fn is_elapsed(&self) -> bool {
        Instant::now() >= self.until
    }

    /// Lets it end at another time.
    pub fn reset(mut self: Pin<&mut Self>, until: Instant) {
        *self = sleep_until(until);
    }
}

impl Future for Sleep {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        match &mut self.kind {
            Kind::OfRun(sleep) => Pin::new(sleep).poll(context),
            Kind::Real(sleep) => sleep.as_mut().poll(context),
        }
    }
}

/// Waits for a time.
#[must_use]
pub fn sleep(time: Duration) -> Sleep {
    let until = Instant::now().checked_add(time).unwrap_or_else(|| {
        Instant::now() + Duration::from_secs(86_400 * 365 * 30) // as tokio does
    });
    sleep_until(until)
}

/// Waits until a moment.
#[must_use]
pub fn sleep_until(until: Instant) -> Sleep {
    let kind = match (Seam::current(), until.0) {
        (Some(seam), until) => Kind::OfRun(seam.sleep_async(until.left())),
        (None, Moment::Real(until)) => {
            Kind::Real(Box::pin(::tokio::time::sleep_until(until.into())))
        }
        (None, Moment::Virtual(_)) => Kind::Real(Box::pin(::tokio::time::sleep(Duration::ZERO))),
    };
    Sleep { until, kind }
}

/// Errors.
pub mod error {
    use std::fmt;

    /// The time is over.
    #[derive(PartialEq, Eq, Debug)]
    pub struct Elapsed(pub(super) ());

    impl fmt::Display for Elapsed {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("deadline has elapsed")
        }
    }

    impl std::error::Error for Elapsed {}
}

/// Runs a future for a time at most, from this call on, then drops it.
///
/// # Errors
/// The time was over before it came to its end.
pub fn timeout<F: IntoFuture>(
    time: Duration,
    future: F,
) -> impl Future<Output = Result<F::Output, error::Elapsed>> {
    limited(sleep(time), future.into_future())
}

/// Runs a future until a moment at most, then drops it.
///
/// # Errors
/// The moment came before it came to its end.
pub fn timeout_at<F: IntoFuture>(
    until: Instant,
    future: F,
) -> impl Future<Output = Result<F::Output, error::Elapsed>> {
    limited(sleep_until(until), future.into_future())
}

async fn limited<F: Future>(sleep: Sleep, future: F) -> Result<F::Output, error::Elapsed> {
    let (mut future, mut sleep) = (pin!(future), pin!(sleep));
    poll_fn(|context| {
        if let Poll::Ready(value) = future.as_mut().poll(context) {
            return Poll::Ready(Ok(value));
        }
        sleep.as_mut().poll(context).map(|()| Err(error::Elapsed(())))
    })
    .await
}

/// `tokio::time::Interval`, which makes up for ticks that were missed.
pub struct Interval {
    next: Pin<Box<Sleep>>,
    period: Duration,
}

/// Ticks now, and then once in each period.
#[must_use]
pub fn interval(period: Duration) -> Interval {
    interval_at(Instant::now(), period)
}

/// Ticks at a moment, and then once in each period.
///
/// # Panics
/// If the period is zero.
#[must_use]
pub fn interval_at(first: Instant, period: Duration) -> Interval {
    assert!(!period.is_zero(), "`period` must be non-zero.");
    Interval { next: Box::pin(sleep_until(first)), period }
}

impl Interval {
    /// Waits for the next tick; returns when it was due.
    pub async fn tick(&mut self) -> Instant {
        self.next.as_mut().await;
        let due = self.next.deadline();
        self.next.as_mut().reset(due + self.period);
        due
    }

    /// Begins a period now.
    pub fn reset(&mut self) {
        self.next.as_mut().reset(Instant::now() + self.period);
    }

    /// Returns the period.
    #[must_use]
    pub fn period(&self) -> Duration {
        self.period
    }
}

impl fmt::Debug for Interval {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Interval").field("period", &self.period).finish_non_exhaustive()
    }
}
