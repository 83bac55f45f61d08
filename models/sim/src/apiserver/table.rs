//! Lists as a person reads them: rows and columns, which `kubectl get` asks for.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};

use super::cause::{Cause, Causes};
use super::clock;
use super::jsonpath::Path;
use super::resource::Resource;

/// A column in addition to the name.
#[derive(Clone, Debug)]
pub(crate) struct Column {
    name: String,
    kind: String,
    /// Columns above 0 are for clients that want to see more.
    priority: u64,
    cell: Cell,
}

/// The content of a cell.
#[derive(Clone, Debug)]
enum Cell {
    /// The age of a time.
    Since(String),
    /// A field.
    Field(String),
    /// A path that a custom resource declares.
    Declared(Path),
    Of(fn(&Value) -> Value),
}

fn column(name: &str, cell: Cell) -> Column {
    Column { name: name.to_owned(), kind: "string".to_owned(), priority: 0, cell }
}

fn field(name: &str, path: &str) -> Column {
    column(name, Cell::Field(path.to_owned()))
}

fn of(name: &str, cell: fn(&Value) -> Value) -> Column {
    column(name, Cell::Of(cell))
}

fn age() -> Column {
    column("Age", Cell::Since("metadata.creationTimestamp".to_owned()))
}

/// The columns that a custom resource declares; the age if it declares none.
pub(crate) fn declared(version: &Value) -> Vec<Column> {
    let Some(printed) = version["additionalPrinterColumns"].as_array() else { return vec![age()] };
    let text = |value: &Value| value.as_str().unwrap_or("").to_owned();
    let columns = printed.iter().map(|it| {
        // If the path cannot be read, its definition was refused.
        let path = Path::parse(&text(&it["jsonPath"])).unwrap_or_default();
        let priority = it["priority"].as_u64().unwrap_or(0);
        Column {
            name: text(&it["name"]),
            kind: text(&it["type"]),
            priority,
            cell: Cell::Declared(path),
        }
    });
    columns.collect()
}

const KINDS: &[&str] = &["boolean", "date", "integer", "number", "string"];

/// The errors in the columns of a version of a custom resource; `path` is the path of the version.
pub(crate) fn check(version: &Value, path: &str) -> Causes {
    let mut causes = Causes::default();
    let printed = version["additionalPrinterColumns"].as_array().into_iter().flatten();
    for (index, column) in printed.enumerate() {
        let field = |name: &str| format!("{path}.additionalPrinterColumns[{index}].{name}");
        let text = |name: &str| column[name].as_str().unwrap_or("");
        if text("name").is_empty() {
            causes.push(Cause::required(field("name"), ""));
        }
        let known = format!("must be one of {}", KINDS.join(","));
        if text("type").is_empty() {
            causes.push(Cause::required(field("type"), &known));
        } else if !KINDS.contains(&text("type")) {
            causes.push(Cause::invalid(field("type"), &column["type"], &known));
        }
        let at = text("jsonPath");
        let why = match Path::parse(at) {
            _ if at.is_empty() => {
                causes.push(Cause::required(field("jsonPath"), ""));
                continue;
            }
            _ if !at.starts_with('.') => "must be a simple json path starting with .".to_owned(),
            Ok(_) => continue,
            Err(why) => why,
        };
        causes.push(Cause::invalid(field("jsonPath"), &column["jsonPath"], &why));
    }
    causes
}

/// The columns of a built-in kind.
pub(crate) fn built_in(kind: &str) -> Vec<Column> {
    let mut columns = match kind {
        "ConfigMap" => vec![of("Data", entries)],
        "Secret" => vec![field("Type", "type"), of("Data", entries)],
        "Pod" => vec![of("Ready", containers), of("Status", pod_status), of("Restarts", restarts)],
        "Service" => vec![
            field("Type", "spec.type"),
            field("Cluster-IP", "spec.clusterIP"),
            field("External-IP", "spec.externalIPs"),
            of("Port(s)", ports),
        ],
        "Namespace" => vec![field("Status", "status.phase")],
        "Node" => {
            vec![of("Status", node_status), field("Version", "status.nodeInfo.kubeletVersion")]
        }
        "Deployment" => vec![
            of("Ready", ready),
            of("Up-to-date", |it| number(&it["status"]["updatedReplicas"])),
            of("Available", |it| number(&it["status"]["availableReplicas"])),
        ],
        "ReplicaSet" => vec![
            of("Desired", |it| number(&it["spec"]["replicas"])),
            of("Current", |it| number(&it["status"]["replicas"])),
            of("Ready", |it| number(&it["status"]["readyReplicas"])),
        ],
        "StatefulSet" => vec![of("Ready", ready)],
        "Job" => vec![of("Status", job_status), of("Completions", completions)],
        "Lease" => vec![field("Holder", "spec.holderIdentity")],
        "PersistentVolumeClaim" => vec![
            field("Status", "status.phase"),
            field("Volume", "spec.volumeName"),
            field("StorageClass", "spec.storageClassName"),
        ],
        "ServiceAccount" => {
            vec![of("Secrets", |it| number(&json!(it["secrets"].as_array().map(Vec::len))))]
        }
        "Event" => vec![
            field("Type", "type"),
            field("Reason", "reason"),
            of("Object", involved),
            of("Message", |it| of_event(it, "message", "note").clone()),
        ],
        "CustomResourceDefinition" => {
            return vec![field("Created At", "metadata.creationTimestamp")];
        }
        _ => Vec::new(),
    };
    columns.push(age());
    if kind == "Pod" {
        for (name, path) in [("IP", "status.podIP"), ("Node", "spec.nodeName")] {
            columns.push(Column { priority: 1, ..field(name, path) });
        }
    }
    columns
}

