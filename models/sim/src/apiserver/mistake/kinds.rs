//! Mistakes about the fields of built-in kinds.

use super::super::rules::Rules;
use super::{Mistake, REQUESTS, resource};

/// All of them. Requests whose answers are known convict each.
pub const KINDS: &[Mistake] = &[
    resource("fills_in_nothing", REQUESTS, |it| {
        it.rules = it.rules.map(|rules| Rules { completes: false, ..rules });
    }),
    resource("takes_any_field", REQUESTS, |it| {
        it.rules = it.rules.map(|rules| Rules { checks: false, ..rules });
    }),
    resource("changes_what_must_stay", REQUESTS, |it| {
        it.rules = it.rules.map(|rules| Rules { compares: false, ..rules });
    }),
];
