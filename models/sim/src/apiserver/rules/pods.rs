//! Pods and their templates.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::super::bounds::At;
use super::super::cause::{Cause, Causes};
use super::super::{names as formats, types};
use crate::quantity::Quantity;

/// An image without a version is looked for each time.
pub(super) fn pull(container: &mut Value) {
    if container["imagePullPolicy"].as_str().is_some_and(|it| !it.is_empty()) {
        return;
    }
    let image = container["image"].as_str().unwrap_or("");
    let (name, digest) = image.split_once('@').map_or((image, false), |(it, _)| (it, true));
    let last = name.rsplit('/').next().unwrap_or("");
    let is_odd = name.chars().any(|it| it.is_whitespace() || it == '!') || image.is_empty();
    let tag = last.split_once(':').map_or("latest", |(_, tag)| tag);
    let policy = if tag == "latest" && !digest && !is_odd { "Always" } else { "IfNotPresent" };
    container["imagePullPolicy"] = policy.into();
}

/// What a container may have at most it is also given, unless it asks for something else.
pub(super) fn requests(pod: &mut Value) {
    if pod["spec"]["terminationGracePeriodSeconds"].as_i64().is_some_and(|it| it < 0) {
        pod["spec"]["terminationGracePeriodSeconds"] = 1.into();
    }
    for field in ["containers", "initContainers"] {
        let list = pod["spec"].get_mut(field).and_then(Value::as_array_mut);
        for container in list.into_iter().flatten() {
            let limits = container["resources"]["limits"].clone();
            for (name, limit) in limits.as_object().into_iter().flatten() {
                let request = &mut container["resources"]["requests"][name];
                if request.is_null() {
                    *request = limit.clone();
                }
            }
        }
    }
}

/// A pod in the network of its node has the ports of its containers there.
pub(super) fn host_ports(pod: &mut Value) {
    for field in ["containers", "initContainers"] {
        let list = pod["spec"].get_mut(field).and_then(Value::as_array_mut).into_iter().flatten();
        for port in list.filter_map(|it| it.get_mut("ports")?.as_array_mut()).flatten() {
            if port.get("hostPort").is_none() && port["containerPort"].is_number() {
                port["hostPort"] = port["containerPort"].clone();
            }
        }
    }
}

/// A volume without a source is an empty folder.
pub(super) fn volume(volume: &mut Value) {
    if !volume.as_object().into_iter().flatten().any(|(_, it)| it.is_object()) {
        volume["emptyDir"] = json!({});
    }
}

/// What the admission of a server adds to a pod, and the status that a new one begins with.
pub(crate) fn prepare(pod: &mut Value, old: Option<&Value>) {
    if old.is_none() {
        let class = class(&pod["spec"]);
        pod["status"] = json!({"phase": "Pending", "qosClass": class});
    }
    let spec = &mut pod["spec"];
    if !spec.is_object() {
        return;
    }
    let has_class = spec["priorityClassName"].as_str().is_some_and(|it| !it.is_empty());
    let own = |field: &str| old.map_or(&Value::Null, |old| &old["spec"][field]);
    for (field, value) in
        [("priority", json!(0)), ("preemptionPolicy", "PreemptLowerPriority".into())]
    {
        if !spec[field].is_null() || has_class && own(field).is_null() {
            continue;
        }
        spec[field] = if own(field).is_null() { value } else { own(field).clone() };
    }
    if spec.get("tolerations").is_none_or(Value::is_null) {
        spec["tolerations"] = json!([]);
    }
    let Some(tolerations) = spec["tolerations"].as_array_mut() else { return };
    for taint in ["node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"] {
        let has = |it: &Value| {
            let key = it["key"].as_str().unwrap_or("");
            let effect = it["effect"].as_str().unwrap_or("");
            (key == taint || key.is_empty()) && matches!(effect, "" | "NoExecute")
        };
        if !tolerations.iter().any(has) {
            tolerations.push(json!({
                "key": taint, "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300,
            }));
        }
    }
}

/// Gives a new job the labels by which it knows its pods.
pub(crate) fn prepare_job(job: &mut Value, old: Option<&Value>) {
    if old.is_some() || job["spec"]["manualSelector"] == true || !job["spec"].is_object() {
        return;
    }
    let (uid, name) = (job["metadata"]["uid"].clone(), job["metadata"]["name"].clone());
    // Labels of its own stay as they are; those that it has from its template are the template's.
    let has_own = !types::is_empty(&job["metadata"]["labels"])
        && job["metadata"]["labels"] != job["spec"]["template"]["metadata"]["labels"];
    let places = ["/spec/template/metadata", "/metadata"];
    let places = &places[..if has_own { 1 } else { 2 }];
    for prefix in ["", "batch.kubernetes.io/"] {
        for (key, value) in [("controller-uid", &uid), ("job-name", &name)] {
            let key = format!("{prefix}{key}");
            for labels in places {
                if let Some(metadata) = job.pointer_mut(labels).filter(|it| it.is_object()) {
                    metadata["labels"][&key] = value.clone();
                }
            }
        }
    }
    let key = "batch.kubernetes.io/controller-uid";
    if job["spec"].get("selector").is_none_or(Value::is_null) {
        job["spec"]["selector"] = json!({});
    }
    job["spec"]["selector"]["matchLabels"][key] = uid;
}

