//! The bugs: one changed line each, in the sequential object.

use super::mistake::Mistake::{self, *};
use super::{Leases, Spec};
use crate::trial::{MachineOf, Mutant, mutants};

/// A lock with a mistake.
fn mistaken(mistake: Mistake) -> MachineOf<Leases> {
    Box::new(Spec::with(mistake))
}

pub(super) fn all() -> Vec<Mutant<Leases>> {
    [of_writing(), of_telling()].concat()
}

fn of_writing() -> Vec<Mutant<Leases>> {
    mutants! { mistaken:
        Seeded "whole_is_new" from "election:LK-2":
            (WholeIsNew) breaks ["others_keep_what_is_theirs"];
        Seeded "spec_is_new" from "election:LK-2":
            (SpecIsNew) breaks ["others_keep_what_is_theirs"];
        Seeded "labels_are_new" from "election:LK-15":
            (LabelsAreNew) breaks ["others_keep_what_is_theirs"];
        Seeded "labels_are_lost" from "election:LK-15":
            (LabelsAreLost) breaks ["others_keep_what_is_theirs"];
        Seeded "names_no_version" from "election:LK-4":
            (NamesNoVersion) breaks ["updates_name_their_version"];
        Seeded "writes_nanos" from "election:LK-12":
            (WritesNanos) breaks ["records_are_written_as_they_are"];
        Seeded "writes_seconds" from "election:LK-12":
            (WritesSeconds) breaks ["records_are_written_as_they_are"];
        Seeded "writes_nulls" from "election:LK-11":
            (WritesNulls) breaks ["records_are_written_as_they_are"];
        Seeded "repeats_refused" from "election:LK-29":
            (RepeatsRefused) breaks ["each_is_sent_once"];
        Seeded "repeats_lost" from "election:LK-29":
            (RepeatsLost) breaks ["each_is_sent_once"];
        Seeded "takes_turns" from "election:LK-6":
            (TakesTurns) breaks ["each_is_sent_once"];
    }
}

fn of_telling() -> Vec<Mutant<Leases>> {
    mutants! { mistaken:
        Seeded "needs_times" from "election:LK-11":
            (NeedsTimes) breaks ["tells_what_became_of_it"];
        Seeded "remembers_what_failed" from "election:LK-3":
            (RemembersWhatFailed) breaks ["tells_what_became_of_it"];
        Seeded "forgets_on_failure" from "election:LK-23":
            (ForgetsOnFailure) breaks ["each_is_sent_once"];
        Seeded "conflict_is_other" from "election:LK-29":
            (ConflictIsOther) breaks ["tells_what_became_of_it"];
        Seeded "exists_is_conflict" from "election:RQ-84":
            (ExistsIsConflict) breaks ["tells_what_became_of_it"];
        Seeded "invalid_is_other" from "election:LK-14":
            (InvalidIsOther) breaks ["tells_what_became_of_it"];
        Seeded "lost_is_known" from "election:RQ-70":
            (LostIsKnown) breaks ["tells_what_became_of_it"];
        Seeded "waits_for_ever" from "election:LK-6":
            (WaitsForEver) breaks ["calls_are_bounded"];
        Seeded "tells_no_timeout" from "election:LK-6":
            (TellsNoTimeout) breaks ["calls_are_bounded"];
        Equivalent("it is the object that the mutants are made from, without a mistake")
            "said_once_more" from "own: the base of the mutants, without a mistake":
            (Nothing) breaks [];
    }
}
