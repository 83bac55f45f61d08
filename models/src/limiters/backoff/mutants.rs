//! The bugs: one changed line each, in a second implementation of the table.

use std::collections::BTreeMap;
use std::time::Duration;

use seatrial_core::machine::{Cx, Machine, Step};

use super::machine::{Call, Said, drawn};
use super::{Backoff, INITIAL, JITTER, MAX};
use crate::trial::{MachineOf, Mutant, mistakes, mutants};

mistakes! {
    /// One changed line.
    enum Mistake {
        // Mistakes that the reference made once, or nearly made.
        /// The jitter is computed from the doubled delay.
        JitterOfTheDoubled,
        /// The jitter is returned, but not kept.
        JitterIsNotKept,
        /// The jitter is added on top of the maximum.
        JitterAboveTheMaximum,

        // Mistakes that any programmer may make.
        /// There is no jitter.
        NoJitter,
        /// The delay does not grow.
        Flat,
        /// The first delay is doubled.
        FirstIsDoubled,
        /// There is no maximum.
        NoMaximum,
        /// A key never starts over.
        NeverStartsOver,
        /// A key starts over after the maximum, not after twice the maximum.
        StartsOverEarly,
        /// The time of the event is kept as the last update.
        UpdatedByTheEvent,
        /// All keys count as the same key.
        OneForAll,
        /// The delay of a key that would start over is given as zero.
        GetLooksAtTime,
        /// The back-off of an event counts from the update.
        SinceTheUpdate,
        /// The back-off of an update counts until now.
        UntilNow,
        /// The last moment still belongs to the back-off.
        EndBelongsToIt,
        /// A key does not back off before its update.
        NothingBeforeTheUpdate,
        /// Garbage is kept.
        GarbageStays,
        /// Keys that back off are garbage, too.
        AllIsGarbage,
        /// A reset forgets all keys.
        ResetsAll,
        /// A reset forgets no key.
        ResetsNothing,
        /// The number of forgotten keys is not returned.
        ForgetsInSilence,
        /// No mistake: the table in which the mistakes are made.
        Nothing,
    }
}

use Mistake::*;

/// The table with a mistake; times are in nanoseconds.
struct Mistaken {
    mistake: Mistake,
    entries: BTreeMap<u8, (i128, i128)>,
}

const fn nanos(time: Duration) -> i128 {
    time.as_nanos().cast_signed()
}

impl Mistaken {
    fn makes(&self, mistake: Mistake) -> bool {
        self.mistake == mistake
    }

    fn expired(&self, event: i128, updated: i128) -> bool {
        let patience = match self.mistake {
            NeverStartsOver => return false,
            StartsOverEarly => nanos(MAX),
            _ => 2 * nanos(MAX),
        };
        event - updated > patience
    }

    fn entry(&self, key: u8) -> Option<(i128, i128)> {
        self.entries.get(&key).copied()
    }

    fn next(&mut self, key: u8, event: i128, now: i128, drawn: f64) -> i128 {
        let jitter = |of: i128| match self.mistake {
            NoJitter => 0,
            JitterOfTheDoubled => (of as f64 * 2.0 * JITTER * drawn) as i128,
            _ => (of as f64 * JITTER * drawn) as i128,
        };
        let (plain, extra) = match self.entry(key) {
            Some((delay, updated)) if !self.expired(event, updated) => {
                let grown = if self.makes(Flat) { delay } else { 2 * delay };
                (grown, jitter(delay))
            }
            _ if self.makes(FirstIsDoubled) => (2 * nanos(INITIAL), jitter(nanos(INITIAL))),
            _ => (nanos(INITIAL), jitter(nanos(INITIAL))),
        };
        let told = match self.mistake {
            NoMaximum => plain + extra,
            JitterAboveTheMaximum => plain.min(nanos(MAX)) + extra,
            _ => (plain + extra).min(nanos(MAX)),
        };
        let kept = if self.makes(JitterIsNotKept) { plain.min(nanos(MAX)) } else { told };
        let updated = if self.makes(UpdatedByTheEvent) { event } else { now };
        self.entries.insert(key, (kept, updated));
        told
    }

    fn backs_off(&self, key: u8, event: i128, passed: impl FnOnce(i128) -> i128) -> bool {
        self.entry(key).is_some_and(|(delay, updated)| {
            let passed = passed(updated);
            let too_early = passed < 0 && self.makes(NothingBeforeTheUpdate);
            let last = i128::from(self.makes(EndBelongsToIt));
            !self.expired(event, updated) && !too_early && passed < delay + last
        })
    }

    fn forget(&mut self, forgotten: impl Fn(&Self, u8, i128) -> bool) -> u8 {
        let gone: Vec<u8> = self
            .entries
            .iter()
            .filter(|(key, (_, updated))| forgotten(self, **key, *updated))
            .map(|(key, _)| *key)
            .collect();
        self.entries.retain(|key, _| !gone.contains(key));
        if self.makes(ForgetsInSilence) { 0 } else { gone.len() as u8 }
    }
}

impl Machine for Mistaken {
    type Op = Call;
    type Ret = Said;

