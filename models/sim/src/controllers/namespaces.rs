//! Namespaces that are being deleted: first everything in them goes, then they do.

use serde_json::{Value, json};

use super::client::{Client, Place, is_terminating, text};

pub(super) fn turn(client: &mut Client<'_>) {
    let place = Place { is_namespaced: false, ..Place::new("/api/v1", "namespaces", "Namespace") };
    for namespace in client.list(&place, "").unwrap_or_default() {
        let held = namespace["spec"]["finalizers"].as_array().is_some_and(|it| !it.is_empty());
        if is_terminating(&namespace) && held && is_emptied(client, text(&namespace, "name")) {
            finalize(client, &place, &namespace);
        }
    }
}

/// Deletes what is in a namespace; tells whether nothing was left.
fn is_emptied(client: &mut Client<'_>, name: &str) -> bool {
    let mut is_empty = true;
    for place in client.places().into_iter().filter(|place| place.is_namespaced) {
        let Some(items) = client.list(&place, name) else { return false };
        is_empty &= items.is_empty();
        for item in items.iter().filter(|item| !is_terminating(item)) {
            client.delete(&place, item, "Background");
        }
    }
    is_empty
}

fn finalize(client: &mut Client<'_>, place: &Place, namespace: &Value) {
    let list = namespace["spec"]["finalizers"].as_array().into_iter().flatten();
    let left: Vec<_> = list.filter(|it| **it != "kubernetes").collect();
    let mut finalized = namespace.clone();
    finalized["spec"]["finalizers"] = json!(left);
    client.put(&format!("{}/finalize", place.path_of(namespace)), &finalized);
}
