//! ResourceQuota: an object that is created is counted in the quotas of its namespace, or refused.
//!
//! What counts are the `hard` and the `used` of their status, as on a real server: the controller of quotas
//! writes them, and where none runs they are empty, and nothing is refused.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::super::metadata::{strings, text};
use super::super::resource::Resource;
use super::super::status::{Failure, Outcome};
use super::super::store::Key;
use super::super::{Call, Server};
use super::limits::{asked, forbidden};
use super::review::Wish;
use crate::quantity::Quantity;

/// Amounts by the names of resources.
pub(crate) type Amounts = BTreeMap<String, Quantity>;

impl Server {
    /// Counts an object in, or refuses it.
    pub(super) fn count_in(
        &mut self,
        call: &Call<'_>,
        wish: &Wish,
        object: &Value,
        old: Option<&Value>,
    ) -> Outcome<()> {
        let resource = call.target.resource.clone();
        let grows = matches!(resource.plural.as_str(), "services" | "persistentvolumeclaims");
        let is_counted = wish.operation == "CREATE" || wish.operation == "UPDATE" && grows;
        let is_quota = resource.plural == "resourcequotas" && !resource.is_custom && is_counted;
        if call.target.subresource.is_some() || wish.namespace.is_empty() || !is_counted || is_quota
        {
            return Ok(());
        }
        let quotas = self.of_namespace("resourcequotas", &wish.namespace);
        if quotas.is_empty() {
            return Ok(());
        }
        let mut usage = usage(&resource, object);
        for (key, before) in old.map(|old| self::usage(&resource, old)).unwrap_or_default() {
            if let Some(now) = usage.get_mut(&key) {
                *now = now.minus(before);
            }
        }
        let mut written = Vec::new();
        for quota in &quotas {
            written.extend(counted(&resource, object, &usage, quota)?);
        }
        // A dry run counts nothing.
        for quota in written.into_iter().filter(|_| !wish.is_dry) {
            self.write_quota(quota)?;
        }
        Ok(())
    }

    fn write_quota(&mut self, quota: Value) -> Outcome<()> {
        let resource = self.registry.get("", "v1", "resourcequotas").cloned();
        let resource = resource.ok_or_else(Failure::no_resource)?;
        let key = Key::new(text(&quota, "namespace"), text(&quota, "name"));
        self.write(&resource, key, quota, false);
        Ok(())
    }

    /// What the objects of a namespace use of the amounts that a quota limits.
    pub(crate) fn used(&self, namespace: &str, spec: &Value) -> Value {
        let hard = amounts(&spec["hard"]);
        let mut used: Amounts = hard.keys().map(|key| (key.clone(), Quantity::default())).collect();
        let prefix = format!("{namespace}/");
        for resource in self.registry.iter().filter(|it| it.is_namespaced) {
            let of_kind = |key: &String| is_of_kind(resource, key);
            if !hard.keys().any(of_kind) {
                continue;
            }
            let objects = self.store.objects(&resource.qualified());
            let own = objects.after(&Key(prefix.as_str().into()));
            for (_, stored) in own.take_while(|(key, _)| key.0.starts_with(&prefix)) {
                let is_over = matches!(
                    stored.object["status"]["phase"].as_str(),
                    Some("Failed" | "Succeeded")
                );
                let is_pod = resource.plural == "pods" && resource.group.is_empty();
                for (key, amount) in usage(resource, &stored.object) {
                    // A pod that has ended is an object, and uses nothing.
                    let counts = !(is_pod && is_over) || key.starts_with("count/");
                    if let Some(sum) = used.get_mut(&key)
                        && counts
                        && in_scope(resource, spec, &stored.object)
                    {
                        *sum = sum.plus(amount);
                    }
                }
            }
        }
        used.iter().map(|(key, amount)| (key.clone(), Value::from(amount.to_string()))).collect()
    }
}