    fn step(&mut self, call: &mut Call, cx: &mut Cx<'_>) -> Step<Said> {
        let now = i128::from(cx.now().as_nanos());
        let key = |key: u8| if self.mistake == OneForAll { 1 } else { key };
        let delay = |nanos: i128| {
            Said::Delay(Duration::from_nanos(u64::try_from(nanos).expect("it is a short time")))
        };
        Step::Done(match *call {
            Call::Next(of, event) => {
                let of = key(of);
                delay(self.next(of, event.as_nanos().into(), now, drawn(cx)))
            }
            Call::Get(of) => {
                let entry = self.entry(key(of)).filter(|(_, updated)| {
                    !(self.makes(GetLooksAtTime) && self.expired(now, *updated))
                });
                delay(entry.map_or(0, |(delay, _)| delay))
            }
            Call::Since(of, event) => {
                let event = i128::from(event.as_nanos());
                let from_update = self.makes(SinceTheUpdate);
                Said::BacksOff(self.backs_off(key(of), event, |updated| {
                    now - if from_update { updated } else { event }
                }))
            }
            Call::SinceUpdate(of, event) => {
                let event = i128::from(event.as_nanos());
                let until = if self.makes(UntilNow) { now } else { event };
                Said::BacksOff(self.backs_off(key(of), event, |updated| until - updated))
            }
            Call::Reset(of) => {
                let of = key(of);
                Said::Forgotten(self.forget(|table, known, _| match table.mistake {
                    ResetsAll => true,
                    ResetsNothing => false,
                    _ => known == of,
                }))
            }
            Call::CollectGarbage => {
                Said::Forgotten(self.forget(|table, _, updated| match table.mistake {
                    GarbageStays => false,
                    AllIsGarbage => true,
                    _ => table.expired(now, updated),
                }))
            }
        })
    }
}

fn mistaken(mistake: Mistake) -> MachineOf<Backoff> {
    Box::new(Mistaken { mistake, entries: BTreeMap::new() })
}

pub(super) fn all() -> Vec<Mutant<Backoff>> {
    mutants! { mistaken:
        Seeded "jitter_of_the_doubled" from "museum F5":
            (JitterOfTheDoubled) breaks ["never_too_long"];
        Seeded "jitter_is_not_kept" from "museum F5":
            (JitterIsNotKept) breaks ["tells_what_it_gave"];
        Seeded "jitter_above_the_maximum" from "museum F5":
            (JitterAboveTheMaximum) breaks ["never_too_long"];
        Seeded "no_jitter" from "workqueue:BO-5":
            (NoJitter) breaks ["spreads_out"];
        Seeded "delays_do_not_grow" from "workqueue:BO-2":
            (Flat) breaks ["never_too_short"];
        Seeded "first_is_doubled" from "workqueue:BO-2":
            (FirstIsDoubled) breaks ["never_too_long"];
        Seeded "no_maximum" from "workqueue:BO-2":
            (NoMaximum) breaks ["never_too_long"];
        Seeded "never_starts_over" from "workqueue:BO-4":
            (NeverStartsOver) breaks ["never_too_long"];
        Seeded "starts_over_early" from "workqueue:BO-4":
            (StartsOverEarly) breaks ["never_too_short"];
        Seeded "updated_by_the_event" from "workqueue:BO-2":
            (UpdatedByTheEvent) breaks ["backs_off_so_long"];
        Seeded "one_for_all_keys" from "workqueue:BO-1":
            (OneForAll) breaks ["tells_what_it_gave"];
        Seeded "get_looks_at_time" from "workqueue:BO-1":
            (GetLooksAtTime) breaks ["tells_what_it_gave"];
        Seeded "since_the_update" from "workqueue:BO-6":
            (SinceTheUpdate) breaks ["backs_off_so_long"];
        Seeded "until_now" from "workqueue:BO-7":
            (UntilNow) breaks ["backs_off_so_long"];
        Seeded "end_belongs_to_it" from "workqueue:BO-6":
            (EndBelongsToIt) breaks ["backs_off_so_long"];
        Seeded "nothing_before_the_update" from "workqueue:BO-14":
            (NothingBeforeTheUpdate) breaks ["backs_off_so_long"];
        Seeded "garbage_stays" from "workqueue:BO-8":
            (GarbageStays) breaks ["forgets_what_it_says"];
        Seeded "all_is_garbage" from "workqueue:BO-8":
            (AllIsGarbage) breaks ["forgets_what_it_says"];
        Seeded "resets_all" from "workqueue:BO-8":
            (ResetsAll) breaks ["forgets_what_it_says"];
        Seeded "resets_nothing" from "workqueue:BO-8":
            (ResetsNothing) breaks ["forgets_what_it_says"];
        Seeded "forgets_in_silence" from "workqueue:BO-8":
            (ForgetsInSilence) breaks ["forgets_what_it_says"];
        Equivalent("it is the table that the mutants are made from, without a mistake")
            "written_down_again" from "own: the base of the mutants, without a mistake":
            (Nothing) breaks [];
    }
}
