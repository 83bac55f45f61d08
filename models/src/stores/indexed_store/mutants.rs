//! The bugs: one changed line each, in the reference's algorithm.

use super::IndexedStore;
use crate::events::fixtures::booked;
use crate::trial::{Mutant, mutants};

pub(super) fn all() -> Vec<Mutant<IndexedStore>> {
    [exhibits(), reported(), of_steps(), of_the_index(), equivalents()].concat()
}

fn exhibits() -> Vec<Mutant<IndexedStore>> {
    mutants! { booked:
        Exhibit "stored_before_indexed" from "cache:KD-14"
            breaks ["one_moment"];
    }
}

fn reported() -> Vec<Mutant<IndexedStore>> {
    mutants! { booked:
        Seeded "dead_values_stay" from "museum A26" breaks ["one_moment"];
        Seeded "index_is_filled_afterwards" from "museum A28" breaks ["one_moment"];
        Seeded "index_forgets_the_stored" from "museum A28" breaks ["one_moment"];
        Seeded "values_without_lock" from "museum B8" breaks ["one_moment"];
    }
}

fn of_steps() -> Vec<Mutant<IndexedStore>> {
    mutants! { booked:
        Seeded "indexed_afterwards" from "cache:IX-20" breaks ["one_moment"];
        Seeded "cleared_first" from "cache:ST-7" breaks ["one_moment"];
        Seeded "list_loses_an_index"
            from "cache:IX-14, the lock is released before the list becomes the content"
            breaks ["one_moment"];
        Seeded "version_first" from "cache:ST-7" breaks ["one_moment"];
        Seeded "version_afterwards" from "cache:ST-12" breaks ["one_moment"];
        Seeded "write_by_write" from "cache:ST-16" breaks ["one_moment"];
        Seeded "list_key_by_key" from "cache:ST-6" breaks ["one_moment"];
        Seeded "index_key_by_key" from "cache:IX-20" breaks ["one_moment"];
        Seeded "snapshot_follows" from "cache:ST-6" breaks ["one_moment"];
    }
}

fn of_the_index() -> Vec<Mutant<IndexedStore>> {
    mutants! { booked:
        Seeded "list_keeps_the_index" from "cache:IX-16" breaks ["one_moment"];
        Seeded "shortcut_on_the_new" from "cache:IX-4" breaks ["one_moment"];
        Seeded "shortcut_on_the_old" from "cache:IX-4" breaks ["one_moment"];
        Seeded "delete_keeps_the_index" from "cache:IX-2" breaks ["one_moment"];
        Seeded "first_of_two_counts" from "cache:ST-8" breaks ["one_moment"];
        Seeded "conflict_is_hidden" from "cache:IX-14" breaks ["one_moment"];
        Seeded "delete_moves_the_version" from "cache:IX-18" breaks ["one_moment"];
    }
}

fn equivalents() -> Vec<Mutant<IndexedStore>> {
    mutants! { booked:
        Equivalent("the reference's algorithm under one lock answers as the shipped store does \
                    under two")
        "one_lock_for_all" from "what the reference does":
            (&[]) breaks [];
    }
}
