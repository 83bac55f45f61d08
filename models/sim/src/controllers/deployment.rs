//! Deployments: a replica set for each template, the newest of which takes over step by step.

use serde_json::{Value, json};

use super::client::{Client, is_terminating, text};
use super::{pods, replicaset};

const HASH: &str = "pod-template-hash";
const REVISION: &str = "deployment.kubernetes.io/revision";

pub(super) fn turn(client: &mut Client<'_>) {
    let place = super::client::Place::new("/apis/apps/v1", "deployments", "Deployment");
    for deployment in client.list(&place, "").unwrap_or_default() {
        let sets = pods::claim(client, &replicaset::place(), &deployment, |_| true);
        let Some(sets) = sets else { continue };
        if !is_terminating(&deployment) {
            roll(client, &deployment, &sets);
        }
        let Some(sets) = pods::owned(client, &replicaset::place(), &deployment) else { continue };
        let status = status(client, &deployment, &sets);
        client.set_status(&place, &deployment, &status);
    }
}

fn is_newest(deployment: &Value, set: &Value) -> bool {
    set["metadata"]["labels"][HASH] == pods::hash(&deployment["spec"]["template"]).as_str()
}

fn revision(set: &Value) -> u64 {
    let text = set["metadata"]["annotations"][REVISION].as_str();
    text.and_then(|it| it.parse().ok()).unwrap_or(0)
}

/// The sum is at most the largest count of an object: any client may write a status, even with
/// numbers that would overflow.
fn count(sets: &[&Value], field: &str) -> usize {
    let counts = sets.iter().filter_map(|set| set["status"][field].as_u64());
    counts.fold(0, u64::saturating_add).min(0x7fff_ffff) as usize
}

/// Takes one step towards the newest template.
fn roll(client: &mut Client<'_>, deployment: &Value, sets: &[Value]) {
    let (newest, old): (Vec<_>, Vec<_>) = sets.iter().partition(|set| is_newest(deployment, set));
    let wanted = pods::wanted(deployment);
    let is_paused = deployment["spec"]["paused"] == true;
    let Some(newest) = newest.first() else {
        if !is_paused {
            create(client, deployment, sets);
        }
        return;
    };
    if is_paused && pods::wanted(newest) > 0 && old.is_empty() {
        return scale(client, newest, wanted);
    }
    if is_paused {
        return;
    }
    let top = old.iter().map(|set| revision(set)).max().unwrap_or(0);
    if revision(newest) <= top {
        // A template that was there before is the newest again.
        let annotations = json!({REVISION: top.saturating_add(1).to_string()});
        let patch = json!({"metadata": {"annotations": annotations}});
        client.merge(&replicaset::place().path_of(newest), &patch);
    }
    if deployment["spec"]["strategy"]["type"] == "Recreate" {
        for set in &old {
            scale(client, set, 0);
        }
        if count(&old, "replicas") == 0 {
            scale(client, newest, wanted);
        }
    } else {
        roll_over(client, deployment, newest, &old);
    }
    forget(client, deployment, &old);
}

/// Never more pods than are wanted and a surge, never fewer ready ones than may be missing.
fn roll_over(client: &mut Client<'_>, deployment: &Value, newest: &Value, old: &[&Value]) {
    let wanted = pods::wanted(deployment);
    let rolling = &deployment["spec"]["strategy"]["rollingUpdate"];
    let surge = share(&rolling["maxSurge"], wanted, true);
    let mut missing = share(&rolling["maxUnavailable"], wanted, false);
    if surge == 0 && missing == 0 {
        missing = 1;
    }
    let of_old: usize = old.iter().map(|set| pods::wanted(set)).sum();
    let room = (wanted + surge).saturating_sub(of_old + pods::wanted(newest));
    scale(client, newest, wanted.min(pods::wanted(newest) + room));
    // Pods that are not ready may all go; of the ready ones, as many may go as are not needed.
    let ready = count(old, "readyReplicas") + count(&[newest], "readyReplicas");
    let mut spare = ready.saturating_sub(wanted.saturating_sub(missing));
    for set in old {
        let (size, ready) = (pods::wanted(set), count(&[set], "readyReplicas"));
        let unready = size.saturating_sub(ready);
        let goes = unready + ready.min(spare);
        spare -= ready.min(spare);
        scale(client, set, size.saturating_sub(goes));
    }
}

