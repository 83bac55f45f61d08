//! The token bucket in whole numbers: tokens are counted in billionths, time in nanoseconds.
//!
//! It is the specification. With rates that are powers of two and times that are multiples of 1/32 s,
//! double precision is exact too, so the bucket that ships must agree to the last bit. A mistake,
//! which is one changed line, makes a mutant of it with the name of the mistake.

use std::time::Duration;

use seatrial_core::machine::{Cx, Machine, Step};

use super::machine::{Ask, Call, Said};
use super::{BURST, RATE};
use crate::shared::Mistakes;

/// Tokens per second.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Rate {
    /// This many, possibly none.
    PerSecond(u8),
    /// As many as callers want.
    Unlimited,
}

/// The longest time, which stands for "never" (`workqueue:CV-3`).
const NEVER: i128 = i64::MAX as i128;
const TOKEN: i128 = 1_000_000_000;

/// A reservation.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reserved {
    n: i128,
    pub(super) rate: Rate,
    act: i128,
    wait: i128,
}

impl Reserved {
    /// Returns how long the holder waits if it is `now` (`workqueue:TB-14`).
    pub(super) fn delay_from(&self, now: i128) -> Duration {
        let delay = if self.wait == NEVER { NEVER } else { (self.act - now).max(0) };
        Duration::from_nanos(u64::try_from(delay).expect("it is not longer than for ever"))
    }
}

/// A bucket.
#[derive(Clone, Debug)]
pub struct Plain {
    mistakes: Mistakes,
    pub(super) rate: Rate,
    burst: i128,
    tokens: i128,
    last: Option<i128>,
    /// When the newest reservation may be used.
    newest: i128,
    pub(super) made: Vec<Reserved>,
}

impl Default for Plain {
    fn default() -> Self {
        Self::new(RATE, BURST)
    }
}

impl Plain {
    /// Makes a full bucket.
    pub fn new(rate: Rate, burst: u8) -> Self {
        let burst = i128::from(burst);
        let (tokens, made) = (burst * TOKEN, Vec::new());
        Self { mistakes: &[], rate, burst, tokens, last: None, newest: 0, made }
    }

    /// Makes one that makes mistakes.
    pub(super) fn with(mistakes: Mistakes) -> Self {
        Self { mistakes, ..Self::default() }
    }

    fn makes(&self, mistake: &str) -> bool {
        self.mistakes.contains(&mistake)
    }

    /// Returns the time that counts, and the balance at that time (`workqueue:TB-2`, `TB-8`,
    /// `TB-23`).
    fn look(&self, t: i128) -> (i128, i128) {
        let full = self.burst * TOKEN;
        let Some(last) = self.last else {
            return (t, if self.makes("starts_empty") { 0 } else { full });
        };
        let t = if self.makes("time_runs_backwards") { t } else { t.max(last) };
        let tokens = match self.rate {
            Rate::Unlimited if t > last => full,
            Rate::Unlimited => self.tokens,
            Rate::PerSecond(rate) => {
                let tokens = self.tokens + (t - last).max(0) * i128::from(rate);
                if self.makes("overflows") { tokens } else { tokens.min(full) }
            }
        };
        (t, tokens)
    }

    /// Returns the balance at a time, in billionths.
    pub(super) fn tokens_at(&self, t: i128) -> i128 {
        self.look(t).1
    }

    fn settle(&mut self, t: i128, tokens: i128) {
        (self.last, self.tokens) = (Some(t), tokens);
    }

    /// Reserves tokens, or changes nothing (`workqueue:TB-5`).
    fn reserve(&mut self, t: i128, n: u8, patience: i128) -> Option<Reserved> {
        let ((t, tokens), n) = (self.look(t), i128::from(n) * TOKEN);
        let rate = match self.rate {
            Rate::Unlimited if self.makes("unlimited_counts") => 1,
            Rate::Unlimited => {
                return Some(Reserved { n, rate: self.rate, act: t, wait: 0 });
            }
            Rate::PerSecond(rate) => i128::from(rate),
        };
        let balance = tokens - n;
        let wait = match (balance, rate) {
            (0.., _) => 0,
            (_, 0) if self.makes("nothing_is_at_once") => 0,
            (_, 0) => NEVER,
            _ => -balance / rate,
        };
        let fits = n <= self.burst * TOKEN || self.makes("more_than_fits");
        if !fits || (wait > patience && !self.makes("waits_for_ever")) {
            if self.makes("refusal_takes") {
                self.settle(t, balance);
            }
            return None;
        }
        self.settle(t, if self.makes("no_debt") { balance.max(0) } else { balance });
        self.newest = t + wait;
        Some(Reserved { n, rate: self.rate, act: t + wait, wait })
    }

