//! Mistakes about what webhooks are asked.

use super::{Mistake, REQUESTS, Slip, inside};

/// They are noticed by what a real server answered under policies.
const POLICIES: &str = "policies";

/// All of them. A few chains of webhooks convict each, or policies.
pub const ADMISSION: &[Mistake] = &[
    inside("selects_by_the_new_object_alone", REQUESTS, Slip::OnlyTheNewIsSelected),
    inside("refuses_by_failures_to_ignore", REQUESTS, Slip::IgnoredFailuresRefuse),
    inside("loses_the_last_patch", REQUESTS, Slip::LastPatchIsLost),
    inside("denies_by_every_action_of_a_policy", POLICIES, Slip::EveryActionDenies),
    inside("mutates_by_policies_only_once", POLICIES, Slip::PoliciesComeOnce),
    inside("obeys_policies_that_exclude_a_request", POLICIES, Slip::NothingIsExcluded),
];

/// All about conversion. The situations of real servers convict each.
pub const CONVERSION: &[Mistake] = &[
    inside("reads_what_it_converted_before", REQUESTS, Slip::ReadsTheCache),
    inside("knows_fields_of_one_version", REQUESTS, Slip::ManagersKnowOneVersion),
    inside("returns_what_was_sent", REQUESTS, Slip::ReturnsWhatWasSent),
];