/// How a pod is treated when its node has too little.
fn class(spec: &Value) -> &'static str {
    let (mut is_any, mut is_all) = (false, true);
    let lists = [&spec["containers"], &spec["initContainers"]];
    for container in lists.into_iter().filter_map(|it| it.as_array()).flatten() {
        for name in ["cpu", "memory"] {
            let read = |of: &str| {
                let text = container["resources"][of][name].as_str().unwrap_or("0");
                Quantity::parse(text).ok().filter(|it| it.to_string() != "0")
            };
            let (limit, request) = (read("limits"), read("requests"));
            is_any |= limit.is_some() || request.is_some();
            is_all &= limit.is_some() && (request.is_none() || request == limit);
        }
    }
    match (is_any, is_all) {
        (false, _) => "BestEffort",
        (true, true) => "Guaranteed",
        (true, false) => "Burstable",
    }
}

/// Amounts that are not below nothing.
pub(super) fn amounts(value: &Value, at: &At<'_>, causes: &mut Causes) {
    for (name, amount) in value.as_object().into_iter().flatten() {
        let read = Quantity::parse(amount.as_str().unwrap_or(""));
        if read.is_ok_and(Quantity::is_negative) && !causes.is_full() {
            let why = "must be greater than or equal to 0";
            causes.push(Cause::invalid(format_args!("{at}[{name}]"), amount, why));
        }
    }
}

/// What a container may use and asks for.
pub(super) fn resources(found: &Value, _: Option<&Value>, at: &At<'_>, causes: &mut Causes) {
    for field in ["limits", "requests"] {
        let at = At::Field(at, field);
        for (name, amount) in found[field].as_object().into_iter().flatten() {
            if causes.is_full() {
                return;
            }
            let place = format!("{at}[{name}]");
            let is_standard = matches!(name.as_str(), "cpu" | "memory" | "ephemeral-storage")
                || name.starts_with("hugepages-");
            for why in formats::qualified(name) {
                causes.push(Cause::invalid(&place, &name.as_str().into(), why));
            }
            if !is_standard && !name.contains('/') {
                for what in ["resource type or fully qualified", "resource for containers"] {
                    let why = format!("must be a standard {what}");
                    causes.push(Cause::invalid(&place, &name.as_str().into(), why));
                }
            }
            let Ok(amount_of) = Quantity::parse(amount.as_str().unwrap_or("")) else { continue };
            if amount_of.is_negative() {
                let why = "must be greater than or equal to 0";
                causes.push(Cause::invalid(&place, amount, why));
            }
            if name.contains('/') && !amount_of.is_whole() {
                causes.push(Cause::invalid(&place, amount, "must be an integer"));
            }
            let limit = found["limits"][name].as_str().and_then(|it| Quantity::parse(it).ok());
            if field == "requests" && limit.is_some_and(|limit| amount_of > limit) {
                let why = format!(
                    "must be less than or equal to {name} limit of {}",
                    found["limits"][name].as_str().unwrap_or("")
                );
                causes.push(Cause::invalid(
                    At::Field(&At::Root, at.to_string().as_str()),
                    amount,
                    why,
                ));
            }
        }
    }
}

/// The volumes that containers mount are there.
pub(super) fn mounts(spec: &Value, _: Option<&Value>, at: &At<'_>, causes: &mut Causes) {
    mounted(spec, &Value::Null, at, causes);
}

/// The same in a stateful set, whose claims are volumes as well.
pub(super) fn claim_mounts(set: &Value, _: Option<&Value>, at: &At<'_>, causes: &mut Causes) {
    let at = At::Field(at, "template.spec");
    mounted(&set["template"]["spec"], &set["volumeClaimTemplates"], &at, causes);
}

fn mounted(spec: &Value, claims: &Value, at: &At<'_>, causes: &mut Causes) {
    let mut volumes = BTreeSet::new();
    for (list, name) in [(&spec["volumes"], "/name"), (claims, "/metadata/name")] {
        let list = list.as_array().into_iter().flatten();
        volumes.extend(list.filter_map(|it| it.pointer(name)?.as_str()));
    }
    for field in ["containers", "initContainers"] {
        let at = At::Field(at, field);
        for (index, container) in spec[field].as_array().into_iter().flatten().enumerate() {
            let at = At::Item(&at, index);
            let mounted = container["volumeMounts"].as_array().into_iter().flatten();
            for (index, mount) in mounted.enumerate() {
                let name = mount["name"].as_str().unwrap_or("");
                if !name.is_empty() && !volumes.contains(name) && !causes.is_full() {
                    let field = format!("{at}.volumeMounts[{index}].name");
                    let why = format!("Not found: {:?}", crate::short::short(name));
                    causes.push(Cause::new(field, "FieldValueNotFound", why));
                }
            }
        }
    }
}

/// The parts of a pod that may change, but not in any way.
pub(super) fn change(spec: &Value, old: Option<&Value>, at: &At<'_>, causes: &mut Causes) {
    let Some(old) = old else { return };
    let (new, before) = (&spec["activeDeadlineSeconds"], &old["activeDeadlineSeconds"]);
    let why = match (before.as_i64(), new.as_i64()) {
        (Some(before), Some(new)) if new > before => "must be less than or equal to previous value",
        (Some(_), None) => "must not update from a positive integer to nil value",
        _ => "",
    };
    if !why.is_empty() {
        causes.push(Cause::invalid(At::Field(at, "activeDeadlineSeconds"), new, why));
    }
    let known = |it: &Value| {
        let parts = ["key", "operator", "value", "effect"].map(|part| it[part].as_str());
        parts.map(|part| part.unwrap_or("").to_owned())
    };
    let all = |of: &Value| {
        let list = of["tolerations"].as_array().into_iter().flatten();
        list.map(known).collect::<BTreeSet<_>>()
    };
    if !all(old).is_subset(&all(spec)) {
        let why = "existing toleration can not be modified except its tolerationSeconds";
        causes.push(Cause::forbidden(At::Field(at, "tolerations"), why));
    }
}
