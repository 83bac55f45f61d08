//! The keyed back-off in whole numbers of any size; times are in nanoseconds and may be negative.
//!
//! It is the specification. A mistake, which is one changed line, makes a mutant of it with the name
//! of the mistake.

use std::collections::BTreeMap;
use std::time::Duration;

use seatrial_core::machine::{Cx, Machine, Step};

use super::machine::{Call, Said, drawn};
use super::{INITIAL, JITTER, MAX};
use crate::shared::Mistakes;

/// A delay for each key, and when it was updated.
#[derive(Clone, Debug)]
pub struct Plain {
    mistakes: Mistakes,
    initial: i128,
    max: i128,
    jitter: f64,
    pub(super) entries: BTreeMap<u8, (i128, i128)>,
}

/// The longest delay.
const FOREVER: i128 = i64::MAX as i128;

/// A time in nanoseconds.
pub(super) const fn nanos(time: Duration) -> i128 {
    time.as_nanos().cast_signed()
}

impl Default for Plain {
    fn default() -> Self {
        Self::new(nanos(INITIAL), nanos(MAX), JITTER)
    }
}

impl Plain {
    /// Makes an empty table.
    pub fn new(initial: i128, max: i128, jitter: f64) -> Self {
        let (initial, max) = (initial.min(FOREVER), max.min(FOREVER));
        Self { mistakes: &[], initial, max, jitter, entries: BTreeMap::new() }
    }

    /// Makes one that makes mistakes.
    pub(super) fn with(mistakes: Mistakes) -> Self {
        Self { mistakes, ..Self::default() }
    }

    fn makes(&self, mistake: &str) -> bool {
        self.mistakes.contains(&mistake)
    }

    fn expired(&self, event: i128, updated: i128) -> bool {
        let patience = match () {
            () if self.makes("never_starts_over") => return false,
            () if self.makes("starts_over_early") => self.max,
            () => 2 * self.max,
        };
        (event - updated).min(FOREVER) > patience.min(FOREVER)
    }

    /// Returns the next delay of a key (`workqueue:BO-2`), and what it is without its jitter. `drawn`
    /// is a number from zero to one. The first delay is not cut.
    fn delays(&self, key: u8, event: i128, drawn: f64) -> (i128, i128) {
        let (plain, of, most) = match self.entries.get(&key) {
            Some(&(delay, updated)) if !self.expired(event, updated) => {
                (if self.makes("delays_do_not_grow") { delay } else { 2 * delay }, delay, self.max)
            }
            _ if self.makes("first_is_doubled") => (2 * self.initial, self.initial, FOREVER),
            _ => (self.initial, self.initial, FOREVER),
        };
        let share = match () {
            () if self.makes("no_jitter") => 0.0,
            () if self.makes("jitter_of_the_doubled") => 2.0,
            () => 1.0,
        };
        let (extra, cut) = ((of as f64 * share * self.jitter * drawn) as i128, plain.min(most));
        let told = match () {
            () if self.makes("no_maximum") => plain + extra,
            () if self.makes("jitter_above_the_maximum") => cut + extra,
            () => (plain + extra).min(most),
        };
        (told, cut)
    }

    /// Returns the shortest and the longest next delay of a key.
    pub(super) fn range(&self, key: u8, event: i128) -> (i128, i128) {
        (self.delays(key, event, 0.0).0, self.delays(key, event, 1.0).0)
    }

    fn next(&mut self, key: u8, event: i128, now: i128, drawn: f64) -> i128 {
        let (told, cut) = self.delays(key, event, drawn);
        let kept = if self.makes("jitter_is_not_kept") { cut } else { told };
        let updated = if self.makes("updated_by_the_event") { event } else { now };
        self.entries.insert(key, (kept, updated));
        told
    }

    fn get(&self, key: u8, now: i128) -> i128 {
        let entry = self.entries.get(&key).filter(|(_, updated)| {
            !(self.makes("get_looks_at_time") && self.expired(now, *updated))
        });
        entry.map_or(0, |(delay, _)| *delay)
    }

    fn backs_off(&self, key: u8, event: i128, passed: impl FnOnce(i128) -> i128) -> bool {
        self.entries.get(&key).is_some_and(|&(delay, updated)| {
            let passed = passed(updated);
            let too_early = passed < 0 && self.makes("nothing_before_the_update");
            let last = i128::from(self.makes("end_belongs_to_it"));
            !self.expired(event, updated) && !too_early && passed.min(FOREVER) < delay + last
        })
    }

    fn forget(&mut self, forgotten: impl Fn(&Self, u8, i128) -> bool) -> Said {
        let each = self.entries.iter();
        let gone = each.filter(|(key, (_, updated))| forgotten(self, **key, *updated));
        let gone: Vec<u8> = gone.map(|(key, _)| *key).collect();
        self.entries.retain(|key, _| !gone.contains(key));
        Said::Forgotten(if self.makes("forgets_in_silence") { 0 } else { gone.len() as u8 })
    }

    /// Answers a call (`workqueue:BO-1`, `BO-6` to `BO-8`).
    pub(super) fn ask(&mut self, call: Call, now: i128, drawn: f64) -> Said {
        let one = self.makes("one_for_all_keys");
        let key = |key: u8| if one { 1 } else { key };
        let delay = |nanos: i128| {
            Said::Delay(Duration::from_nanos(u64::try_from(nanos).expect("a delay fits")))
        };
        match call {
            Call::Next(of, event) => delay(self.next(key(of), event.as_nanos().into(), now, drawn)),
            Call::Get(of) => delay(self.get(key(of), now)),
            Call::Since(of, event) => {
                let event = i128::from(event.as_nanos());
                let from_update = self.makes("since_the_update");
                Said::BacksOff(self.backs_off(key(of), event, |updated| {
                    now - if from_update { updated } else { event }
                }))
            }
            Call::SinceUpdate(of, event) => {
                let event = i128::from(event.as_nanos());
                let until = if self.makes("until_now") { now } else { event };
                Said::BacksOff(self.backs_off(key(of), event, |updated| until - updated))
            }
            Call::Reset(of) => {
                let of = key(of);
                self.forget(|table, known, _| match () {
                    () if table.makes("resets_all") => true,
                    () if table.makes("resets_nothing") => false,
                    () => known == of,
                })
            }
            Call::CollectGarbage => self.forget(|table, _, updated| match () {
                () if table.makes("garbage_stays") => false,
                () if table.makes("all_is_garbage") => true,
                () => table.expired(now, updated),
            }),
        }
    }
}

impl Machine for Plain {
    type Op = Call;
    type Ret = Said;

    fn step(&mut self, call: &mut Call, cx: &mut Cx<'_>) -> Step<Said> {
        let drawn = if matches!(call, Call::Next(..)) { drawn(cx) } else { 0.0 };
        Step::Done(self.ask(*call, cx.now().as_nanos().into(), drawn))
    }
}