/// A quota in which an object is counted, if it counts in that one; or the refusal.
fn counted(
    resource: &Resource,
    object: &Value,
    usage: &Amounts,
    quota: &Value,
) -> Outcome<Option<Value>> {
    let name = text(quota, "name");
    let refuse = |why: &str| Err(forbidden(resource, text(object, "name"), why));
    let hard = amounts(&quota["status"]["hard"]);
    let of_kind = |key: &&String| usage.contains_key(*key) || is_of_kind(resource, key);
    let restricted: Vec<&String> = hard.keys().filter(of_kind).collect();
    if restricted.is_empty() || !in_scope(resource, &quota["spec"], object) {
        return Ok(None);
    }
    if let Some(why) = unspecified(resource, object, &restricted) {
        return refuse(&format!("failed quota: {name}: {why}"));
    }
    let used = amounts(&quota["status"]["used"]);
    if restricted.iter().any(|key| !used.contains_key(*key)) {
        let names = restricted.iter().map(|it| it.as_str()).collect::<Vec<_>>().join(",");
        return refuse(&format!("status unknown for quota: {name}, resources: {names}"));
    }
    let asked = usage.iter().filter(|(key, it)| it.billionths > 0 && hard.contains_key(*key));
    let asked: Amounts = asked.map(|(key, it)| (key.clone(), *it)).collect();
    let after = |key: &String| used[key].plus(asked[key]);
    let exceeded = asked.keys().filter(|key| after(key).billionths > hard[*key].billionths);
    let exceeded: Vec<&String> = exceeded.collect();
    if !exceeded.is_empty() {
        let told = |of: &Amounts| {
            let told = exceeded.iter().map(|key| format!("{key}={}", of[*key]));
            told.collect::<Vec<_>>().join(",")
        };
        return refuse(&format!(
            "exceeded quota: {name}, requested: {}, used: {}, limited: {}",
            told(&asked),
            told(&used),
            told(&hard)
        ));
    }
    if asked.is_empty() {
        return Ok(None);
    }
    let mut counted = Value::clone(quota);
    for key in asked.keys() {
        counted["status"]["used"][key] = after(key).to_string().into();
    }
    Ok(Some(counted))
}

fn amounts(value: &Value) -> Amounts {
    let all = value.as_object().into_iter().flatten();
    all.filter_map(|(key, amount)| Some((key.clone(), Quantity::read(amount)?))).collect()
}

/// Tells whether a quota of this resource limits objects of a kind.
fn is_of_kind(resource: &Resource, key: &str) -> bool {
    if key.strip_prefix("count/") == Some(resource.qualified().as_str()) {
        return true;
    }
    match resource.qualified().as_str() {
        "pods" => {
            let amount = key.strip_prefix("requests.").or(key.strip_prefix("limits."));
            key == "pods"
                || matches!(key, "cpu" | "memory" | "ephemeral-storage")
                || amount.is_some_and(|it| it != "storage")
        }
        "services" => key == "services" || key.starts_with("services."),
        "persistentvolumeclaims" => {
            key == "persistentvolumeclaims"
                || key == "requests.storage"
                || key.contains(".storageclass.storage.k8s.io/")
        }
        own @ ("configmaps" | "secrets" | "resourcequotas") => key == own,
        _ => false,
    }
}

/// What an object uses.
fn usage(resource: &Resource, object: &Value) -> Amounts {
    let (own, one) = (resource.qualified(), Quantity::whole(1));
    let mut usage = Amounts::from([(format!("count/{own}"), one)]);
    match own.as_str() {
        "pods" => {
            usage.insert(own, one);
            of_pod(object, &mut usage);
        }
        "services" => {
            usage.insert(own, one);
            let ports = object["spec"]["ports"].as_array().map_or(0, Vec::len);
            let of = object["spec"]["type"].as_str().unwrap_or("");
            let balances = of == "LoadBalancer";
            let opens = of == "NodePort" || balances;
            let count = |is: bool, count: usize| Quantity::whole(if is { count } else { 0 });
            usage.insert("services.nodeports".to_owned(), count(opens, ports));
            usage.insert("services.loadbalancers".to_owned(), count(balances, 1));
        }
        "persistentvolumeclaims" => {
            let asked = Quantity::read(&object["spec"]["resources"]["requests"]["storage"]);
            let asked = asked.unwrap_or_default();
            if let Some(class) = object["spec"]["storageClassName"].as_str() {
                let of = format!("{class}.storageclass.storage.k8s.io");
                usage.insert(format!("{of}/requests.storage"), asked);
                usage.insert(format!("{of}/persistentvolumeclaims"), one);
            }
            usage.insert("requests.storage".to_owned(), asked);
            usage.insert(own, one);
        }
        "configmaps" | "secrets" | "resourcequotas" => {
            usage.insert(own, one);
        }
        _ => {}
    }
    usage
}

