//! The bugs: one changed line each.

use super::reference::Mistake::{self, *};
use super::{ExpiringStore, PlainTimes};
use crate::trial::{MachineOf, Mutant, mutants};

/// The sequential object with mistakes.
fn mistaken(mistakes: &'static [Mistake]) -> MachineOf<ExpiringStore> {
    Box::new(PlainTimes::with(mistakes))
}

pub(super) fn all() -> Vec<Mutant<ExpiringStore>> {
    mutants! { mistaken:
        Seeded "list_returns_the_expired" from "museum A30":
            (&[ListReturnsTheExpired]) breaks ["nothing_expired_is_read"];
        Seeded "expires_at_the_very_age" from "cache:EX-2":
            (&[ExpiresAtTheVeryAge]) breaks ["nothing_alive_is_missed"];
        Seeded "hides_at_the_very_age" from "cache:EX-2":
            (&[HidesAtTheVeryAge]) breaks ["nothing_alive_is_missed"];
        Seeded "get_hides_at_the_very_age"
            from "own: the two ways to read compare ages differently":
            (&[GetHidesAtTheVeryAge]) breaks ["nothing_alive_is_missed"];
        Seeded "never_expires" from "cache:EX-2":
            (&[NeverExpires]) breaks ["nothing_expired_is_read"];
        Seeded "update_keeps_the_time" from "cache:EX-1":
            (&[UpdateKeepsTime]) breaks ["nothing_alive_is_missed"];
        Seeded "list_keeps_the_times" from "cache:EX-1":
            (&[ListKeepsTimes]) breaks ["nothing_alive_is_missed"];
        Seeded "list_keeps_what_it_misses" from "cache:EX-1, the store contract":
            (&[ListKeepsOld]) breaks ["only_what_was_stored"];
        Seeded "first_state_wins" from "cache:EX-1, the store contract":
            (&[KeepFirst]) breaks ["newest_state"];
        Seeded "first_of_two_counts" from "cache:ST-8":
            (&[FirstOfTwoCounts]) breaks ["newest_state"];
        Seeded "delete_does_nothing" from "cache:EX-1, the store contract":
            (&[DeleteDoesNothing]) breaks ["only_what_was_stored"];
        Seeded "expired_stays" from "cache:EX-3":
            (&[ExpiredStays]) breaks ["keys_stay_until_seen"];
        Seeded "keys_are_checked" from "cache:EX-3":
            (&[KeysAreChecked]) breaks ["keys_stay_until_seen"];
        Seeded "reading_refreshes" from "cache:EX-1":
            (&[ReadingRefreshes]) breaks ["nothing_expired_is_read"];
        Seeded "decides_then_removes" from "cache:EX-4":
            (&[DecidesThenRemoves]) breaks ["nothing_alive_is_missed", "one_step_a_call"];
    }
}
