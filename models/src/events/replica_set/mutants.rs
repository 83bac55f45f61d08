//! The bugs: the mistakes of controllers, one at a time. The rules are the shipped ones; a bug
//! changes the view that they get, their plan, or the time at which they are asked.

use super::ReplicaSet;
use super::stage::Stage;
use crate::trial::{MachineOf, Mutant, mistakes, mutants};

mistakes! {
    /// The mistakes that a mutant can make.
    pub enum Mistake {
        /// It does not wait until its caches show its own writes.
        ActsOnAStaleCache,
        /// It does not wait until its pods are listed.
        WorksBeforeTheSync,
        /// The handler of pods does not want deletions.
        DeletionsAreNotTold,
        /// A list removes nothing from the cache.
        ListsKeepWhatIsGone,
        /// A list does not tell the objects that it lacks.
        ListsTellNoDeletions,
        /// It counts the pods that it remembers to have created, not the existing pods of its set.
        CountsFromMemory,
        /// It makes a pod first, and sets the owner in a second request.
        OwnsLater,
        /// It takes the pods that it has created for pods still to come, even those that it sees
        /// already.
        CountsWhatItCreatedTwice,
        /// It puts no finalizer on its set.
        NeverGuards,
        /// It never takes its finalizer off.
        NeverReleases,
        /// It takes its finalizer off before it deletes the pods.
        ReleasesFirst,
        /// It takes all pods for its own, as if owners were compared by name and not by uid.
        OwnsByName,
        /// It does not retry a failed request.
        GivesUp,
    }
}

fn mistaken(mistake: Mistake) -> MachineOf<ReplicaSet> {
    Box::new(Stage::new(Some(mistake)))
}

pub(super) fn all() -> Vec<Mutant<ReplicaSet>> {
    use Mistake::*;
    mutants! { mistaken:
        Seeded "acts_on_a_stale_cache"
            from "own: the controller does not wait until its cache shows its own writes":
            (ActsOnAStaleCache) breaks ["never_more_than_wanted"];
        Seeded "works_before_the_sync" from "cache:PT-2":
            (WorksBeforeTheSync) breaks ["never_more_than_wanted"];
        Seeded "deletions_are_not_told" from "cache:PT-5":
            (DeletionsAreNotTold) breaks ["comes_to_what_is_wanted"];
        Seeded "lists_keep_what_is_gone" from "cache:PT-9":
            (ListsKeepWhatIsGone) breaks ["comes_to_what_is_wanted"];
        Seeded "lists_tell_no_deletions" from "cache:PT-5":
            (ListsTellNoDeletions) breaks ["comes_to_what_is_wanted"];
        Seeded "counts_from_memory"
            from "own: the controller counts from memory, and a restarted process remembers \
                  nothing":
            (CountsFromMemory) breaks ["never_more_than_wanted", "comes_to_what_is_wanted"];
        Seeded "owns_later" from "own: a second request sets the owner, where one request would do":
            (OwnsLater) breaks ["comes_to_what_is_wanted"];
        Seeded "counts_what_it_created_twice" from "own: expectations that are never lowered":
            (CountsWhatItCreatedTwice) breaks ["comes_to_what_is_wanted"];
        Seeded "never_guards" from "own: the finalizer is never added":
            (NeverGuards) breaks ["no_pod_outlives_its_set"];
        Seeded "never_releases" from "own: the finalizer is never removed":
            (NeverReleases) breaks ["comes_to_what_is_wanted"];
        Seeded "releases_first" from "own: the finalizer is removed before the pods are deleted":
            (ReleasesFirst) breaks ["no_pod_outlives_its_set"];
        Seeded "owns_by_name" from "cache:PT-6":
            (OwnsByName) breaks ["deletes_only_its_own", "comes_to_what_is_wanted"];
        Seeded "gives_up" from "cache:PT-1":
            (GivesUp) breaks ["comes_to_what_is_wanted"];
    }
}
