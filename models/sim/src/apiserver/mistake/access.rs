//! Mistakes about who may do what.

use serde_json::Value;

use super::{Mistake, REQUESTS, Slip, edit, inside, request, resource, response, say};
use crate::apiserver::access;

/// All of them. Questions whose answers are known convict each.
pub const ACCESS: &[Mistake] = &[
    inside("ignores_the_names_in_rules", REQUESTS, Slip::NamesAreIgnored),
    inside("lets_a_part_go_with_the_whole", REQUESTS, Slip::PartsGoWithTheWhole),
    inside("lets_roles_reach_everywhere", REQUESTS, Slip::RolesReachEverywhere),
    inside("lets_anybody_grant_anything", REQUESTS, Slip::GrantsAnything),
    inside("lets_anybody_be_anybody", REQUESTS, Slip::AnybodyIsAnybody),
    inside("creates_by_the_right_to_change", REQUESTS, Slip::ChangesCreate),
    request("takes_headers_for_nothing", REQUESTS, |it| {
        it.headers.retain(|(name, _)| !name.to_ascii_lowercase().starts_with("impersonate-"));
    }),
    response("says_forbidden_to_strangers", REQUESTS, |it| say(it, 401, 403)),
    resource("changes_the_role_of_a_binding", REQUESTS, |it| {
        if it.kind.ends_with("RoleBinding") {
            it.validate = |object, _| access::binding(object, None);
        }
    }),
    request("forgets_the_names_in_roles", REQUESTS, |it| {
        edit(it, "POST", |body| {
            for rule in body.get_mut("rules").and_then(Value::as_array_mut).into_iter().flatten() {
                if let Some(rule) = rule.as_object_mut() {
                    rule.remove("resourceNames");
                }
            }
        });
    }),
];
