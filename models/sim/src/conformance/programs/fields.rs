//! Programs that try each field of the built-in kinds: an object in which one field is something else is
//! created, and another one is changed to it.

use serde_json::{Value, json};

use super::super::{Recorder, Simulated, Target as _, Trace, world};
use super::{NAMESPACE, ROOM};
use crate::apiserver::{Request, Type, enumerated, type_of_kind};

/// A valid object of each kind, and its path.
const OBJECTS: &str = include_str!("objects.json");

/// What was tried of a kind: a create and an update for each value of a field.
#[derive(Debug)]
pub struct Tried {
    /// The kind.
    pub kind: String,
    /// The field, as a path.
    pub field: String,
    /// What our server answered.
    pub trace: Trace,
}

/// All of them.
///
/// # Errors
///
/// The objects cannot be read, which a test excludes.
pub fn fields() -> Result<Vec<Tried>, String> {
    let objects: Vec<Value> = serde_json::from_str(OBJECTS).map_err(|error| error.to_string())?;
    let mut target = Simulated::new(world(1));
    let namespace = json!({"metadata": {"name": NAMESPACE}});
    target.send(&Request::new("POST", "/api/v1/namespaces").json(&namespace));
    let mut tried = Vec::new();
    for (index, entry) in objects.iter().enumerate() {
        let object = &entry["object"];
        let text = |field: &str| object[field].as_str().unwrap_or("").to_owned();
        let of = type_of_kind(&text("apiVersion"), &text("kind"));
        let mut changes = vec![("".to_owned(), vec![object.clone()])];
        draw(of, object, &mut Vec::new(), &mut changes, object);
        for (number, (field, objects)) in changes.into_iter().enumerate() {
            let name = format!("f{index}-{number}");
            let path = entry["path"].as_str().unwrap_or("");
            let trace = record(&target, path, object, &name, &objects)?;
            tried.push(Tried { kind: text("kind"), field, trace });
        }
    }
    Ok(tried)
}

/// Creates each of the objects, and changes a valid object to it.
fn record(
    target: &Simulated,
    path: &str,
    valid: &Value,
    name: &str,
    objects: &[Value],
) -> Result<Trace, String> {
    let mut target = target.clone();
    let recorder = Recorder::within(ROOM).ok_or("there is no room for a program")?;
    let mut recorder = recorder.thorough();
    let path = path.replace("NAMESPACE", NAMESPACE);
    let mut send = |method: &str, path: &str, body: &Value| {
        let mut request = Request::new(method, path).json(body);
        request.headers.push(("User-Agent".to_owned(), "trace-recorder".to_owned()));
        let answer = target.send(&request);
        recorder.call(target.now, &request, &answer);
    };
    for (index, object) in objects.iter().enumerate() {
        let named = |object: &Value, mark: &str| {
            let mut object = object.clone();
            if object["metadata"].is_object() {
                object["metadata"]["name"] = format!("{name}-{mark}{index}").into();
            }
            object
        };
        send("POST", &path, &named(object, "c"));
        send("POST", &path, &named(valid, "u"));
        send("PUT", &format!("{path}/{name}-u{index}"), &named(object, "u"));
    }
    let line = recorder.trace(name);
    Trace::parse(&line.replace(NAMESPACE, "ns-1").replacen(
        "\"namespaces\":0",
        "\"namespaces\":1",
        1,
    ))
}

/// A step on the way to a field.
#[derive(Clone, Copy)]
enum Step {
    Field(&'static str),
    First,
}

type Changes = Vec<(String, Vec<Value>)>;

/// Puts something else into each field below a value, one at a time.
fn draw(of: &'static Type, at: &Value, way: &mut Vec<Step>, changes: &mut Changes, whole: &Value) {
    match of {
        Type::Struct(_, fields) => {
            for field in *fields {
                if way.is_empty() && !matches!(field.name, "spec" | "webhooks" | "rules") {
                    let is_own =
                        !matches!(field.name, "kind" | "apiVersion" | "metadata" | "status");
                    if !is_own {
                        continue;
                    }
                }
                if matches!(way[..], [.., Step::Field("metadata")]) && field.name != "labels" {
                    continue; // metadata have programs of their own
                }
                way.push(Step::Field(field.name));
                let objects = values(field.of, field.name);
                let objects = objects.into_iter().map(|value| put(whole, way, value)).collect();
                changes.push((shown(way), objects));
                if let Some(inner) = at.get(field.name) {
                    draw(field.of, inner, way, changes, whole);
                }
                way.pop();
            }
        }
        Type::List(of) => {
            if let Some(first) = at.get(0).filter(|it| it.is_object()) {
                way.push(Step::First);
                draw(of, first, way, changes, whole);
                way.pop();
            }
        }
        _ => {}
    }
}

fn shown(way: &[Step]) -> String {
    let mut text = String::new();
    for step in way {
        match step {
            Step::Field(name) if text.is_empty() => text.push_str(name),
            Step::Field(name) => text.extend([".", name]),
            Step::First => text.push_str("[]"),
        }
    }
    text
}

fn put(whole: &Value, way: &[Step], value: Value) -> Value {
    let mut whole = whole.clone();
    let mut at = &mut whole;
    for step in way {
        at = match step {
            Step::Field(name) => &mut at[*name],
            Step::First => &mut at[0],
        };
    }
    *at = value;
    whole
}

/// Values for a field, some of which its type does not have.
fn values(of: &Type, name: &str) -> Vec<Value> {
    let values = match of {
        Type::Text => {
            let mut values =
                vec![Value::Null, "".into(), "x".into(), "Bad value!".into(), 5.into()];
            values.extend(enumerated(name).into_iter().map(Value::from));
            return values;
        }
        Type::Int32 | Type::Int64 => json!([null, 0, -1, 1, 70_000, "x"]),
        Type::Bool => json!([null, true, false, "x"]),
        Type::IntOrText => json!([null, 0, 3, -1, 70_000, "50%", "150%", "x", "Bad value!", true]),
        Type::Quantity => json!([null, "1", "-1", "0.5", "x", 2]),
        Type::Map(Type::Text) => {
            json!([null, {}, {"a": "b"}, {"bad key": "x"}, {"a": "bad value"}, 5])
        }
        Type::Map(Type::Quantity) => {
            json!([null, {}, {"cpu": "500m"}, {"cpu": "-1"}, {"odd": "1"}, 5])
        }
        Type::Map(_) => json!([null, {}, 5]),
        Type::List(Type::Text) => json!([null, [], ["x"], ["Bad value!"], [5], "x"]),
        Type::List(_) => json!([null, [], [{}], "x"]),
        Type::Struct(..) => json!([null, {}, "x"]),
        Type::Time | Type::MicroTime | Type::Bytes | Type::Double | Type::Any => json!([null]),
    };
    match values {
        Value::Array(values) => values,
        other => vec![other],
    }
}