/// The requests and limits of a pod: the sum of its containers, or the largest of those that run first.
fn of_pod(pod: &Value, usage: &mut Amounts) {
    for part in ["requests", "limits"] {
        let amounts_of = |field: &str| -> Vec<Amounts> {
            let list = pod["spec"][field].as_array().into_iter().flatten();
            let of = |it: &Value| {
                let mut own = amounts(&it["resources"][part]);
                if part == "requests" {
                    for (key, limit) in amounts(&it["resources"]["limits"]) {
                        own.entry(key).or_insert(limit);
                    }
                }
                own
            };
            list.map(of).collect()
        };
        let mut sums = Amounts::new();
        for (key, amount) in amounts_of("containers").into_iter().flatten() {
            let sum = sums.entry(key).or_default();
            *sum = sum.plus(amount);
        }
        for (key, amount) in amounts_of("initContainers").into_iter().flatten() {
            let sum = sums.entry(key).or_default();
            *sum = amount.max(*sum);
        }
        for (key, amount) in sums {
            let short = matches!(key.as_str(), "cpu" | "memory" | "ephemeral-storage");
            if part == "requests" && short {
                usage.insert(key.clone(), amount);
            }
            usage.insert(format!("{part}.{key}"), amount);
        }
    }
}

/// Tells whether a quota counts an object. Scopes are about pods.
fn in_scope(resource: &Resource, spec: &Value, object: &Value) -> bool {
    let mut scopes: Vec<Value> = Vec::new();
    let simple = strings(&spec["scopes"]).into_iter();
    scopes.extend(simple.map(|it| json!({"scopeName": it, "operator": "Exists"})));
    scopes
        .extend(spec["scopeSelector"]["matchExpressions"].as_array().cloned().unwrap_or_default());
    let is_pod = resource.plural == "pods" && resource.group.is_empty();
    scopes.iter().all(|scope| is_pod && has_scope(scope, object))
}

fn has_scope(scope: &Value, pod: &Value) -> bool {
    let spec = &pod["spec"];
    let is_limited = |it: &Value| {
        ["requests", "limits"].iter().any(|part| {
            amounts(&it["resources"][part])
                .iter()
                .any(|(key, it)| matches!(key.as_str(), "cpu" | "memory") && it.billionths > 0)
        })
    };
    let is_best_effort = !super::limits::containers(pod).any(is_limited);
    let ends = spec["activeDeadlineSeconds"].as_i64().is_some_and(|it| it >= 0);
    match scope["scopeName"].as_str().unwrap_or("") {
        "BestEffort" => is_best_effort,
        "NotBestEffort" => !is_best_effort,
        "Terminating" => ends,
        "NotTerminating" => !ends,
        "PriorityClass" => {
            let class = spec["priorityClassName"].as_str().unwrap_or("");
            let named = strings(&scope["values"]).contains(&class);
            match scope["operator"].as_str().unwrap_or("") {
                "Exists" => !class.is_empty(),
                "DoesNotExist" => class.is_empty(),
                "NotIn" => !named,
                _ => named,
            }
        }
        _ => false,
    }
}

/// The containers that do not say how much they use of what is limited.
fn unspecified(resource: &Resource, pod: &Value, restricted: &[&String]) -> Option<String> {
    if resource.plural != "pods" || !resource.group.is_empty() {
        return None;
    }
    let mut missing: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for key in restricted {
        let (part, of) = match key.split_once('.') {
            Some((part @ ("requests" | "limits"), of)) => (part, of),
            _ if matches!(key.as_str(), "cpu" | "memory" | "ephemeral-storage") => {
                ("requests", key.as_str())
            }
            _ => continue,
        };
        for container in super::limits::containers(pod) {
            if asked(&container["resources"], part, of).is_null() {
                missing.entry(key).or_default().push(container["name"].as_str().unwrap_or(""));
            }
        }
    }
    if missing.is_empty() {
        return None;
    }
    let told = missing.into_iter().map(|(key, names)| format!("{key} for: {}", names.join(",")));
    Some(format!("must specify {}", told.collect::<Vec<_>>().join("; ")))
}
