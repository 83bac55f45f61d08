//! The bugs: one changed line each, in the sequential object.

use std::collections::BTreeSet;
use std::time::Duration;

use seatrial_core::limiter::{Item, Limiter as Asked};
use seatrial_core::runtime::Instant;

use super::machine::Alone;
use super::plain::FOREVER;
use super::{BASE, Limiter, MAX, Plain, shape};
use crate::shared::Mistakes;
use crate::trial::{MachineOf, Mutant, mutants};

/// The sequential object with a mistake.
struct Mistaken {
    parts: Vec<Plain>,
    mistake: &'static str,
    /// Failures that no caller reported.
    extra: std::cell::Cell<u32>,
    /// The items that have failed and are not forgotten.
    remembered: BTreeSet<u8>,
}

/// The number of items for which a piece has room.
const ROOM: usize = 64;

impl Mistaken {
    fn makes(&self, mistake: &str) -> bool {
        self.mistake == mistake
    }

    fn key(&self, item: Item<'_, u8>) -> u8 {
        if self.makes("one_for_all_items") { 1 } else { *item.key() }
    }

    /// Returns the delay that the count of failures alone demands.
    fn of_failures(&self, before: u32, right: u128) -> u128 {
        let base = u64::try_from(BASE.as_nanos()).expect("a short time");
        let max = MAX.as_nanos();
        match self.mistake {
            "twice_the_delay_wraps" => {
                u128::from(base.wrapping_mul(2_u64.wrapping_pow(before))).min(max)
            }
            "shifts_in_circles" => u128::from(base.wrapping_shl(before)).min(max),
            "what_does_not_fit_is_nothing" if before >= base.leading_zeros() => 0,
            "delays_grow_tenfold" => {
                10_u128.saturating_pow(before).saturating_mul(base.into()).min(max)
            }
            "delays_do_not_grow" => base.into(),
            "counted_before_it_is_asked" => (right * 2).min(max),
            "no_maximum" => (u128::from(base) << before.min(60)).min(FOREVER),
            _ => right,
        }
    }
}

impl Asked<u8> for Mistaken {
    fn when(&mut self, item: Item<'_, u8>, now: Instant) -> Duration {
        let key = self.key(item);
        let now = if self.makes("time_stands_still") { 0 } else { now.as_nanos() };
        let before = self.parts[0].num_requeues(key) + self.extra.get();
        self.remembered.insert(key);
        if self.makes("many_are_forgotten") && self.remembered.len() > ROOM {
            self.parts[0] = Plain::new(&super::per_item());
            self.remembered.clear();
        }
        let asked = if self.makes("first_part_only") { 1 } else { self.parts.len() };
        let parts = self.parts.iter_mut().take(asked);
        let mut delays: Vec<u128> = parts.map(|part| part.when(key, now)).collect();
        delays[0] = self.of_failures(before, delays[0]);
        let delay = match self.mistake {
            "shortest_counts" => delays.iter().min().copied(),
            "delays_add_up" => Some(delays.iter().sum()),
            _ => delays.iter().max().copied(),
        };
        let nanos = u64::try_from(delay.unwrap_or(0).min(FOREVER)).expect("it is at most that");
        Duration::from_nanos(nanos)
    }

    fn forget(&mut self, item: Item<'_, u8>, _: &mut Vec<u8>) {
        let key = self.key(item);
        self.remembered.remove(&key);
        match self.mistake {
            "never_forgets" => {}
            "forgets_all_items" => self.parts[0] = Plain::new(&super::per_item()),
            "forgetting_fills_the_bucket" => {
                self.parts[0].forget(key);
                self.parts[1] = Plain::new(&super::paced());
            }
            _ => self.parts.iter_mut().for_each(|part| part.forget(key)),
        }
    }

    fn num_requeues(&self, item: Item<'_, u8>) -> u32 {
        if self.makes("asking_counts") {
            self.extra.set(self.extra.get() + 1);
        }
        self.parts[0].num_requeues(self.key(item)) + self.extra.get()
    }

    fn reads_time(&self) -> bool {
        true
    }
}

fn mistaken(mistakes: Mistakes) -> MachineOf<Limiter> {
    let mistake = mistakes[0];
    let Plain::MaxOf(parts) = Plain::new(&shape()) else { unreachable!("it has parts") };
    let extra = std::cell::Cell::new(0);
    Box::new(Alone(Box::new(Mistaken { parts, mistake, extra, remembered: BTreeSet::new() })
        as Box<dyn Asked<u8>>))
}

pub(super) fn all() -> Vec<Mutant<Limiter>> {
    mutants! { mistaken:
        Seeded "twice_the_delay_wraps" from "museum W8" breaks ["never_too_short"];
        Seeded "shifts_in_circles" from "museum W8" breaks ["never_too_short"];
        Seeded "what_does_not_fit_is_nothing" from "museum W8" breaks ["never_too_short"];
        Seeded "delays_grow_tenfold" from "museum W12" breaks ["never_too_long"];
        Seeded "never_forgets"
            from "workqueue:RL-4"
            breaks ["failures_are_counted", "never_too_long"];
        Seeded "forgets_all_items" from "workqueue:RL-4" breaks ["failures_are_counted"];
        Seeded "one_for_all_items" from "workqueue:RL-4" breaks ["failures_are_counted"];
        Seeded "delays_do_not_grow" from "workqueue:RL-2" breaks ["never_too_short"];
        Seeded "counted_before_it_is_asked" from "workqueue:RL-3" breaks ["never_too_long"];
        Seeded "asking_counts"
            from "own: a question for the number of failures counts as a failure"
            breaks ["failures_are_counted"];
        Seeded "no_maximum" from "workqueue:RL-5" breaks ["never_too_long"];
        Seeded "shortest_counts" from "workqueue:RL-20" breaks ["never_too_short"];
        Seeded "first_part_only" from "workqueue:RL-20" breaks ["never_too_short"];
        Seeded "delays_add_up" from "workqueue:RL-20" breaks ["never_too_long"];
        Seeded "many_are_forgotten"
            from "own: the container of the counts loses them when it grows"
            breaks ["failures_are_counted"];
        Seeded "forgetting_fills_the_bucket" from "workqueue:RL-15" breaks ["never_too_short"];
        Seeded "time_stands_still" from "workqueue:RL-15" breaks ["never_too_long"];
    }
}
