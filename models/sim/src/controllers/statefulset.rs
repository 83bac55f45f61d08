//! Stateful sets: pods with numbers, which come and go one after the other.

use serde_json::{Value, json};

use super::client::{Client, Found, Place, is_terminating, text};
use super::pods;

const REVISION: &str = "controller-revision-hash";

fn place() -> Place {
    Place::new("/apis/apps/v1", "statefulsets", "StatefulSet")
}

pub(super) fn turn(client: &mut Client<'_>) {
    for set in client.list(&place(), "").unwrap_or_default() {
        // One with a number of this set, and no other, can take its place.
        let is_of_use = |pod: &Value| number(&set, pod).is_some();
        if pods::claim(client, &pods::place(), &set, is_of_use).is_none() {
            continue;
        }
        let Some(pods) = numbered(client, &set) else { continue };
        if !is_terminating(&set) {
            step(client, &set, &pods);
        }
        let Some(pods) = numbered(client, &set) else { continue };
        client.set_status(&place(), &set, &status(&set, &pods));
    }
}

/// The number of a pod, if it is named as those of a set are.
fn number(set: &Value, pod: &Value) -> Option<usize> {
    let number = text(pod, "name").strip_prefix(text(set, "name"))?.strip_prefix('-')?;
    number.parse().ok()
}

/// The pods of a set with their numbers, in order.
fn numbered(client: &mut Client<'_>, set: &Value) -> Option<Vec<(usize, Value)>> {
    let pods = pods::owned(client, &pods::place(), set)?.into_iter();
    let mut pods: Vec<(usize, Value)> =
        pods.filter_map(|pod| Some((number(set, &pod)?, pod))).collect();
    pods.sort_by_key(|(number, _)| *number);
    Some(pods)
}

fn revision(set: &Value) -> String {
    format!("{}-{}", text(set, "name"), pods::hash(&set["spec"]["template"]))
}

/// Makes or deletes the next pod; all at once if the set says that its pods are independent.
fn step(client: &mut Client<'_>, set: &Value, pods: &[(usize, Value)]) {
    let is_parallel = set["spec"]["podManagementPolicy"] == "Parallel";
    let (wanted, place) = (pods::wanted(set), pods::place());
    let find = |number: usize| pods.iter().find(|(it, _)| *it == number).map(|(_, pod)| pod);
    for number in 0..wanted {
        match find(number) {
            None if client.room.of(1) == 0 => return,
            None => create(client, set, number),
            Some(pod) if pods::has_ended(pod) && !is_terminating(pod) => {
                client.delete(&place, pod, "Background");
            }
            Some(pod) if pods::is_ready(pod) && !is_terminating(pod) => continue,
            Some(_) => {}
        }
        if !is_parallel {
            return;
        }
    }
    let surplus = pods.iter().rev().filter(|(number, _)| *number >= wanted);
    let mut gone = false;
    for (_, pod) in surplus {
        if !is_terminating(pod) {
            client.delete(&place, pod, "Background");
        }
        gone = true;
        if !is_parallel {
            return;
        }
    }
    if !gone {
        update(client, set, pods);
    }
}

/// Replaces the last pod that is of an older template, once all are ready.
fn update(client: &mut Client<'_>, set: &Value, pods: &[(usize, Value)]) {
    let strategy = &set["spec"]["updateStrategy"];
    let from = strategy["rollingUpdate"]["partition"].as_u64().unwrap_or(0);
    let is_old = |pod: &Value| pod["metadata"]["labels"][REVISION] != revision(set).as_str();
    let all_ready = pods.iter().all(|(_, pod)| pods::is_ready(pod) && !is_terminating(pod));
    if strategy["type"] == "OnDelete" || !all_ready {
        return;
    }
    let mut last = pods.iter().rev().filter(|(number, _)| *number as u64 >= from);
    if let Some((_, pod)) = last.find(|(_, pod)| is_old(pod)) {
        client.delete(&pods::place(), pod, "Background");
    }
}

fn create(client: &mut Client<'_>, set: &Value, number: usize) {
    let (name, namespace) = (format!("{}-{number}", text(set, "name")), text(set, "namespace"));
    let mut pod = pods::from_template(set);
    pod["metadata"]["name"] = name.as_str().into();
    let labels = &mut pod["metadata"]["labels"];
    labels["statefulset.kubernetes.io/pod-name"] = name.as_str().into();
    labels["apps.kubernetes.io/pod-index"] = number.to_string().into();
    labels[REVISION] = revision(set).into();
    pod["spec"]["hostname"] = name.as_str().into();
    if !set["spec"]["serviceName"].is_null() {
        pod["spec"]["subdomain"] = set["spec"]["serviceName"].clone();
    }
    let claims = Place::new("/api/v1", "persistentvolumeclaims", "PersistentVolumeClaim");
    for template in set["spec"]["volumeClaimTemplates"].as_array().into_iter().flatten() {
        let claim = format!("{}-{name}", text(template, "name"));
        let found = client.get(&format!("{}/{claim}", claims.path(namespace)));
        if matches!(found, Found::Absent) {
            let mut body = template.clone();
            body["metadata"]["name"] = claim.as_str().into();
            for (label, value) in
                set["spec"]["selector"]["matchLabels"].as_object().into_iter().flatten()
            {
                body["metadata"]["labels"][label] = value.clone();
            }
            client.create(&claims.path(namespace), &body);
        }
        let volume = json!({
            "name": template["metadata"]["name"],
            "persistentVolumeClaim": {"claimName": claim},
        });
        match pod["spec"]["volumes"].as_array_mut() {
            Some(volumes) => {
                volumes.retain(|it| it["name"] != volume["name"]);
                volumes.push(volume);
            }
            None => pod["spec"]["volumes"] = json!([volume]),
        }
    }
    client.create(&pods::place().path(namespace), &pod);
}

fn status(set: &Value, pods: &[(usize, Value)]) -> Value {
    let active: Vec<_> =
        pods.iter().map(|(_, pod)| pod).filter(|pod| pods::is_active(pod)).collect();
    let ready = active.iter().filter(|pod| pods::is_ready(pod)).count();
    let newest = revision(set);
    let updated =
        active.iter().filter(|pod| pod["metadata"]["labels"][REVISION] == newest.as_str()).count();
    let before = set["status"]["currentRevision"].as_str();
    let current = if updated == active.len() { &newest } else { before.unwrap_or(&newest) };
    let mut status = json!({
        "observedGeneration": set["metadata"]["generation"], "replicas": active.len(),
        "availableReplicas": ready, "currentRevision": current, "updateRevision": newest,
    });
    let same = if *current == newest { updated } else { active.len() - updated };
    for (field, value) in
        [("readyReplicas", ready), ("currentReplicas", same), ("updatedReplicas", updated)]
    {
        if value > 0 {
            status[field] = value.into();
        }
    }
    status
}