/// Rows of objects. `object` says how much of each goes with its row: `None`, `Object`, or its
/// metadata.
pub(crate) fn table(
    resource: &Resource,
    now: Duration,
    object: Option<&str>,
    metadata: &Value,
    items: &[Value],
) -> Value {
    let kept = ["resourceVersion", "continue", "remainingItemCount"];
    let fields = metadata.as_object().into_iter().flatten();
    let fields = fields.filter(|(key, value)| kept.contains(&key.as_str()) && **value != "");
    let metadata: serde_json::Map<_, _> =
        fields.map(|(key, value)| (key.clone(), value.clone())).collect();
    let name = json!({"name": "Name", "type": "string", "format": "name", "description": "", "priority": 0});
    let others = resource.columns.iter().map(|it| {
        json!({"name": it.name, "type": it.kind, "format": "", "description": "", "priority": it.priority})
    });
    let columns: Value = std::iter::once(name).chain(others).collect();
    let rows = items.iter().map(|item| {
        let name = item["metadata"]["name"].clone();
        let cells = resource.columns.iter().map(|column| column.show(item, now));
        let cells: Value = std::iter::once(name).chain(cells).collect();
        let kept = match object {
            Some("None") => Value::Null,
            Some("Object") => item.clone(),
            _ => json!({
                "apiVersion": "meta.k8s.io/v1", "kind": "PartialObjectMetadata",
                "metadata": item["metadata"],
            }),
        };
        json!({"cells": cells, "object": kept})
    });
    let rows: Value = rows.collect();
    json!({
        "apiVersion": "meta.k8s.io/v1", "kind": "Table", "metadata": metadata,
        "columnDefinitions": columns, "rows": rows,
    })
}

/// The table of one object: its metadata is that of the row alone.
pub(crate) fn row(
    resource: &Resource,
    now: Duration,
    object: Option<&str>,
    item: &Value,
) -> Arc<Value> {
    let metadata = json!({"resourceVersion": item["metadata"]["resourceVersion"]});
    Arc::new(table(resource, now, object, &metadata, std::slice::from_ref(item)))
}

impl Column {
    fn show(&self, object: &Value, now: Duration) -> Value {
        match &self.cell {
            Cell::Of(of) => of(object),
            Cell::Field(path) => match at(object, path) {
                Value::Null => "<none>".into(),
                other => other.clone(),
            },
            Cell::Since(path) => since(at(object, path), now).unwrap_or("<unknown>".into()),
            Cell::Declared(path) => path
                .first(object)
                .map_or(Value::Null, |found| declared_cell(&self.kind, found, now)),
        }
    }
}

/// The value of a column of a custom resource; null if the value is of another type.
fn declared_cell(kind: &str, found: &Value, now: Duration) -> Value {
    match (kind, found) {
        (_, Value::Null) => Value::Null,
        ("date", Value::String(_)) => since(found, now).unwrap_or("<invalid>".into()),
        ("string", Value::String(_)) => found.clone(),
        ("string", other) => other.to_string().into(),
        ("boolean", Value::Bool(_)) | ("number", Value::Number(_)) => found.clone(),
        ("integer", Value::Number(number)) => {
            let whole = number.as_i64().or_else(|| number.as_f64().map(|it| it as i64));
            whole.map_or(Value::Null, Value::from)
        }
        _ => Value::Null,
    }
}

/// How long ago a time was, if it is one.
fn since(time: &Value, now: Duration) -> Option<Value> {
    let time = time.as_str().and_then(clock::parse)?;
    Some(ago(now.saturating_sub(time)).into())
}

