//! The bugs: one changed line each.

use super::{ExpiringStore, PlainTimes};
use crate::events::fixtures::Mistakes;
use crate::trial::{MachineOf, Mutant, mutants};

/// The plain store with mistakes.
fn mistaken(mistakes: Mistakes) -> MachineOf<ExpiringStore> {
    Box::new(PlainTimes::with(mistakes))
}

pub(super) fn all() -> Vec<Mutant<ExpiringStore>> {
    mutants! { mistaken:
        Seeded "list_returns_the_expired" from "museum A30"
            breaks ["agrees_with_the_sequential_object"];
        Seeded "expires_at_the_very_age" from "cache:EX-2"
            breaks ["agrees_with_the_sequential_object"];
        Seeded "hides_at_the_very_age" from "cache:EX-2"
            breaks ["agrees_with_the_sequential_object"];
        Seeded "get_hides_at_the_very_age"
            from "own: the two ways to read compare ages differently"
            breaks ["agrees_with_the_sequential_object"];
        Seeded "never_expires" from "cache:EX-2" breaks ["agrees_with_the_sequential_object"];
        Seeded "update_keeps_the_time" from "cache:EX-1"
            breaks ["agrees_with_the_sequential_object"];
        Seeded "list_keeps_the_times" from "cache:EX-1"
            breaks ["agrees_with_the_sequential_object"];
        Seeded "list_keeps_what_it_misses" from "cache:EX-1, the store contract"
            breaks ["agrees_with_the_sequential_object"];
        Seeded "first_state_wins" from "cache:EX-1, the store contract"
            breaks ["agrees_with_the_sequential_object"];
        Seeded "first_of_two_counts" from "cache:ST-8" breaks ["agrees_with_the_sequential_object"];
        Seeded "delete_does_nothing" from "cache:EX-1, the store contract"
            breaks ["agrees_with_the_sequential_object"];
        Seeded "expired_stays" from "cache:EX-3" breaks ["agrees_with_the_sequential_object"];
        Seeded "keys_are_checked" from "cache:EX-3" breaks ["agrees_with_the_sequential_object"];
        Seeded "reading_refreshes" from "cache:EX-1" breaks ["agrees_with_the_sequential_object"];
        Seeded "decides_then_removes" from "cache:EX-4"
            breaks ["agrees_with_the_sequential_object", "nothing_alive_is_missed", "one_step_a_call"];
    }
}
