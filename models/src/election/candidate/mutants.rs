//! The bugs: one changed line each, in a second implementation of the candidate.

use super::Candidate;
use super::reference::Mistake::{self, *};
use super::server::{Server, Tried};
use crate::trial::{MachineOf, Mutant, mutants};

fn mistaken(mistake: Mistake) -> MachineOf<Candidate> {
    Server::of(Tried::Plain(Some(mistake)))
}

fn unchanged() -> MachineOf<Candidate> {
    Server::of(Tried::Plain(None))
}

pub(super) fn all() -> Vec<Mutant<Candidate>> {
    let mut all = mutants! { mistaken:
        Seeded "clears_the_ping" from "museum E26":
            (ClearsThePing) breaks ["pings_are_kept"];
        Seeded "leaves_its_worker" from "museum E28":
            (LeavesItsWorker) breaks ["nothing_outlives_it"];
        Exhibit "needs_a_renew_time" from "museum H15":
            (NeedsARenewTime) breaks ["never_panics", "renews_in_time"];
        Seeded "clears_the_answered_ping" from "own: a renewal removes a ping that was answered":
            (ClearsTheAnsweredPing) breaks ["pings_are_kept"];
        Seeded "leaves_its_watch"
            from "election:LC-4, the watch goes on after the candidate has returned":
            (LeavesItsWatch) breaks ["nothing_outlives_it"];
        Seeded "creates_without_a_time" from "election:LC-6":
            (CreatesWithoutATime) breaks ["describes_itself"];
        Seeded "keeps_the_renew_time" from "election:LC-6":
            (KeepsTheRenewTime) breaks ["describes_itself"];
        Seeded "keeps_the_deleted"
            from "own: a candidate does not note that its object was deleted":
            (KeepsTheDeleted) breaks ["renews_in_time"];
        Seeded "ignores_pings" from "election:LC-7":
            (IgnoresPings) breaks ["pings_are_answered"];
        Seeded "renews_once" from "election:LC-5":
            (RenewsOnce) breaks ["renews_in_time"];
        Seeded "renews_late" from "election:LC-5":
            (RenewsLate) breaks ["renews_in_time"];
        Seeded "gives_up" from "election:LC-5":
            (GivesUp) breaks ["renews_in_time"];
        Seeded "retries_at_once" from "election:LC-5":
            (RetriesAtOnce) breaks ["retries_pause"];
        Seeded "forgets_itself" from "election:LC-6":
            (ForgetsItself) breaks ["describes_itself"];
        Seeded "always_creates" from "election:LC-6":
            (AlwaysCreates) breaks ["renews_in_time", "pings_are_answered"];
        Seeded "runs_though_ended" from "election:LC-4":
            (RunsThoughEnded) breaks ["ended_before_it_began"];
        Seeded "ends_late" from "election:LC-4":
            (EndsLate) breaks ["ends_with_its_token"];
        Equivalent("an update carries the version of the cached object, and the next event of the \
                    watch shows whether a ping is open")
            "changes_what_it_was_shown" from "election:LC-6":
            (ChangesWhatItWasShown) breaks [];
    };
    all.extend(mutants! { unchanged:
        Equivalent("it is the candidate that the mutants are made from, without a mistake")
            "written_down_again" from "own: the base of the mutants, without a mistake":
            () breaks [];
    });
    all
}
