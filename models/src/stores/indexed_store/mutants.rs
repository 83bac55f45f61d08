//! The bugs: one changed line each, in the reference's algorithm.

use super::IndexedStore;
use super::book::Book;
use super::reference::Mistake::{self, *};
use crate::trial::{MachineOf, Mutant, mutants};

/// A store with mistakes.
fn mistaken(mistakes: &'static [Mistake]) -> MachineOf<IndexedStore> {
    Box::new(Book::of(Some(mistakes)))
}

pub(super) fn all() -> Vec<Mutant<IndexedStore>> {
    [exhibits(), reported(), of_steps(), of_the_index(), equivalents()].concat()
}

fn exhibits() -> Vec<Mutant<IndexedStore>> {
    mutants! { mistaken:
        Exhibit "stored_before_indexed" from "cache:KD-14":
            (&[StoredBeforeIndexed]) breaks ["refused_writes_are_not_seen", "one_moment"];
    }
}

fn reported() -> Vec<Mutant<IndexedStore>> {
    mutants! { mistaken:
        Seeded "dead_values_stay" from "museum A26":
            (&[DeadValuesStay]) breaks ["one_moment"];
        Seeded "index_is_filled_afterwards" from "museum A28":
            (&[FilledAfterwards]) breaks ["one_moment"];
        Seeded "index_forgets_the_stored" from "museum A28":
            (&[ForgetsTheStored]) breaks ["one_moment"];
        Seeded "values_without_lock" from "museum B8":
            (&[ValuesWithoutLock]) breaks ["one_moment"];
    }
}

fn of_steps() -> Vec<Mutant<IndexedStore>> {
    mutants! { mistaken:
        Seeded "indexed_afterwards" from "cache:IX-20":
            (&[IndexedAfterwards]) breaks ["one_moment", "index_agrees"];
        Seeded "cleared_first" from "cache:ST-7":
            (&[ClearedFirst]) breaks ["one_moment"];
        Seeded "list_loses_an_index"
            from "cache:IX-14, the lock is released before the list becomes the content":
            (&[ListLosesIndex]) breaks ["one_moment"];
        Seeded "version_first" from "cache:ST-7":
            (&[VersionFirst]) breaks ["one_moment"];
        Seeded "version_afterwards" from "cache:ST-12":
            (&[VersionAfterwards]) breaks ["one_moment"];
        Seeded "write_by_write" from "cache:ST-16":
            (&[WriteByWrite]) breaks ["one_moment"];
        Seeded "list_key_by_key" from "cache:ST-6":
            (&[ListKeyByKey]) breaks ["one_moment"];
        Seeded "index_key_by_key" from "cache:IX-20":
            (&[IndexKeyByKey]) breaks ["one_moment", "index_agrees"];
        Seeded "snapshot_follows" from "cache:ST-6":
            (&[SnapshotFollows]) breaks ["one_moment"];
    }
}

fn of_the_index() -> Vec<Mutant<IndexedStore>> {
    mutants! { mistaken:
        Seeded "list_keeps_the_index" from "cache:IX-16":
            (&[ListKeepsIndex]) breaks ["one_moment"];
        Seeded "shortcut_on_the_new" from "cache:IX-4":
            (&[ShortcutOnTheNew]) breaks ["one_moment"];
        Seeded "shortcut_on_the_old" from "cache:IX-4":
            (&[ShortcutOnTheOld]) breaks ["one_moment"];
        Seeded "delete_keeps_the_index" from "cache:IX-2":
            (&[DeleteKeepsIndex]) breaks ["one_moment"];
        Seeded "first_of_two_counts" from "cache:ST-8":
            (&[FirstOfTwoCounts]) breaks ["one_moment"];
        Seeded "conflict_is_hidden" from "cache:IX-14":
            (&[ConflictIsHidden]) breaks ["one_moment"];
        Seeded "delete_moves_the_version" from "cache:IX-18":
            (&[DeleteMovesVersion]) breaks ["one_moment"];
    }
}

fn equivalents() -> Vec<Mutant<IndexedStore>> {
    mutants! { mistaken:
        Equivalent("the reference's algorithm under one lock answers as the shipped store does \
                    under two")
        "one_lock_for_all" from "what the reference does":
            (&[]) breaks [];
    }
}
