//! The bugs: one changed line each, in the bucket in whole numbers.

use std::time::Duration;

use seatrial_core::machine::{Cx, Machine, Step};

use super::machine::{Ask, Call, Said};
use super::spec::NEVER;
use super::{BURST, Bucket, RATE, Rate};
use crate::trial::{MachineOf, Mutant, mistakes, mutants};

mistakes! {
    /// One changed line.
    enum Mistake {
        /// The bucket starts empty.
        StartsEmpty,
        /// The bucket gets more tokens than fit.
        Overflows,
        /// A refusal takes tokens.
        RefusalTakes,
        /// A debt is forgotten.
        NoDebt,
        /// The caller's patience is ignored.
        WaitsForEver,
        /// A caller that wants tokens now gets those of the future.
        AllowBorrows,
        /// More tokens are granted than fit.
        MoreThanFits,
        /// At a rate of zero, no caller waits.
        NothingIsAtOnce,
        /// An unlimited bucket counts its tokens.
        UnlimitedCounts,
        /// A wait is rounded up to whole milliseconds.
        RoundsUp,
        /// A wait is rounded down to whole tenths of a millisecond.
        RoundsDown,
        /// A reservation is refused the last token.
        ReserveKeepsOne,
        /// Cancelling gives all tokens back, even if others reserved later.
        GivesAllBack,
        /// Cancelling gives no tokens back.
        GivesNothingBack,
        /// Cancelling gives back tokens that may be in use already.
        GivesUsedBack,
        /// Cancelling gives back more tokens than fit.
        GivesTooMuchBack,
        /// The newest reservation still counts as the newest after it was cancelled.
        NewestStays,
        /// Cancelling computes with the current rate.
        RateOfNow,
        /// A new rate counts from the last call.
        RateCountsBackwards,
        /// If more tokens fit, the new room is filled at once.
        RoomIsFilled,
        /// Time runs backwards.
        TimeRunsBackwards,
        /// No mistake: the bucket in which the mistakes are made.
        Nothing,
    }
}

use Mistake::*;

const TOKEN: i128 = 1_000_000_000;

#[derive(Clone, Copy)]
struct Made {
    n: i128,
    rate: Rate,
    act: i128,
}

/// The bucket with a mistake.
struct Mistaken {
    mistake: Mistake,
    rate: Rate,
    burst: i128,
    tokens: i128,
    last: Option<i128>,
    newest: i128,
    made: Vec<Made>,
}

impl Mistaken {
    fn makes(&self, mistake: Mistake) -> bool {
        self.mistake == mistake
    }

    fn look(&self, t: i128) -> (i128, i128) {
        let full = self.burst * TOKEN;
        let Some(last) = self.last else {
            return (t, if self.makes(StartsEmpty) { 0 } else { full });
        };
        let t = if self.makes(TimeRunsBackwards) { t } else { t.max(last) };
        let tokens = match self.rate {
            Rate::Unlimited if t > last => full,
            Rate::Unlimited => self.tokens,
            Rate::PerSecond(rate) => self.tokens + (t - last).max(0) * i128::from(rate),
        };
        (t, if self.makes(Overflows) { tokens } else { tokens.min(full) })
    }

    fn settle(&mut self, t: i128, tokens: i128) {
        (self.last, self.tokens) = (Some(t), tokens);
    }

    fn reserve(&mut self, t: i128, n: u8, patience: i128) -> Option<Made> {
        let ((t, tokens), n) = (self.look(t), i128::from(n) * TOKEN);
        let rate = match self.rate {
            Rate::Unlimited if self.makes(UnlimitedCounts) => 1,
            Rate::Unlimited => {
                return Some(Made { n, rate: self.rate, act: t });
            }
            Rate::PerSecond(rate) => i128::from(rate),
        };
        let balance = tokens - n;
        let wait = match (balance, rate) {
            (0.., _) => 0,
            (_, 0) if self.makes(NothingIsAtOnce) => 0,
            (_, 0) => NEVER,
            _ => -balance / rate,
        };
        let fits = n <= self.burst * TOKEN || self.makes(MoreThanFits);
        if !fits || (wait > patience && !self.makes(WaitsForEver)) {
            if self.makes(RefusalTakes) {
                self.settle(t, balance);
            }
            return None;
        }
        self.settle(t, if self.makes(NoDebt) { balance.max(0) } else { balance });
        self.newest = t + wait;
        Some(Made { n, rate: self.rate, act: t + wait })
    }

    fn cancel(&mut self, t: i128, Made { n, rate, act }: Made) {
        let (t, tokens) = self.look(t);
        let used = act < t && !self.makes(GivesUsedBack);
        let rate = if self.makes(RateOfNow) { self.rate } else { rate };
        let Rate::PerSecond(rate) = rate else { return };
        if self.rate == Rate::Unlimited || n == 0 || used || self.makes(GivesNothingBack) {
            return;
        }
        let later = (self.newest - act) * i128::from(rate);
        let back = if self.makes(GivesAllBack) { n } else { n - later };
        if back <= 0 {
            return;
        }
        let full = self.burst * TOKEN;
        let tokens = tokens + back;
        self.settle(t, if self.makes(GivesTooMuchBack) { tokens } else { tokens.min(full) });
        if act == self.newest && !self.makes(NewestStays) {
            let before = act - if rate == 0 { NEVER } else { n / i128::from(rate) };
            if before >= t {
                self.newest = before;
            }
        }
    }

    fn set_rate(&mut self, t: i128, rate: Rate) {
        if !self.makes(RateCountsBackwards) {
            let (t, tokens) = self.look(t);
            self.settle(t, tokens);
        }
        self.rate = rate;
    }

