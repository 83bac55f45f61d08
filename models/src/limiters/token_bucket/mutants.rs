//! The bugs: one changed line each, in the bucket in whole numbers.

use super::{Bucket, Plain};
use crate::shared::Mistakes;
use crate::trial::{MachineOf, Mutant, mutants};

fn mistaken(mistakes: Mistakes) -> MachineOf<Bucket> {
    Box::new(Plain::with(mistakes))
}

pub(super) fn all() -> Vec<Mutant<Bucket>> {
    mutants! { mistaken:
        Seeded "starts_empty" from "workqueue:TB-1" breaks ["grants_what_there_is"];
        Seeded "overflows" from "workqueue:TB-2" breaks ["grants_no_more"];
        Seeded "refusal_takes" from "workqueue:TB-5" breaks ["balance_is_told"];
        Seeded "no_debt" from "workqueue:TB-6" breaks ["nobody_goes_early"];
        Seeded "waits_for_ever" from "workqueue:TB-5" breaks ["grants_no_more"];
        Seeded "allow_borrows" from "workqueue:TB-11" breaks ["grants_no_more"];
        Seeded "more_than_fits" from "workqueue:TB-12" breaks ["grants_no_more"];
        Seeded "nothing_is_at_once" from "workqueue:TB-10" breaks ["nobody_goes_early"];
        Seeded "unlimited_counts" from "workqueue:TB-8" breaks ["grants_what_there_is"];
        Seeded "rounds_up" from "workqueue:TB-4, own: a wait is rounded up to whole milliseconds"
            breaks ["nobody_goes_late"];
        Seeded "rounds_down"
            from "workqueue:TB-24, own: a wait is rounded down to tenths of a millisecond"
            breaks ["nobody_goes_early"];
        Seeded "reserve_keeps_one" from "workqueue:TB-5, a reservation is refused the last token"
            breaks ["grants_what_there_is"];
        Seeded "gives_all_back" from "workqueue:TB-17" breaks ["balance_is_told"];
        Seeded "gives_nothing_back" from "workqueue:TB-17" breaks ["nobody_goes_late"];
        Seeded "gives_used_back" from "workqueue:TB-16" breaks ["balance_is_told"];
        Seeded "newest_stays" from "workqueue:TB-18" breaks ["balance_is_told"];
        Seeded "rate_of_now" from "workqueue:TB-20" breaks ["balance_is_told"];
        Seeded "rate_counts_backwards" from "workqueue:TB-21" breaks ["balance_is_told"];
        Seeded "room_is_filled" from "workqueue:TB-21" breaks ["balance_is_told"];
        Seeded "time_runs_backwards" from "workqueue:TB-23" breaks ["grants_no_more"];
        Equivalent("whatever is stored, a call sees no more tokens than fit")
            "gives_too_much_back" from "workqueue:TB-17" breaks [];
    }
}
