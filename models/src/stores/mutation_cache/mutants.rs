//! The bugs: one changed line each.

use super::MutationCache;
use crate::events::fixtures::booked;
use crate::trial::{Mutant, mutants};

pub(super) fn all() -> Vec<Mutant<MutationCache>> {
    [of_rules(), of_the_size(), of_listings(), of_the_lock()].concat()
}

fn of_rules() -> Vec<Mutant<MutationCache>> {
    mutants! { booked:
        Seeded "reading_drops_the_mark"
            from "cache:MC-3, MC-7: a read that skips a stale object drops the mark of its \
                  deletion"
            breaks ["one_moment"];
        Seeded "stored_is_preferred" from "cache:MC-3" breaks ["one_moment"];
        Seeded "written_is_preferred" from "cache:MC-3, versions are not compared"
            breaks ["one_moment"];
        Seeded "seen_is_not_forgotten" from "cache:MC-6" breaks ["one_moment"];
        Seeded "seen_forgets_the_newer" from "cache:MC-6, versions are not compared"
            breaks ["one_moment"];
        Seeded "older_is_written" from "cache:MC-5" breaks ["one_moment"];
        Seeded "deleted_is_written" from "museum A34" breaks ["one_moment"];
        Seeded "no_mark_is_left" from "museum A34" breaks ["one_moment"];
        Seeded "gone_forgets_the_next"
            from "cache:MC-7, the identities of the two objects are not compared"
            breaks ["one_moment"];
        Seeded "nothing_expires" from "cache:MC-1" breaks ["one_moment"];
    }
}

/// What is forgotten if there are too many writes.
fn of_the_size() -> Vec<Mutant<MutationCache>> {
    mutants! { booked:
        Seeded "reading_is_no_use" from "cache:MC-10, a read does not make a write the newest"
            breaks ["one_moment"];
        Seeded "reading_prolongs" from "cache:MC-10, a read renews the time of a write"
            breaks ["one_moment"];
        Seeded "newer_is_forgotten" from "cache:MC-10" breaks ["one_moment"];
        Seeded "all_are_remembered" from "cache:MC-1, the size is not bounded"
            breaks ["one_moment"];
    }
}

fn of_listings() -> Vec<Mutant<MutationCache>> {
    mutants! { booked:
        Seeded "listed_as_stored" from "cache:MC-4, versions are not compared"
            breaks ["one_moment"];
        Seeded "added_is_not_listed" from "cache:MC-4" breaks ["one_moment"];
        Seeded "others_are_listed" from "cache:MC-4, the index function is not asked"
            breaks ["one_moment"];
        Seeded "lost_is_remembered" from "cache:MC-7, a deletion of which only the key is known"
            breaks ["one_moment"];
    }
}

fn of_the_lock() -> Vec<Mutant<MutationCache>> {
    mutants! { booked:
        Seeded "add_waits_for_the_comparison"
            from "cache:MD-2, adding and comparing share one lock"
            breaks ["handing_out_never_waits"];
    }
}
