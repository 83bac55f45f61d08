//! The rules of a server in groups, so that a departure has a name.

use serde_json::Value;

use super::Step;

/// The groups, in the order of `docs/apiserver.md`.
pub const RULES: [&str; 8] =
    ["create", "update", "patch", "apply", "delete", "list", "watch", "lease"];

/// The group of the rules that decide the answer to a step.
pub fn rules_of(step: &Step) -> &'static str {
    match step {
        Step::Call { request, .. } => of_request(request),
        Step::Open { .. } | Step::Read { .. } | Step::Close { .. } => "watch",
        Step::Compact => "list",
    }
}

fn of_request(request: &Value) -> &'static str {
    let applies = request["headers"]["Content-Type"] == "application/apply-patch+yaml";
    let is_lease = request["path"].as_str().is_some_and(|path| path.contains("/leases"));
    match request["method"].as_str().unwrap_or("") {
        "PATCH" if applies => "apply",
        "DELETE" => "delete",
        "POST" | "PUT" if is_lease => "lease",
        "POST" => "create",
        "PUT" => "update",
        "PATCH" => "patch",
        _ => "list",
    }
}
