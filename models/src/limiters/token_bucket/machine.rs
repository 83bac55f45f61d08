//! A token bucket as a machine: every call is one critical section, and carries its own time.

use std::time::Duration;

use seatrial_core::limiter::{FOREVER, Rate as OurRate, Reservation, TokenBucket};
use seatrial_core::machine::{Cx, Machine, Step};
use seatrial_core::runtime::Instant;

use super::Rate;

/// A call whose caller read the clock before it took the lock.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Call {
    /// The reading of the clock.
    pub at: Instant,
    /// The request.
    pub ask: Ask,
}

/// A request to the bucket.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Ask {
    /// Takes this many tokens, now or never.
    Allow(u8),
    /// Reserves this many tokens, if the wait is not longer.
    Reserve(u8, Duration),
    /// Takes a reservation back, by its number.
    Cancel(u8),
    /// Asks how many tokens there are.
    Tokens,
    /// Changes the rate.
    SetRate(Rate),
    /// Changes how many tokens fit.
    SetBurst(u8),
}

/// An answer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Said {
    /// Whether the tokens were there.
    Allowed(bool),
    /// The time until the tokens may be used, and the number of the reservation.
    Reserved(Duration, u8),
    /// Refused: it would take too long.
    Refused,
    /// This many tokens, in billionths.
    Tokens(i128),
    /// It is done.
    Done,
}

/// The bucket that ships.
#[derive(Debug)]
pub struct Ships {
    pub(super) bucket: TokenBucket,
    pub(super) made: Vec<Reservation>,
}

impl Ships {
    pub(super) fn new(rate: Rate, burst: u8) -> Self {
        Self { bucket: TokenBucket::new(our_rate(rate), burst.into()), made: Vec::new() }
    }
}

pub(in crate::limiters) fn our_rate(rate: Rate) -> OurRate {
    match rate {
        Rate::PerSecond(tokens) => OurRate::per_second(tokens.into()),
        Rate::Unlimited => OurRate::UNLIMITED,
    }
}

impl Machine for Ships {
    type Op = Call;
    type Ret = Said;

    fn step(&mut self, call: &mut Call, _: &mut Cx<'_>) -> Step<Said> {
        let Call { at, ask } = *call;
        Step::Done(match ask {
            Ask::Allow(n) => Said::Allowed(self.bucket.allow(at, n.into())),
            Ask::Reserve(n, patience) => {
                let reservation = self.bucket.reserve(at, n.into(), patience.min(FOREVER));
                if reservation.is_granted() {
                    self.made.push(reservation);
                    Said::Reserved(reservation.delay_from(at), (self.made.len() - 1) as u8)
                } else {
                    Said::Refused
                }
            }
            Ask::Cancel(number) => {
                self.bucket.cancel(at, &self.made[usize::from(number)]);
                Said::Done
            }
            Ask::Tokens => Said::Tokens((self.bucket.tokens_at(at) * 1e9).round() as i128),
            Ask::SetRate(rate) => {
                self.bucket.set_rate(at, our_rate(rate));
                Said::Done
            }
            Ask::SetBurst(burst) => {
                self.bucket.set_burst(at, burst.into());
                Said::Done
            }
        })
    }
}
