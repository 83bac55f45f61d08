//! The token bucket in whole numbers: tokens are counted in billionths, time in nanoseconds.
//!
//! With rates that are powers of two and times that are multiples of 1/32 s, double precision is
//! exact too, so the bucket that ships must agree to the last bit.

/// Tokens per second.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Rate {
    /// This many, possibly none.
    PerSecond(u8),
    /// As many as callers want.
    Unlimited,
}

/// The longest time, which stands for "never" (`workqueue:CV-3`).
pub(super) const NEVER: i128 = i64::MAX as i128;
const TOKEN: i128 = 1_000_000_000;

/// A bucket.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Spec {
    /// The rate at which tokens come.
    pub rate: Rate,
    /// The number of tokens that fit.
    pub burst: u8,
    tokens: i128,
    last: Option<i128>,
    last_event: i128,
}

/// A reservation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Reserved {
    n: u8,
    pub(super) rate: Rate,
    act: i128,
    wait: i128,
}

impl Reserved {
    /// Returns how long the holder waits if it is `now` (`workqueue:TB-14`).
    pub fn delay_from(&self, now: i128) -> i128 {
        if self.wait == NEVER { NEVER } else { (self.act - now).max(0) }
    }
}

impl Spec {
    /// Makes a full bucket.
    pub fn new(rate: Rate, burst: u8) -> Self {
        Self { rate, burst, tokens: i128::from(burst) * TOKEN, last: None, last_event: 0 }
    }

    fn full(&self) -> i128 {
        i128::from(self.burst) * TOKEN
    }

    /// Returns the time that counts, and the balance at that time (`workqueue:TB-2`, `TB-8`,
    /// `TB-23`).
    fn look(&self, t: i128) -> (i128, i128) {
        let Some(last) = self.last else { return (t, self.full()) };
        let t = t.max(last);
        let tokens = match self.rate {
            Rate::Unlimited if t > last => self.full(),
            Rate::Unlimited => self.tokens,
            Rate::PerSecond(rate) => (self.tokens + (t - last) * i128::from(rate)).min(self.full()),
        };
        (t, tokens)
    }

    /// Returns the balance at a time, in billionths.
    pub fn tokens_at(&self, t: i128) -> i128 {
        self.look(t).1
    }

    /// Reserves tokens, or changes nothing (`workqueue:TB-5`).
    pub fn reserve(&mut self, t: i128, n: u8, patience: i128) -> Option<Reserved> {
        let (t, tokens) = self.look(t);
        let Rate::PerSecond(rate) = self.rate else {
            return Some(Reserved { n, rate: self.rate, act: t, wait: 0 });
        };
        let balance = tokens - i128::from(n) * TOKEN;
        let wait = match (balance, rate) {
            (0.., _) => 0,
            (_, 0) => NEVER,
            _ => -balance / i128::from(rate),
        };
        if n > self.burst || wait > patience {
            return None;
        }
        (self.last, self.tokens, self.last_event) = (Some(t), balance, t + wait);
        Some(Reserved { n, rate: self.rate, act: t + wait, wait })
    }

    /// Gives back the tokens that a reservation has not used (`workqueue:TB-16` to `TB-18`).
    pub fn cancel(&mut self, t: i128, reserved: &Reserved) {
        let (t, tokens) = self.look(t);
        let &Reserved { n, rate, act, .. } = reserved;
        let Rate::PerSecond(rate) = rate else { return };
        if self.rate == Rate::Unlimited || n == 0 || act < t {
            return;
        }
        let asked = i128::from(n) * TOKEN;
        let restore = asked - (self.last_event - act) * i128::from(rate);
        if restore <= 0 {
            return;
        }
        (self.last, self.tokens) = (Some(t), (tokens + restore).min(self.full()));
        if act == self.last_event {
            let takes = if rate == 0 { NEVER } else { asked / i128::from(rate) };
            if act - takes >= t {
                self.last_event = act - takes;
            }
        }
    }

    /// Changes the rate from `t` on (`workqueue:TB-21`).
    pub fn set_rate(&mut self, t: i128, rate: Rate) {
        self.settle(t);
        self.rate = rate;
    }

    /// Changes the burst from `t` on (`workqueue:TB-21`).
    pub fn set_burst(&mut self, t: i128, burst: u8) {
        self.settle(t);
        self.burst = burst;
    }

    fn settle(&mut self, t: i128) {
        let (t, tokens) = self.look(t);
        (self.last, self.tokens) = (Some(t), tokens);
    }
}
