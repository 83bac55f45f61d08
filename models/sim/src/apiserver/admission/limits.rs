//! LimitRanger: what containers, pods and claims use by default, at least and at most.

use serde_json::{Map, Value, json};

use super::super::metadata::text;
use super::super::status::{Failure, Outcome, details, qualify};
use super::super::{Call, Resource, Server};
use super::review::Wish;
use crate::quantity::Quantity;

/// Where the server writes what it has filled in.
const ANNOTATION: &str = "kubernetes.io/limit-ranger";

/// Refuses an object, as the plugins of the server do.
pub(super) fn forbidden(resource: &Resource, name: &str, why: &str) -> Box<Failure> {
    let of = qualify(&resource.plural, &resource.group);
    let mut failure = Failure::new(403, "Forbidden", format!("{of} {name:?} is forbidden: {why}"));
    failure.details = Some(details(&resource.group, &resource.plural, name));
    failure
}

impl Server {
    /// Fills in the defaults of the limit ranges of a namespace, if it is asked to, and checks their bounds.
    pub(super) fn limit(
        &self,
        call: &Call<'_>,
        wish: &Wish,
        object: &mut Value,
        fills_in: bool,
    ) -> Outcome<()> {
        let resource = call.resource();
        let is_pod = resource.plural == "pods";
        let is_limited =
            is_pod && wish.operation == "CREATE" || resource.plural == "persistentvolumeclaims";
        let is_part = call.target.subresource.is_some();
        if !is_limited || !resource.group.is_empty() || is_part {
            return Ok(());
        }
        let mut wrong = Vec::new();
        for limits in self.of_namespace("limitranges", &wish.namespace) {
            let items = limits["spec"]["limits"].as_array().map_or(&[][..], Vec::as_slice);
            if is_pod && fills_in {
                fill_in(object, items);
            }
            for item in items {
                match (item["type"].as_str().unwrap_or(""), is_pod) {
                    ("Container", true) => {
                        for container in containers(object) {
                            check(item, &container["resources"], &mut wrong);
                        }
                    }
                    ("Pod", true) => check(item, &of_pod(object), &mut wrong),
                    ("PersistentVolumeClaim", false) => claim(item, object, &mut wrong),
                    _ => {}
                }
            }
        }
        match &wrong[..] {
            // What the defaults of one range break, another may mend.
            _ if fills_in => Ok(()),
            [] => Ok(()),
            [one] => Err(forbidden(resource, text(object, "name"), one)),
            all => Err(forbidden(resource, text(object, "name"), &format!("[{}]", all.join(", ")))),
        }
    }

    /// The objects of a resource of the core group in a namespace, by their names.
    pub(super) fn of_namespace(&self, plural: &str, namespace: &str) -> Vec<std::sync::Arc<Value>> {
        let prefix = format!("{namespace}/");
        let objects = self.store.objects(plural);
        let first = super::super::store::Key(prefix.as_str().into());
        let own = objects.after(&first).take_while(|(key, _)| key.0.starts_with(&prefix));
        own.map(|(_, stored)| stored.object.clone()).collect()
    }
}

pub(super) fn containers(pod: &Value) -> impl Iterator<Item = &Value> {
    ["initContainers", "containers"]
        .into_iter()
        .flat_map(|field| pod["spec"][field].as_array().into_iter().flatten())
}

/// Fills in the defaults of a limit range itself.
pub(super) fn complete(range: &mut Value) {
    let items = range["spec"].get_mut("limits").and_then(Value::as_array_mut);
    for item in items.into_iter().flatten().filter(|it| it["type"] == "Container") {
        let [requests, limits] = defaults(item);
        for (field, all) in [("defaultRequest", requests), ("default", limits)] {
            if !all.is_empty() {
                item[field] = Value::Object(all);
            }
        }
    }
}

/// The request of a container; without one, its limit counts as the request.
pub(super) fn asked<'a>(resources: &'a Value, part: &str, key: &str) -> &'a Value {
    match &resources[part][key] {
        Value::Null if part == "requests" => &resources["limits"][key],
        found => found,
    }
}

/// A limit range's own defaults: the limits are those of `max`, the requests those of limits or `min`.
fn defaults(item: &Value) -> [Map<String, Value>; 2] {
    let of = |field: &str| item[field].as_object().cloned().unwrap_or_default();
    let (mut limits, mut requests) = (of("default"), of("defaultRequest"));
    let fill = |map: &mut Map<String, Value>, from: &Map<String, Value>| {
        for (key, value) in from {
            map.entry(key).or_insert_with(|| value.clone());
        }
    };
    fill(&mut limits, &of("max"));
    fill(&mut requests, &limits);
    fill(&mut requests, &of("min"));
    [requests, limits]
}

