//! The rules that are functions, by their names.

use std::collections::BTreeSet;

use serde_json::Value;

use super::super::bounds::At;
use super::super::cause::{Cause, Causes};
use super::super::label::Labels;
use super::names::{self, Format};
use super::{pods, services, storage};
use crate::short::short;

pub(super) type Complete = fn(&mut Value);
pub(super) type Check = fn(&Value, Option<&Value>, &At<'_>, &mut Causes);

fn find<T: Copy>(all: &[(&str, T)], name: &str) -> T {
    let found = all.iter().find(|(known, _)| *known == name);
    found.unwrap_or_else(|| panic!("nothing is called {name:?}")).1
}

pub(super) fn format(name: &str) -> Format {
    let all: [(&str, Format); 14] = [
        ("label", names::label),
        ("subdomain", names::subdomain),
        ("host", names::host),
        ("qualified", names::qualified),
        ("labels", names::labels),
        ("variable", names::variable),
        ("port", names::port),
        ("port-name", names::port_name_of),
        ("part", names::part),
        ("share", names::share),
        ("address", names::address),
        ("absolute", names::absolute),
        ("schedule", names::schedule),
        ("amounts", pods::amounts),
    ];
    find(&all, name)
}

pub(super) fn complete(name: &str) -> Complete {
    let all: [(&str, Complete); 7] = [
        ("volume", pods::volume),
        ("pull", pods::pull),
        ("requests", pods::requests),
        ("host-ports", pods::host_ports),
        ("ports", services::ports),
        ("policies", policies),
        ("claims", claims),
    ];
    find(&all, name)
}

pub(super) fn check(name: &str) -> Check {
    let all: [(&str, Check); 19] = [
        ("claim-change", storage::claim),
        ("volume-change", storage::volume),
        ("storage", storage::amount),
        ("scale-target", scale_target),
        ("replicas", replicas),
        ("selector", selector),
        ("selects", selects),
        ("budgets", budgets),
        ("deadline", deadline),
        ("surge", surge),
        ("daemon-surge", daemon_surge),
        ("one-of", one_of),
        ("resources", pods::resources),
        ("mounts", pods::mounts),
        ("claim-mounts", pods::claim_mounts),
        ("pod-change", pods::change),
        ("job-selector", job_selector),
        ("service", services::check),
        ("service-change", services::change),
    ];
    find(&all, name)
}

/// What a policy is about, if it does not say.
fn policies(spec: &mut Value) {
    if spec["policyTypes"].is_array() {
        return;
    }
    let mut types = vec![Value::from("Ingress")];
    types.extend(spec["egress"].is_array().then(|| Value::from("Egress")));
    spec["policyTypes"] = types.into();
}

/// The claims that a stateful set makes are claims.
fn claims(spec: &mut Value) {
    let claims = spec.get_mut("volumeClaimTemplates").and_then(Value::as_array_mut);
    for claim in claims.into_iter().flatten() {
        claim["kind"] = "PersistentVolumeClaim".into();
        claim["apiVersion"] = "v1".into();
    }
}

fn selector(selector: &Value, _: Option<&Value>, at: &At<'_>, causes: &mut Causes) {
    if let Err(found) = Labels::of(selector) {
        let place = |it: Cause| Cause { field: format!("{at}.{}", it.field), ..it };
        causes.extend(found.into_iter().map(place));
    }
}

/// The selector of a workload selects the pods of its own template.
fn selects(spec: &Value, _: Option<&Value>, at: &At<'_>, causes: &mut Causes) {
    let labels = &spec["template"]["metadata"]["labels"];
    let wanted = &spec["selector"];
    let is_empty = wanted.is_object()
        && ["matchLabels", "matchExpressions"].iter().all(|it| wanted[*it].is_null());
    if is_empty {
        let why = "empty selector is invalid for deployment";
        causes.push(Cause::invalid(At::Field(at, "selector"), wanted, why));
        return;
    }
    let Ok(selector) = Labels::of(wanted) else { return };
    if wanted.is_null() || !selector.matches(&spec["template"]) {
        let why = "`selector` does not match template `labels`";
        causes.push(Cause::invalid(At::Field(at, "template.metadata.labels"), labels, why));
    }
}

/// At least one pod may be missing, or more than wanted.
fn surge(update: &Value, _: Option<&Value>, at: &At<'_>, causes: &mut Causes) {
    let is_none = |it: &Value| *it == 0 || *it == "0%";
    if is_none(&update["maxUnavailable"]) && is_none(&update["maxSurge"]) {
        let why = "may not be 0 when `maxSurge` is 0";
        let at = At::Field(at, "maxUnavailable");
        causes.push(Cause::invalid(at, &update["maxUnavailable"], why));
    }
}

/// Either a pod is missing, or there is one more, and not both.
fn daemon_surge(update: &Value, _: Option<&Value>, at: &At<'_>, causes: &mut Causes) {
    let is_none = |it: &Value| it.is_null() || *it == 0 || *it == "0%";
    match (is_none(&update["maxUnavailable"]), is_none(&update["maxSurge"])) {
        (true, true) => {
            let why = "cannot be 0 when maxSurge is 0";
            causes.push(Cause::required(At::Field(at, "maxUnavailable"), why));
        }
        (false, false) => {
            let why = "may not be set when maxUnavailable is non-zero";
            causes.push(Cause::invalid(At::Field(at, "maxSurge"), &update["maxSurge"], why));
        }
        _ => {}
    }
}

fn deadline(spec: &Value, _: Option<&Value>, at: &At<'_>, causes: &mut Causes) {
    let least = spec["minReadySeconds"].as_i64().unwrap_or(0);
    let found = &spec["progressDeadlineSeconds"];
    if found.as_i64().is_some_and(|it| it <= least) {
        let why = "must be greater than minReadySeconds";
        causes.push(Cause::invalid(At::Field(at, "progressDeadlineSeconds"), found, why));
    }
}

fn replicas(spec: &Value, _: Option<&Value>, at: &At<'_>, causes: &mut Causes) {
    let (most, least) = (&spec["maxReplicas"], spec["minReplicas"].as_i64().unwrap_or(1));
    if most.as_i64().is_some_and(|it| it > 0 && it < least) {
        let why = "must be greater than or equal to `minReplicas`";
        causes.push(Cause::invalid(At::Field(at, "maxReplicas"), most, why));
    }
}

/// Only the core group may go without a name, and nothing there is scaled by its share of a processor.
fn scale_target(spec: &Value, _: Option<&Value>, at: &At<'_>, causes: &mut Causes) {
    let target = &spec["scaleTargetRef"];
    let version = target["apiVersion"].as_str().unwrap_or("");
    if !version.contains('/') && target["kind"] != "ReplicationController" {
        let why = "apiVersion must specify API group";
        let at = At::Field(at, "scaleTargetRef.apiVersion");
        causes.push(Cause::invalid(at, &version.into(), why));
    }
    let metrics = spec["metrics"].as_array().into_iter().flatten();
    let mut kinds = metrics.map(|it| it["type"].as_str().unwrap_or(""));
    if spec["minReplicas"] == 0 && !kinds.any(|it| matches!(it, "Object" | "External")) {
        let why = "must specify at least one Object or External metric to support scaling to zero replicas";
        causes.push(Cause::forbidden(At::Field(at, "metrics"), why));
    }
}

fn budgets(spec: &Value, _: Option<&Value>, at: &At<'_>, causes: &mut Causes) {
    if !spec["minAvailable"].is_null() && !spec["maxUnavailable"].is_null() {
        let why = "minAvailable and maxUnavailable cannot be both set";
        causes.push(Cause::invalid(at, spec, why));
    }
}

/// No more than one kind of what can be only one.
fn one_of(source: &Value, _: Option<&Value>, at: &At<'_>, causes: &mut Causes) {
    let fields = source.as_object().into_iter().flatten();
    let sources: BTreeSet<_> =
        fields.filter(|(_, value)| value.is_object()).map(|(key, _)| key).collect();
    for name in sources.iter().skip(1) {
        let why = "may not specify more than 1 volume type";
        causes.push(Cause::forbidden(At::Field(at, name), why));
    }
}

/// A job selects its pods by a label that the server has made.
fn job_selector(job: &Value, _: Option<&Value>, at: &At<'_>, causes: &mut Causes) {
    let spec = &job["spec"];
    if spec["selector"].is_null() {
        return;
    }
    let key = "batch.kubernetes.io/controller-uid";
    let wanted = &spec["selector"]["matchLabels"];
    let is_ours = wanted[key] == job["metadata"]["uid"] && wanted[key].is_string();
    if spec["manualSelector"] != true && !is_ours {
        let why = "`selector` not auto-generated";
        causes.push(Cause::invalid(At::Field(at, "spec.selector"), &spec["selector"], why));
    }
    let selector = Labels::of(&spec["selector"]).unwrap_or_default();
    if !selector.matches(&spec["template"]) {
        let labels = &spec["template"]["metadata"]["labels"];
        let labels = Value::from(short(labels));
        let why = "`selector` does not match template `labels`";
        causes.push(Cause::invalid(At::Field(at, "spec.template.metadata.labels"), &labels, why));
    }
}
