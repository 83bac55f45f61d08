//! The bugs: one changed line each, in the sequential object.

use super::{Leases, Spec};
use crate::shared::Mistake;
use crate::trial::{MachineOf, Mutant, mutants};

/// A lock with a mistake.
fn mistaken(&[mistake]: &[Mistake; 1]) -> MachineOf<Leases> {
    Box::new(Spec::with(mistake))
}

pub(super) fn all() -> Vec<Mutant<Leases>> {
    [of_writing(), of_telling()].concat()
}

fn of_writing() -> Vec<Mutant<Leases>> {
    mutants! { mistaken:
        Seeded "whole_is_new" from "election:LK-2: an update sends a new Lease"
            breaks ["others_keep_what_is_theirs"];
        Seeded "spec_is_new" from "election:LK-2: an update sends a new spec"
            breaks ["others_keep_what_is_theirs"];
        Seeded "labels_are_new" from "election:LK-15: labels of others are lost"
            breaks ["others_keep_what_is_theirs"];
        Seeded "labels_are_lost" from "election:LK-15: the lock's own labels are not written"
            breaks ["others_keep_what_is_theirs"];
        Seeded "names_no_version"
            from "election:LK-4: an update names no version, so it overwrites other writes"
            breaks ["updates_name_their_version"];
        Seeded "writes_nanos" from "election:LK-12: times have nine decimal digits"
            breaks ["records_are_written_as_they_are"];
        Seeded "writes_seconds" from "election:LK-12: times have no decimal digits"
            breaks ["records_are_written_as_they_are"];
        Seeded "writes_nulls"
            from "election:LK-11: fields that the record lacks are written as null"
            breaks ["records_are_written_as_they_are"];
        Seeded "repeats_refused" from "election:LK-29: a refused request is sent again"
            breaks ["each_is_sent_once"];
        Seeded "repeats_lost" from "election:LK-29: a lost request is sent again"
            breaks ["each_is_sent_once"];
        Seeded "takes_turns" from "election:LK-6: the lock takes turns with other calls"
            breaks ["each_is_sent_once"];
    }
}

fn of_telling() -> Vec<Mutant<Leases>> {
    mutants! { mistaken:
        Seeded "needs_times" from "election:LK-11: a Lease without times is rejected"
            breaks ["tells_what_became_of_it"];
        Seeded "remembers_what_failed"
            from "election:LK-3: a refused write is remembered as if it had succeeded"
            breaks ["tells_what_became_of_it"];
        Seeded "forgets_on_failure" from "election:LK-23: after a failure nothing is remembered"
            breaks ["each_is_sent_once"];
        Seeded "conflict_is_other"
            from "election:LK-29: a conflict is reported as any other failure"
            breaks ["tells_what_became_of_it"];
        Seeded "exists_is_conflict"
            from "election:RQ-84: a Lease that exists already is reported as a conflict"
            breaks ["tells_what_became_of_it"];
        Seeded "invalid_is_other"
            from "election:LK-14: an invalid record is reported as any other failure"
            breaks ["tells_what_became_of_it"];
        Seeded "lost_is_known"
            from "election:RQ-70: a write whose answer is lost is taken for one that did not happen"
            breaks ["tells_what_became_of_it"];
        Seeded "waits_for_ever" from "election:LK-6: a call waits for ever for a silent server"
            breaks ["calls_are_bounded"];
        Seeded "tells_no_timeout" from "election:LK-6: the server is not told the time-out"
            breaks ["calls_are_bounded"];
    }
}