fn fill_in(pod: &mut Value, items: &[Value]) {
    let of_containers = items.iter().filter(|it| it["type"] == "Container");
    let wanted: Vec<_> = of_containers.map(defaults).collect();
    let mut notes = Vec::new();
    for (field, what) in [("containers", "container"), ("initContainers", "init container")] {
        let containers = pod["spec"].get_mut(field).and_then(Value::as_array_mut);
        for container in containers.into_iter().flatten() {
            let name = container["name"].as_str().unwrap_or("").to_owned();
            let limits = container["resources"]["limits"].as_object().cloned().unwrap_or_default();
            for (key, limit) in limits {
                let request = &mut container["resources"]["requests"][key];
                if request.is_null() {
                    *request = limit;
                }
            }
            for (index, part) in ["requests", "limits"].into_iter().enumerate() {
                let mut set = Vec::new();
                for (key, value) in wanted.iter().flat_map(|it| &it[index]) {
                    if container["resources"][part][key].is_null() && container.is_object() {
                        container["resources"][part][key] = value.clone();
                        set.push(key.as_str());
                    }
                }
                if !set.is_empty() {
                    set.sort_unstable();
                    let kind = part.trim_end_matches('s');
                    notes.push(format!("{} {kind} for {what} {name}", set.join(", ")));
                }
            }
        }
    }
    if !notes.is_empty() {
        let note = format!("LimitRanger plugin set: {}", notes.join("; "));
        pod["metadata"]["annotations"][ANNOTATION] = note.into();
    }
}

/// What the containers of a pod use together; a resource that one of them does not name is left out. Those
/// that run first count by the largest of them.
fn of_pod(pod: &Value) -> Value {
    let mut sums = json!({"requests": {}, "limits": {}});
    for part in ["requests", "limits"] {
        let own = |it: &Value| {
            let mut own = it["resources"][part].as_object().cloned().unwrap_or_default();
            let limits = it["resources"]["limits"].as_object().filter(|_| part == "requests");
            for (key, limit) in limits.into_iter().flatten() {
                own.entry(key).or_insert_with(|| limit.clone());
            }
            Value::Object(own)
        };
        let list = pod["spec"]["containers"].as_array().map_or(&[][..], Vec::as_slice);
        let all: Vec<Value> = list.iter().map(own).collect();
        let Some(first) = all.first().and_then(Value::as_object) else { continue };
        for key in first.keys() {
            let amounts: Option<Vec<_>> = all.iter().map(|it| Quantity::read(&it[key])).collect();
            if let Some(amounts) = amounts {
                let sum = amounts.into_iter().fold(Quantity::default(), Quantity::plus);
                sums[part][key] = sum.to_string().into();
            }
        }
        let before = pod["spec"]["initContainers"].as_array().map_or(&[][..], Vec::as_slice);
        for (key, amount) in
            before.iter().filter_map(|it| it["resources"][part].as_object()).flatten()
        {
            if let (Some(one), Some(sum)) =
                (Quantity::read(amount), Quantity::read(&sums[part][key]))
            {
                sums[part][key] = one.max(sum).to_string().into();
            }
        }
    }
    sums
}

/// The resources and amounts of a field of a limit.
fn bounds<'a>(item: &'a Value, field: &str) -> impl Iterator<Item = (&'a String, Quantity)> {
    let all = item[field].as_object().into_iter().flatten();
    all.filter_map(|(key, amount)| Some((key, Quantity::read(amount)?)))
}

/// Checks the requests and limits of a container or a pod.
fn check(item: &Value, used: &Value, wrong: &mut Vec<String>) {
    let of = item["type"].as_str().unwrap_or("");
    let amount = |part: &str, key: &str| Quantity::read(asked(used, part, key));
    for (key, min) in bounds(item, "min") {
        let why = format!("minimum {key} usage per {of} is {min}");
        match (amount("requests", key), amount("limits", key)) {
            (None, _) => wrong.push(format!("{why}.  No request is specified")),
            (Some(it), _) if it < min => {
                wrong.push(format!("{why}, but request is {it}"));
            }
            (_, Some(it)) if it < min => {
                wrong.push(format!("{why}, but limit is {it}"));
            }
            _ => {}
        }
    }
    for (key, max) in bounds(item, "max") {
        let why = format!("maximum {key} usage per {of} is {max}");
        match (amount("requests", key), amount("limits", key)) {
            (_, None) => wrong.push(format!("{why}.  No limit is specified")),
            (_, Some(it)) if it > max => {
                wrong.push(format!("{why}, but limit is {it}"));
            }
            (Some(it), _) if it > max => {
                wrong.push(format!("{why}, but request is {it}"));
            }
            _ => {}
        }
    }
    for (key, most) in bounds(item, "maxLimitRequestRatio") {
        let why = format!("{key} max limit to request ratio per {of} is {most}, but");
        let set = |part: &str| amount(part, key).filter(|it| it.billionths != 0);
        match (set("requests"), set("limits")) {
            (None, _) => wrong.push(format!("{why} no request is specified or request is 0")),
            (_, None) => wrong.push(format!("{why} no limit is specified or limit is 0")),
            (Some(request), Some(limit)) => {
                let ratio = limit.billionths as f64 / request.billionths as f64;
                if ratio > most.billionths as f64 / 1e9 {
                    wrong.push(format!("{why} provided ratio is {ratio:.6}"));
                }
            }
        }
    }
}

fn claim(item: &Value, object: &Value, wrong: &mut Vec<String>) {
    let Some(asked) = Quantity::read(&object["spec"]["resources"]["requests"]["storage"]) else {
        return;
    };
    let of = "storage usage per PersistentVolumeClaim is";
    for (_, min) in bounds(item, "min").filter(|(key, _)| *key == "storage") {
        if asked < min {
            wrong.push(format!("minimum {of} {min}, but request is {asked}"));
        }
    }
    for (_, max) in bounds(item, "max").filter(|(key, _)| *key == "storage") {
        if asked > max {
            wrong.push(format!("maximum {of} {max}, but request is {asked}"));
        }
    }
}
