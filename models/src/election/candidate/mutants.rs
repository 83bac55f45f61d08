//! The bugs: one changed line each, in a second implementation of the candidate.

use super::Candidate;
use super::server::{Server, Tried};
use crate::shared::Mistake;
use crate::trial::{MachineOf, Mutant, mutants};

fn mistaken(&[mistake]: &[Mistake; 1]) -> MachineOf<Candidate> {
    Server::of(Tried::Plain(mistake))
}

pub(super) fn all() -> Vec<Mutant<Candidate>> {
    mutants! { mistaken:
        Seeded "clears_the_ping" from "museum E26: a renewal takes the ping away"
            breaks ["pings_are_kept"];
        Seeded "leaves_its_worker"
            from "museum E28: the worker is told to end, and the candidate does not wait for it"
            breaks ["nothing_outlives_it"];
        Exhibit "needs_a_renew_time"
            from "museum H15: a pinged object without a renew time breaks it down"
            breaks ["never_panics", "renews_in_time"];
        Seeded "clears_the_answered_ping" from "own: a renewal removes a ping that was answered"
            breaks ["pings_are_kept"];
        Seeded "leaves_its_watch"
            from "election:LC-4, the watch goes on after the candidate has returned"
            breaks ["nothing_outlives_it"];
        Seeded "creates_without_a_time"
            from "election:LC-6: the object is created without a renew time"
            breaks ["describes_itself"];
        Seeded "keeps_the_renew_time"
            from "election:LC-6: a renewal keeps the time of the one before"
            breaks ["describes_itself"];
        Seeded "keeps_the_deleted" from "own: a candidate does not note that its object was deleted"
            breaks ["renews_in_time"];
        Seeded "ignores_pings" from "election:LC-7: pings are not looked at"
            breaks ["pings_are_answered"];
        Seeded "renews_once" from "election:LC-5: it renews once" breaks ["renews_in_time"];
        Seeded "renews_late" from "election:LC-5: it renews every ten minutes"
            breaks ["renews_in_time"];
        Seeded "gives_up" from "election:LC-5: a failed write is not tried again"
            breaks ["renews_in_time"];
        Seeded "retries_at_once" from "election:LC-5: a failed write is tried again at once"
            breaks ["retries_pause"];
        Seeded "forgets_itself" from "election:LC-6: a renewal does not say which candidate renews"
            breaks ["describes_itself"];
        Seeded "always_creates"
            from "election:LC-6: the candidate creates the object even if it exists"
            breaks ["renews_in_time", "pings_are_answered"];
        Seeded "runs_though_ended"
            from "election:LC-4: it publishes itself though its token has ended"
            breaks ["ended_before_it_began"];
        Seeded "ends_late" from "election:LC-4: the token is checked only between two renewals"
            breaks ["ends_with_its_token"];
        Equivalent("an update carries the version of the cached object, and the next event of the \
                    watch shows whether a ping is open") "changes_what_it_was_shown"
            from "election:LC-6: the object that the watch has shown is changed in place" breaks [];
        Equivalent("it is the candidate that the mutants are made from, without a mistake")
            "written_down_again" from "own: the base of the mutants, without a mistake" breaks [];
    }
}
