//! Mistakes about what webhooks are asked.

use super::{Mistake, REQUESTS, Slip, inside};

/// All of them. A few chains of webhooks convict each.
pub const ADMISSION: &[Mistake] = &[
    inside("selects_by_the_new_object_alone", REQUESTS, Slip::OnlyTheNewIsSelected),
    inside("refuses_by_failures_to_ignore", REQUESTS, Slip::IgnoredFailuresRefuse),
    inside("loses_the_last_patch", REQUESTS, Slip::LastPatchIsLost),
];

/// All about conversion. The situations of real servers convict each.
pub const CONVERSION: &[Mistake] = &[
    inside("reads_what_it_converted_before", REQUESTS, Slip::ReadsTheCache),
    inside("knows_fields_of_one_version", REQUESTS, Slip::ManagersKnowOneVersion),
    inside("returns_what_was_sent", REQUESTS, Slip::ReturnsWhatWasSent),
];
