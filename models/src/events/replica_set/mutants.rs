//! The bugs: what controllers get wrong, one at a time. The rules stay as they ship; what they are
//! shown, what becomes of their plan, or when they are asked is bent.

use super::ReplicaSet;
use super::stage::Stage;
use crate::trial::{MachineOf, Mutant, mistakes, mutants};

mistakes! {
    /// What one may get wrong.
    pub enum Mistake {
        /// It does not wait until its caches show its own writes.
        ActsOnAStaleCache,
        /// It does not wait until its pods are listed.
        WorksBeforeTheSync,
        /// The handler of pods does not want deletions.
        DeletionsAreNotTold,
        /// A list takes nothing out of the cache.
        ListsKeepWhatIsGone,
        /// A list tells nothing of what it lacks.
        ListsTellNoDeletions,
        /// It counts the pods that it remembers to have created, not those that are there for its set.
        CountsFromMemory,
        /// It makes a pod, and says in a second request whose it is.
        OwnsLater,
        /// It takes pods that it has created for pods still to come, also those that it sees.
        CountsWhatItCreatedTwice,
        /// It puts no finalizer on its set.
        NeverGuards,
        /// It never takes its finalizer off.
        NeverReleases,
        /// It takes its finalizer off before it deletes the pods.
        ReleasesFirst,
        /// It owns what is called like its set, whatever the uid of the owner.
        OwnsByName,
        /// It does not try again what has failed.
        GivesUp,
    }
}

fn mistaken(mistake: Mistake) -> MachineOf<ReplicaSet> {
    Box::new(Stage::new(Some(mistake)))
}

pub(super) fn all() -> Vec<Mutant<ReplicaSet>> {
    use Mistake::*;
    mutants! { mistaken:
        Seeded "acts_on_a_stale_cache" from "own: its own writes are not waited for":
            (ActsOnAStaleCache) breaks ["never_more_than_wanted"];
        Seeded "works_before_the_sync" from "cache:PT-2":
            (WorksBeforeTheSync) breaks ["never_more_than_wanted"];
        Seeded "deletions_are_not_told" from "cache:PT-5":
            (DeletionsAreNotTold) breaks ["comes_to_what_is_wanted"];
        Seeded "lists_keep_what_is_gone" from "cache:PT-9":
            (ListsKeepWhatIsGone) breaks ["comes_to_what_is_wanted"];
        Seeded "lists_tell_no_deletions" from "cache:PT-5":
            (ListsTellNoDeletions) breaks ["comes_to_what_is_wanted"];
        Seeded "counts_from_memory" from "own: a process that starts anew remembers nothing":
            (CountsFromMemory) breaks ["never_more_than_wanted", "comes_to_what_is_wanted"];
        Seeded "owns_later" from "own: two requests where one would do":
            (OwnsLater) breaks ["comes_to_what_is_wanted"];
        Seeded "counts_what_it_created_twice" from "own: expectations that nobody lowers":
            (CountsWhatItCreatedTwice) breaks ["comes_to_what_is_wanted"];
        Seeded "never_guards" from "own: the finalizer left out":
            (NeverGuards) breaks ["no_pod_outlives_its_set"];
        Seeded "never_releases" from "own: the finalizer forgotten":
            (NeverReleases) breaks ["comes_to_what_is_wanted"];
        Seeded "releases_first" from "own: two requests exchanged":
            (ReleasesFirst) breaks ["no_pod_outlives_its_set"];
        Seeded "owns_by_name" from "cache:PT-6":
            (OwnsByName) breaks ["deletes_only_its_own", "comes_to_what_is_wanted"];
        Seeded "gives_up" from "cache:PT-1":
            (GivesUp) breaks ["comes_to_what_is_wanted"];
    }
}