    fn set_burst(&mut self, t: i128, burst: u8) {
        let (t, tokens) = self.look(t);
        self.settle(t, tokens);
        self.burst = burst.into();
        if self.makes(RoomIsFilled) {
            self.tokens = self.burst * TOKEN;
        }
    }
}

impl Machine for Mistaken {
    type Op = Call;
    type Ret = Said;

    fn step(&mut self, call: &mut Call, _: &mut Cx<'_>) -> Step<Said> {
        let t = i128::from(call.at.as_nanos());
        Step::Done(match call.ask {
            Ask::Allow(n) => {
                let patience = if self.makes(AllowBorrows) { NEVER } else { 0 };
                Said::Allowed(self.reserve(t, n, patience).is_some())
            }
            Ask::Reserve(n, patience) => {
                let patience = i128::try_from(patience.as_nanos()).unwrap_or(NEVER).min(NEVER);
                if self.makes(ReserveKeepsOne) && self.look(t).1 == i128::from(n) * TOKEN {
                    return Step::Done(Said::Refused);
                }
                match self.reserve(t, n, patience) {
                    Some(made) => {
                        self.made.push(made);
                        let delay = u64::try_from((made.act - t).clamp(0, NEVER)).expect("it fits");
                        let unit = if self.makes(RoundsUp) { 1_000_000 } else { 1 };
                        let early = if self.makes(RoundsDown) { delay % 100_000 } else { 0 };
                        let delay = (delay - early).next_multiple_of(unit);
                        Said::Reserved(Duration::from_nanos(delay), self.made.len() as u8 - 1)
                    }
                    None => Said::Refused,
                }
            }
            Ask::Cancel(number) => {
                self.cancel(t, self.made[usize::from(number)]);
                Said::Done
            }
            Ask::Tokens => Said::Tokens(self.look(t).1),
            Ask::SetRate(rate) => {
                self.set_rate(t, rate);
                Said::Done
            }
            Ask::SetBurst(burst) => {
                self.set_burst(t, burst);
                Said::Done
            }
        })
    }
}

fn mistaken(mistake: Mistake) -> MachineOf<Bucket> {
    let burst = i128::from(BURST);
    Box::new(Mistaken {
        mistake,
        rate: RATE,
        burst,
        tokens: burst * TOKEN,
        last: None,
        newest: 0,
        made: Vec::new(),
    })
}

pub(super) fn all() -> Vec<Mutant<Bucket>> {
    mutants! { mistaken:
        Seeded "starts_empty" from "workqueue:TB-1":
            (StartsEmpty) breaks ["grants_what_there_is"];
        Seeded "overflows" from "workqueue:TB-2":
            (Overflows) breaks ["grants_no_more"];
        Seeded "refusal_takes" from "workqueue:TB-5":
            (RefusalTakes) breaks ["balance_is_told"];
        Seeded "no_debt" from "workqueue:TB-6":
            (NoDebt) breaks ["nobody_goes_early"];
        Seeded "waits_for_ever" from "workqueue:TB-5":
            (WaitsForEver) breaks ["grants_no_more"];
        Seeded "allow_borrows" from "workqueue:TB-11":
            (AllowBorrows) breaks ["grants_no_more"];
        Seeded "more_than_fits" from "workqueue:TB-12":
            (MoreThanFits) breaks ["grants_no_more"];
        Seeded "nothing_is_at_once" from "workqueue:TB-10":
            (NothingIsAtOnce) breaks ["nobody_goes_early"];
        Seeded "unlimited_counts" from "workqueue:TB-8":
            (UnlimitedCounts) breaks ["grants_what_there_is"];
        Seeded "rounds_up" from "workqueue:TB-4, own: a wait is rounded up to whole milliseconds":
            (RoundsUp) breaks ["nobody_goes_late"];
        Seeded "rounds_down"
            from "workqueue:TB-24, own: a wait is rounded down to tenths of a millisecond":
            (RoundsDown) breaks ["nobody_goes_early"];
        Seeded "reserve_keeps_one" from "workqueue:TB-5, a reservation is refused the last token":
            (ReserveKeepsOne) breaks ["grants_what_there_is"];
        Seeded "gives_all_back" from "workqueue:TB-17":
            (GivesAllBack) breaks ["balance_is_told"];
        Seeded "gives_nothing_back" from "workqueue:TB-17":
            (GivesNothingBack) breaks ["nobody_goes_late"];
        Seeded "gives_used_back" from "workqueue:TB-16":
            (GivesUsedBack) breaks ["balance_is_told"];
        Equivalent("whatever is stored, a call sees no more tokens than fit")
            "gives_too_much_back" from "workqueue:TB-17":
            (GivesTooMuchBack) breaks [];
        Seeded "newest_stays" from "workqueue:TB-18":
            (NewestStays) breaks ["balance_is_told"];
        Seeded "rate_of_now" from "workqueue:TB-20":
            (RateOfNow) breaks ["balance_is_told"];
        Seeded "rate_counts_backwards" from "workqueue:TB-21":
            (RateCountsBackwards) breaks ["balance_is_told"];
        Seeded "room_is_filled" from "workqueue:TB-21":
            (RoomIsFilled) breaks ["balance_is_told"];
        Seeded "time_runs_backwards" from "workqueue:TB-23":
            (TimeRunsBackwards) breaks ["grants_no_more"];
        Equivalent("it is the bucket that the mutants are made from, without a mistake")
            "written_down_again" from "own: the base of the mutants, without a mistake":
            (Nothing) breaks [];
    }
}
