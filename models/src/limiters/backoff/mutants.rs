//! The bugs: one changed line each, in the plain table.

use super::{Backoff, Plain};
use crate::shared::Mistakes;
use crate::trial::{MachineOf, Mutant, mutants};

fn mistaken(mistakes: Mistakes) -> MachineOf<Backoff> {
    Box::new(Plain::with(mistakes))
}

pub(super) fn all() -> Vec<Mutant<Backoff>> {
    mutants! { mistaken:
        Seeded "jitter_of_the_doubled" from "museum F5" breaks ["never_too_long"];
        Seeded "jitter_is_not_kept" from "museum F5" breaks ["tells_what_it_gave"];
        Seeded "jitter_above_the_maximum" from "museum F5" breaks ["never_too_long"];
        Seeded "no_jitter" from "workqueue:BO-5" breaks ["spreads_out"];
        Seeded "delays_do_not_grow" from "workqueue:BO-2" breaks ["never_too_short"];
        Seeded "first_is_doubled" from "workqueue:BO-2" breaks ["never_too_long"];
        Seeded "no_maximum" from "workqueue:BO-2" breaks ["never_too_long"];
        Seeded "never_starts_over" from "workqueue:BO-4" breaks ["never_too_long"];
        Seeded "starts_over_early" from "workqueue:BO-4" breaks ["never_too_short"];
        Seeded "updated_by_the_event" from "workqueue:BO-2" breaks ["backs_off_so_long"];
        Seeded "one_for_all_keys" from "workqueue:BO-1" breaks ["tells_what_it_gave"];
        Seeded "get_looks_at_time" from "workqueue:BO-1" breaks ["tells_what_it_gave"];
        Seeded "since_the_update" from "workqueue:BO-6" breaks ["backs_off_so_long"];
        Seeded "until_now" from "workqueue:BO-7" breaks ["backs_off_so_long"];
        Seeded "end_belongs_to_it" from "workqueue:BO-6" breaks ["backs_off_so_long"];
        Seeded "nothing_before_the_update" from "workqueue:BO-14" breaks ["backs_off_so_long"];
        Seeded "garbage_stays" from "workqueue:BO-8" breaks ["forgets_what_it_says"];
        Seeded "all_is_garbage" from "workqueue:BO-8" breaks ["forgets_what_it_says"];
        Seeded "resets_all" from "workqueue:BO-8" breaks ["forgets_what_it_says"];
        Seeded "resets_nothing" from "workqueue:BO-8" breaks ["forgets_what_it_says"];
        Seeded "forgets_in_silence" from "workqueue:BO-8" breaks ["forgets_what_it_says"];
    }
}
