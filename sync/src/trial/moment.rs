//! A moment of the clock of a run, or of the real one.

use std::time::{Duration, Instant as Real};

use seatrial::program::Seam;
use seatrial_core::runtime::Instant as Virtual;

/// A moment.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) enum Moment {
    /// Of the real clock.
    Real(Real),
    /// Of the clock of a run.
    Virtual(Virtual),
}

use Moment::{Real as R, Virtual as V};

impl Moment {
    pub(crate) fn now() -> Self {
        Seam::current().map_or_else(|| R(Real::now()), |seam| V(seam.now()))
    }

    /// Returns the moment that much later; `None` if there is none.
    pub(crate) fn after(self, time: Duration) -> Option<Self> {
        match self {
            R(at) => at.checked_add(time).map(R),
            V(at) => Some(V(at + time)),
        }
    }

    /// Returns the moment that much earlier; `None` if there is none.
    pub(crate) fn before(self, time: Duration) -> Option<Self> {
        match self {
            R(at) => at.checked_sub(time).map(R),
            V(at) => {
                let nanos = u64::try_from(time.as_nanos()).ok()?;
                at.as_nanos().checked_sub(nanos).map(Virtual::from_nanos).map(V)
            }
        }
    }

    /// Returns the time that has passed since another moment; `None` if that is later, or of another clock.
    pub(crate) fn since(self, earlier: Self) -> Option<Duration> {
        match (self, earlier) {
            (R(at), R(earlier)) => at.checked_duration_since(earlier),
            (V(at), V(earlier)) => (earlier <= at).then(|| at.since(earlier)),
            _ => None,
        }
    }

    /// Returns the time until then.
    pub(crate) fn left(self) -> Duration {
        self.since(Self::now()).unwrap_or_default()
    }

    /// Returns the moment of the clock of the run; that of another clock is over.
    pub(crate) fn of_engine(self) -> Virtual {
        match self {
            V(at) => at,
            R(_) => Virtual::ZERO,
        }
    }
}
