//! Replica sets: as many pods as are wanted.

use serde_json::{Value, json};

use super::client::{Client, Place, is_terminating, text};
use super::pods;

pub(super) fn place() -> Place {
    Place::new("/apis/apps/v1", "replicasets", "ReplicaSet")
}

pub(super) fn turn(client: &mut Client<'_>) {
    for set in client.list(&place(), "").unwrap_or_default() {
        let Some(pods) = pods::claim(client, &pods::place(), &set, pods::is_active) else {
            continue;
        };
        let active: Vec<_> = pods.iter().filter(|pod| pods::is_active(pod)).collect();
        if !is_terminating(&set) {
            scale(client, &set, &active);
        }
        // Pods that were just made or deleted are counted as well.
        let Some(pods) = pods::owned(client, &pods::place(), &set) else { continue };
        let active: Vec<_> = pods.iter().filter(|pod| pods::is_active(pod)).collect();
        client.set_status(&place(), &set, &status(&set, &active));
    }
}

fn scale(client: &mut Client<'_>, set: &Value, active: &[&Value]) {
    let (place, wanted) = (pods::place(), pods::wanted(set));
    for _ in 0..client.room.of(wanted.saturating_sub(active.len())) {
        let mut pod = pods::from_template(set);
        pod["metadata"]["generateName"] = format!("{}-", text(set, "name")).into();
        client.create(&place.path(text(set, "namespace")), &pod);
    }
    // Pods that are not ready go first, and then the youngest.
    let mut surplus = active.to_vec();
    surplus.sort_by_key(|pod| {
        let made = text(pod, "creationTimestamp").to_owned();
        (pods::is_ready(pod), std::cmp::Reverse((made, text(pod, "name").to_owned())))
    });
    for pod in surplus.into_iter().take(active.len().saturating_sub(wanted)) {
        client.delete(&place, pod, "Background");
    }
}

fn status(set: &Value, active: &[&Value]) -> Value {
    let ready = active.iter().filter(|pod| pods::is_ready(pod)).count();
    let mut status = json!({
        "replicas": active.len(), "observedGeneration": set["metadata"]["generation"],
    });
    if !active.is_empty() {
        status["fullyLabeledReplicas"] = active.len().into();
    }
    if ready > 0 {
        status["readyReplicas"] = ready.into();
        status["availableReplicas"] = ready.into();
    }
    status
}
