//! The bugs: the mistakes of controllers, one at a time. The rules are the shipped ones; a bug
//! changes the view that they get, their plan, or the time at which they are asked.

use super::ReplicaSet;
use super::stage::Stage;
use crate::events::fixtures::Mistakes;
use crate::trial::{MachineOf, Mutant, mutants};

fn mistaken(mistakes: Mistakes) -> MachineOf<ReplicaSet> {
    Box::new(Stage::new(mistakes[0]))
}

pub(super) fn all() -> Vec<Mutant<ReplicaSet>> {
    mutants! { mistaken:
        Seeded "acts_on_a_stale_cache"
            from "own: the controller does not wait until its cache shows its own writes"
            breaks ["never_more_than_wanted"];
        Seeded "works_before_the_sync" from "cache:PT-2" breaks ["never_more_than_wanted"];
        Seeded "deletions_are_not_told" from "cache:PT-5" breaks ["comes_to_what_is_wanted"];
        Seeded "lists_keep_what_is_gone" from "cache:PT-9" breaks ["comes_to_what_is_wanted"];
        Seeded "lists_tell_no_deletions" from "cache:PT-5" breaks ["comes_to_what_is_wanted"];
        Seeded "counts_from_memory"
            from "own: the controller counts from memory, and a restarted process remembers \
                  nothing"
            breaks ["never_more_than_wanted", "comes_to_what_is_wanted"];
        Seeded "owns_later" from "own: a second request sets the owner, where one request would do"
            breaks ["comes_to_what_is_wanted"];
        Seeded "counts_what_it_created_twice" from "own: expectations that are never lowered"
            breaks ["comes_to_what_is_wanted"];
        Seeded "never_guards" from "own: the finalizer is never added"
            breaks ["no_pod_outlives_its_set"];
        Seeded "never_releases" from "own: the finalizer is never removed"
            breaks ["comes_to_what_is_wanted"];
        Seeded "releases_first" from "own: the finalizer is removed before the pods are deleted"
            breaks ["no_pod_outlives_its_set"];
        Seeded "owns_by_name" from "cache:PT-6"
            breaks ["deletes_only_its_own", "comes_to_what_is_wanted"];
        Seeded "gives_up" from "cache:PT-1" breaks ["comes_to_what_is_wanted"];
    }
}