    /// Takes tokens when a caller asks to, and tells when they may be used.
    fn reserve_for(&mut self, t: i128, n: u8, patience: Duration) -> Said {
        let patience = i128::try_from(patience.as_nanos()).unwrap_or(NEVER).min(NEVER);
        if self.makes("reserve_keeps_one") && self.tokens_at(t) == i128::from(n) * TOKEN {
            return Said::Refused;
        }
        let Some(reserved) = self.reserve(t, n, patience) else { return Said::Refused };
        self.made.push(reserved);
        let delay = reserved.delay_from(t).as_nanos() as u64;
        let unit = if self.makes("rounds_up") { 1_000_000 } else { 1 };
        let early = if self.makes("rounds_down") { delay % 100_000 } else { 0 };
        let delay = (delay - early).next_multiple_of(unit);
        Said::Reserved(Duration::from_nanos(delay), (self.made.len() - 1) as u8)
    }

    /// Gives back the tokens that a reservation has not used (`workqueue:TB-16` to `TB-18`).
    fn cancel(&mut self, t: i128, Reserved { n, rate, act, .. }: Reserved) {
        let (t, tokens) = self.look(t);
        let used = act < t && !self.makes("gives_used_back");
        let rate = if self.makes("rate_of_now") { self.rate } else { rate };
        let Rate::PerSecond(rate) = rate else { return };
        if self.rate == Rate::Unlimited || n == 0 || used || self.makes("gives_nothing_back") {
            return;
        }
        let later = (self.newest - act) * i128::from(rate);
        let back = if self.makes("gives_all_back") { n } else { n - later };
        if back <= 0 {
            return;
        }
        let (full, tokens) = (self.burst * TOKEN, tokens + back);
        self.settle(t, if self.makes("gives_too_much_back") { tokens } else { tokens.min(full) });
        if act == self.newest && !self.makes("newest_stays") {
            let before = act - if rate == 0 { NEVER } else { n / i128::from(rate) };
            if before >= t {
                self.newest = before;
            }
        }
    }

    /// Answers a call.
    pub(super) fn ask(&mut self, Call { at, ask }: Call) -> Said {
        let t = i128::from(at.as_nanos());
        match ask {
            Ask::Allow(n) => {
                let patience = if self.makes("allow_borrows") { NEVER } else { 0 };
                Said::Allowed(self.reserve(t, n, patience).is_some())
            }
            Ask::Reserve(n, patience) => self.reserve_for(t, n, patience),
            Ask::Cancel(number) => {
                if let Some(reserved) = self.made.get(usize::from(number)) {
                    self.cancel(t, *reserved);
                }
                Said::Done
            }
            Ask::Tokens => Said::Tokens(self.tokens_at(t)),
            // A new rate, or burst, counts from now on (`workqueue:TB-21`).
            Ask::SetRate(rate) => {
                if !self.makes("rate_counts_backwards") {
                    let (t, tokens) = self.look(t);
                    self.settle(t, tokens);
                }
                self.rate = rate;
                Said::Done
            }
            Ask::SetBurst(burst) => {
                let (t, tokens) = self.look(t);
                self.settle(t, tokens);
                self.burst = burst.into();
                if self.makes("room_is_filled") {
                    self.tokens = self.burst * TOKEN;
                }
                Said::Done
            }
        }
    }

    /// Takes as many tokens as a limiter does for a failure; returns how long the item waits.
    pub(in crate::limiters) fn next(&mut self, now: u64) -> u128 {
        let reserved = self.reserve(now.into(), 1, NEVER);
        reserved.map_or(NEVER.unsigned_abs(), |made| made.delay_from(now.into()).as_nanos())
    }
}

impl Machine for Plain {
    type Op = Call;
    type Ret = Said;

    fn step(&mut self, call: &mut Call, _: &mut Cx<'_>) -> Step<Said> {
        Step::Done(self.ask(*call))
    }
}
