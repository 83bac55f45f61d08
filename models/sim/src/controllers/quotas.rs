//! Quotas: their status says what they limit, and how much of that is used.

use serde_json::json;

use super::client::{Client, Place, text};

pub(super) fn turn(client: &mut Client<'_>) {
    let place = Place::new("/api/v1", "resourcequotas", "ResourceQuota");
    for quota in client.list(&place, "").unwrap_or_default() {
        let (spec, empty) = (&quota["spec"], json!({}));
        let hard = if spec["hard"].is_object() { &spec["hard"] } else { &empty };
        let used = client.used(text(&quota, "namespace"), spec);
        client.set_status(&place, &quota, &json!({"hard": hard, "used": used}));
    }
}