fn at<'a>(object: &'a Value, path: &str) -> &'a Value {
    path.split('.').fold(object, |at, part| at.get(part).unwrap_or(&Value::Null))
}

/// A time that has passed, in two units at most.
fn ago(time: Duration) -> String {
    let seconds = time.as_secs();
    let (minutes, hours, days) = (seconds / 60, seconds / 3_600, seconds / 86_400);
    let two = |first: u64, unit: char, rest: u64, small: char| match rest {
        0 => format!("{first}{unit}"),
        _ => format!("{first}{unit}{rest}{small}"),
    };
    match () {
        () if seconds < 120 => format!("{seconds}s"),
        () if minutes < 10 => two(minutes, 'm', seconds % 60, 's'),
        () if minutes < 180 => format!("{minutes}m"),
        () if hours < 8 => two(hours, 'h', minutes % 60, 'm'),
        () if hours < 48 => format!("{hours}h"),
        () if days < 8 => two(days, 'd', hours % 24, 'h'),
        () => format!("{days}d"),
    }
}

fn number(value: &Value) -> Value {
    value.as_u64().unwrap_or(0).into()
}

fn entries(object: &Value) -> Value {
    let count = |field: &str| object[field].as_object().map_or(0, serde_json::Map::len);
    (count("data") + count("binaryData")).into()
}

fn ready(object: &Value) -> Value {
    let (ready, wanted) = (&object["status"]["readyReplicas"], &object["spec"]["replicas"]);
    format!("{}/{}", number(ready), number(wanted)).into()
}

fn statuses(pod: &Value) -> &[Value] {
    pod["status"]["containerStatuses"].as_array().map_or(&[], Vec::as_slice)
}

fn containers(pod: &Value) -> Value {
    let all = pod["spec"]["containers"].as_array().map_or(0, Vec::len);
    let ready = statuses(pod).iter().filter(|it| it["ready"] == true).count();
    format!("{ready}/{all}").into()
}

fn restarts(pod: &Value) -> Value {
    let counts = statuses(pod).iter().filter_map(|it| it["restartCount"].as_u64());
    counts.max().unwrap_or(0).to_string().into()
}

fn pod_status(pod: &Value) -> Value {
    if !pod["metadata"]["deletionTimestamp"].is_null() {
        return "Terminating".into();
    }
    let reasons = statuses(pod)
        .iter()
        .flat_map(|it| ["waiting", "terminated"].map(|state| &it["state"][state]["reason"]));
    let reason = reasons.into_iter().find(|reason| reason.is_string());
    reason.unwrap_or(&pod["status"]["phase"]).clone()
}

fn node_status(node: &Value) -> Value {
    let conditions = node["status"]["conditions"].as_array().into_iter().flatten();
    let ready = conditions.into_iter().find(|it| it["type"] == "Ready");
    match ready.map(|it| it["status"] == "True") {
        Some(true) => "Ready".into(),
        Some(false) => "NotReady".into(),
        None => "Unknown".into(),
    }
}

fn job_status(job: &Value) -> Value {
    let conditions = job["status"]["conditions"].as_array().into_iter().flatten();
    let mut holding = conditions.filter(|it| it["status"] == "True");
    holding.next().map_or("Running".into(), |it| it["type"].clone())
}

fn completions(job: &Value) -> Value {
    let (done, wanted) = (&job["status"]["succeeded"], &job["spec"]["completions"]);
    format!("{}/{}", number(done), number(wanted)).into()
}

fn ports(service: &Value) -> Value {
    let ports = service["spec"]["ports"].as_array().into_iter().flatten();
    let ports = ports
        .map(|it| format!("{}/{}", number(&it["port"]), it["protocol"].as_str().unwrap_or("TCP")));
    ports.collect::<Vec<_>>().join(",").into()
}

/// A field that has another name in each API of events.
fn of_event<'a>(event: &'a Value, core: &str, other: &str) -> &'a Value {
    event.get(core).unwrap_or(&event[other])
}

fn involved(event: &Value) -> Value {
    let object = of_event(event, "involvedObject", "regarding");
    let part = |field: &str| object[field].as_str().unwrap_or("").to_lowercase();
    format!("{}/{}", part("kind"), part("name")).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_age_has_two_units_while_they_matter() {
        for (seconds, text) in [
            (0, "0s"),
            (119, "119s"),
            (120, "2m"),
            (200, "3m20s"),
            (3_600, "60m"),
            (4 * 3_600 + 60, "4h1m"),
            (30 * 3_600, "30h"),
            (3 * 86_400 + 3_600, "3d1h"),
            (400 * 86_400, "400d"),
        ] {
            assert_eq!(ago(Duration::from_secs(seconds)), text);
        }
    }
}