/// A number, or a share in percent; a quarter if nothing is said.
fn share(value: &Value, of: usize, up: bool) -> usize {
    if let Some(number) = value.as_u64() {
        return usize::try_from(number).unwrap_or(usize::MAX).min(of.max(1));
    }
    let percent = value.as_str().and_then(|it| it.strip_suffix('%')).unwrap_or("25");
    let percent: usize = percent.parse().unwrap_or(25).min(100);
    let exact = of * percent;
    if up { exact.div_ceil(100) } else { exact / 100 }
}

fn create(client: &mut Client<'_>, deployment: &Value, sets: &[Value]) {
    let spec = &deployment["spec"];
    let hash = pods::hash(&spec["template"]);
    let top = sets.iter().map(revision).max().unwrap_or(0);
    let (mut template, mut selector) = (spec["template"].clone(), spec["selector"].clone());
    template["metadata"]["labels"][HASH] = hash.as_str().into();
    selector["matchLabels"][HASH] = hash.as_str().into();
    let set = json!({
        "apiVersion": "apps/v1", "kind": "ReplicaSet",
        "metadata": {
            "name": format!("{}-{hash}", text(deployment, "name")),
            "labels": template["metadata"]["labels"],
            "annotations": {REVISION: top.saturating_add(1).to_string()},
            "ownerReferences": [pods::controlled_by(deployment)],
        },
        "spec": {"replicas": 0, "selector": selector, "template": template},
    });
    client.create(&replicaset::place().path(text(deployment, "namespace")), &set);
}

fn scale(client: &mut Client<'_>, set: &Value, to: usize) {
    if pods::wanted(set) != to {
        let version = &set["metadata"]["resourceVersion"];
        let patch = json!({"metadata": {"resourceVersion": version}, "spec": {"replicas": to}});
        client.merge(&replicaset::place().path_of(set), &patch);
    }
}

/// Deletes the oldest sets that are of no use any more, beyond those kept for a way back.
fn forget(client: &mut Client<'_>, deployment: &Value, old: &[&Value]) {
    let kept = deployment["spec"]["revisionHistoryLimit"].as_u64().unwrap_or(10);
    let is_idle = |set: &&&Value| pods::wanted(set) == 0 && count(&[set], "replicas") == 0;
    let mut idle: Vec<_> = old.iter().filter(is_idle).collect();
    idle.sort_by_key(|set| revision(set));
    let surplus = idle.len().saturating_sub(usize::try_from(kept).unwrap_or(usize::MAX));
    for set in idle.into_iter().take(surplus) {
        client.delete(&replicaset::place(), set, "Background");
    }
}

fn status(client: &Client<'_>, deployment: &Value, sets: &[Value]) -> Value {
    let all: Vec<_> = sets.iter().collect();
    let newest: Vec<_> = sets.iter().filter(|set| is_newest(deployment, set)).collect();
    let (replicas, ready) = (count(&all, "replicas"), count(&all, "readyReplicas"));
    let updated = count(&newest, "replicas");
    let wanted = pods::wanted(deployment);
    let mut status = json!({"observedGeneration": deployment["metadata"]["generation"]});
    for (field, value) in [
        ("replicas", replicas),
        ("updatedReplicas", updated),
        ("readyReplicas", ready),
        ("availableReplicas", ready),
        ("unavailableReplicas", wanted.max(replicas).saturating_sub(ready)),
    ] {
        if value > 0 {
            status[field] = value.into();
        }
    }
    let missing =
        share(&deployment["spec"]["strategy"]["rollingUpdate"]["maxUnavailable"], wanted, false);
    let is_complete = updated == wanted && replicas == wanted && ready == wanted;
    let is_available = ready + missing >= wanted;
    let reason =
        if is_available { "MinimumReplicasAvailable" } else { "MinimumReplicasUnavailable" };
    let available = ("Available", is_available, reason);
    let progressing = (
        "Progressing",
        true,
        if is_complete { "NewReplicaSetAvailable" } else { "ReplicaSetUpdated" },
    );
    let conditions = [available, progressing]
        .map(|(kind, holds, reason)| pods::condition(client, deployment, kind, holds, reason));
    status["conditions"] = json!(conditions);
    status
}
