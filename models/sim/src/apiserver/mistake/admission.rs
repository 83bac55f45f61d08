//! Mistakes about what is asked before a write.

use super::{Mistake, REQUESTS, Slip, inside};

/// All of them. A few chains of webhooks convict each.
pub const ADMISSION: &[Mistake] = &[
    inside("selects_by_the_new_object_alone", REQUESTS, Slip::OnlyTheNewIsSelected),
    inside("refuses_by_failures_to_ignore", REQUESTS, Slip::IgnoredFailuresRefuse),
    inside("loses_the_last_patch", REQUESTS, Slip::LastPatchIsLost),
];
