//! The bugs: one changed line each.

use super::MutationCache;
use super::book::Book;
use super::reference::Mistake::{self, *};
use crate::trial::{MachineOf, Mutant, mutants};

/// A cache, or a detector, with mistakes.
fn mistaken(mistakes: &'static [Mistake]) -> MachineOf<MutationCache> {
    Box::new(Book::of(Some(mistakes)))
}

pub(super) fn all() -> Vec<Mutant<MutationCache>> {
    [of_rules(), of_the_size(), of_listings(), of_the_lock()].concat()
}

/// The mistakes of the rules, for generated calls.
const RULES: &[(&str, &[Mistake])] = &[
    ("reading_drops_the_mark", &[ReadingDropsTheMark]),
    ("stored_is_preferred", &[StoredIsPreferred]),
    ("written_is_preferred", &[WrittenIsPreferred]),
    ("seen_is_not_forgotten", &[SeenIsNotForgotten]),
    ("seen_forgets_the_newer", &[SeenForgetsTheNewer]),
    ("older_is_written", &[OlderIsWritten]),
    ("deleted_is_written", &[DeletedIsWritten]),
    ("no_mark_is_left", &[NoMarkIsLeft]),
    ("gone_forgets_the_next", &[GoneForgetsTheNext]),
    ("nothing_expires", &[NothingExpires]),
    ("reading_is_no_use", &[ReadingIsNoUse]),
    ("reading_prolongs", &[ReadingProlongs]),
    ("newer_is_forgotten", &[NewerIsForgotten]),
    ("all_are_remembered", &[AllAreRemembered]),
    ("listed_as_stored", &[ListedAsStored]),
    ("added_is_not_listed", &[AddedIsNotListed]),
    ("others_are_listed", &[OthersAreListed]),
    ("lost_is_remembered", &[LostIsRemembered]),
];

/// Returns the mistakes of the rules' mutant with this name.
pub(super) fn of_rules_named(name: &str) -> Option<&'static [Mistake]> {
    RULES.iter().find(|(known, _)| *known == name).map(|(_, mistakes)| *mistakes)
}

fn of_rules() -> Vec<Mutant<MutationCache>> {
    mutants! { mistaken:
        Seeded "reading_drops_the_mark"
            from "cache:MC-3, MC-7: a read that skips a stale object drops the mark of its \
                  deletion":
            (&[ReadingDropsTheMark]) breaks ["one_moment"];
        Seeded "stored_is_preferred" from "cache:MC-3":
            (&[StoredIsPreferred]) breaks ["one_moment"];
        Seeded "written_is_preferred" from "cache:MC-3, versions are not compared":
            (&[WrittenIsPreferred]) breaks ["one_moment"];
        Seeded "seen_is_not_forgotten" from "cache:MC-6":
            (&[SeenIsNotForgotten]) breaks ["one_moment"];
        Seeded "seen_forgets_the_newer" from "cache:MC-6, versions are not compared":
            (&[SeenForgetsTheNewer]) breaks ["one_moment"];
        Seeded "older_is_written" from "cache:MC-5":
            (&[OlderIsWritten]) breaks ["one_moment"];
        Seeded "deleted_is_written" from "museum A34":
            (&[DeletedIsWritten]) breaks ["one_moment"];
        Seeded "no_mark_is_left" from "museum A34":
            (&[NoMarkIsLeft]) breaks ["one_moment"];
        Seeded "gone_forgets_the_next"
            from "cache:MC-7, the identities of the two objects are not compared":
            (&[GoneForgetsTheNext]) breaks ["one_moment"];
        Seeded "nothing_expires" from "cache:MC-1":
            (&[NothingExpires]) breaks ["one_moment"];
    }
}

/// What is forgotten if there are too many writes.
fn of_the_size() -> Vec<Mutant<MutationCache>> {
    mutants! { mistaken:
        Seeded "reading_is_no_use" from "cache:MC-10, a read does not make a write the newest":
            (&[ReadingIsNoUse]) breaks ["one_moment"];
        Seeded "reading_prolongs" from "cache:MC-10, a read renews the time of a write":
            (&[ReadingProlongs]) breaks ["one_moment"];
        Seeded "newer_is_forgotten" from "cache:MC-10":
            (&[NewerIsForgotten]) breaks ["one_moment"];
        Seeded "all_are_remembered" from "cache:MC-1, the size is not bounded":
            (&[AllAreRemembered]) breaks ["one_moment"];
    }
}

fn of_listings() -> Vec<Mutant<MutationCache>> {
    mutants! { mistaken:
        Seeded "listed_as_stored" from "cache:MC-4, versions are not compared":
            (&[ListedAsStored]) breaks ["one_moment"];
        Seeded "added_is_not_listed" from "cache:MC-4":
            (&[AddedIsNotListed]) breaks ["one_moment"];
        Seeded "others_are_listed" from "cache:MC-4, the index function is not asked":
            (&[OthersAreListed]) breaks ["one_moment"];
        Seeded "lost_is_remembered" from "cache:MC-7, a deletion of which only the key is known":
            (&[LostIsRemembered]) breaks ["one_moment"];
    }
}

fn of_the_lock() -> Vec<Mutant<MutationCache>> {
    mutants! { mistaken:
        Seeded "add_waits_for_the_comparison"
            from "cache:MD-2, adding and comparing share one lock":
            (&[AddWaitsForTheComparison]) breaks ["handing_out_never_waits"];
    }
}
