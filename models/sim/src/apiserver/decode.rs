//! Decoding of a body into an object of the resource.

use std::fmt::Display;

use serde_json::Value;

use super::LARGEST;
use super::bounds::At;
use super::builtin::META;
use super::create::Origin;
use super::http::Request;
use super::negotiate;
use super::options::Unknown;
use super::resource::{Resource, Shape};
use super::schema::Structural;
use super::status::{Failure, Outcome};
use super::types;
use crate::json;
use crate::patch::type_name;
use crate::protobuf;
use crate::short::{note, short};

/// The memory that the defaults of one object may take.
const DEFAULTS: usize = 16 * 1024 * 1024;
/// The memory that the values of a strategic patch may take: while it is merged there are more copies of them.
const STRATEGIC: usize = 20 * 1024 * 1024;

/// Refuses a body that is too large, or whose values would be.
pub(crate) fn fits(request: &Request) -> Outcome<()> {
    if request.body.len() > LARGEST {
        return Err(Failure::too_much(format_args!("limit is {LARGEST}")));
    }
    let is_strategic = negotiate::content_type(request) == "application/strategic-merge-patch+json";
    let room = if is_strategic { STRATEGIC } else { json::ROOM };
    if !negotiate::is_protobuf(request) && json::memory(&request.body) > room {
        return Err(Failure::too_much(json::TOO_MUCH));
    }
    Ok(())
}

/// Reads the body of a create or an update. Warnings are added to the list.
pub(crate) fn body(
    resource: &Resource,
    request: &Request,
    unknown: Unknown,
    warnings: &mut Vec<String>,
) -> Outcome<Value> {
    let bytes = &request.body;
    if negotiate::is_protobuf(request) {
        let (version, of) = (resource.api_version(), &resource.kind);
        let object = protobuf::decode_as(bytes, Some((&version, of)));
        let object = object.map_err(|error| match error.is_of_envelope() {
            true => unrecognized(resource, &error.to_string(), bytes),
            false => cannot(resource, &error.to_string()),
        })?;
        let object = kind(resource, object, bytes)?.unwrap_or_default();
        return value(resource, object, Vec::new(), unknown, warnings);
    }
    let (object, twice) = json::parse(bytes).map_err(|error| {
        let why = if error.is_eof() {
            "unexpected end of JSON input".to_owned()
        } else {
            error.to_string()
        };
        let why = format!("couldn't get version/kind; json parse error: {why}");
        unrecognized(resource, &why, bytes)
    })?;
    let twice = twice.into_iter().map(|path| format!("duplicate field {path:?}")).collect();
    let object = match kind(resource, object, bytes)? {
        Some(object) => object,
        None => return Err(missing_kind(resource, bytes)),
    };
    value(resource, object, twice, unknown, warnings)
}

/// Reads an object that is JSON already, as patched ones are.
pub(crate) fn value(
    resource: &Resource,
    object: Value,
    mut strict: Vec<String>,
    unknown: Unknown,
    warnings: &mut Vec<String>,
) -> Outcome<Value> {
    let mut paths = Vec::new();
    let object = shape(resource, object, &mut paths).map_err(|why| cannot(resource, &why))?;
    paths.iter().for_each(|path| note(&mut strict, format_args!("unknown field {path:?}")));
    match unknown {
        Unknown::Refuse if !strict.is_empty() => {
            let why = format!("strict decoding error: {}", strict.join(", "));
            Err(cannot(resource, &why))
        }
        Unknown::Warn => {
            warnings.append(&mut strict);
            Ok(object)
        }
        _ => Ok(object),
    }
}

/// Reads an object as an apply has made it. Fields that a custom resource does not have stay until
/// the object is stored, and so do nulls. They are checked like all other fields.
pub(crate) fn applied(resource: &Resource, mut object: Value) -> Outcome<Value> {
    let Shape::Structural(schema) = &resource.shape else {
        let name = object["metadata"]["name"].as_str().unwrap_or("").to_owned();
        let object = shape(resource, object, &mut Vec::new());
        return object.map_err(|why| {
            if why == json::TOO_MUCH {
                return Failure::too_much(why);
            }
            let (version, kind) = (resource.api_version(), &resource.kind);
            let slash = if version.contains('/') { "" } else { "/" };
            Failure::internal(format!(
                "failed to convert new object (/{name}; {slash}{version}, Kind={kind}) to proper version: {why}"
            ))
        });
    };
    complete(schema, &mut object).map_err(|why| cannot(resource, &why))?;
    // Empty fields of the metadata stay as well.
    let metadata = types::read(object["metadata"].clone(), &META, &mut Vec::new());
    metadata.map_err(|why| cannot(resource, &why))?;
    Ok(object)
}

/// An object as who reads it sees it. Tells whether that is not what was written: such an object is
/// written anew by the next change, even if that changes nothing.
pub(crate) fn stored(resource: &Resource, object: &mut Value, origin: Origin) -> Outcome<bool> {
    let schema = match &resource.shape {
        Shape::Struct(of) => return Ok(types::fill_bytes(object, of)),
        Shape::Structural(schema) => schema,
    };
    // Fractions of nothing are whole numbers, written and read.
    whole_numbers(object);
    // A new object loses the status that it is sent with, and who reads it sees the default.
    let mut is_completed = false;
    if object.get("status").is_none() {
        complete(schema, object).map_err(|why| cannot(resource, &why))?;
        is_completed = object.get("status").is_some();
    }
    // Whatever else is written was read before.
    if origin != Origin::Apply {
        return Ok(is_completed);
    }
    let written = object.clone();
    let mut parts = serde_json::Map::new();
    for key in ["kind", "apiVersion", "metadata"] {
        if let Some(part) = object.as_object_mut().and_then(|fields| fields.remove(key)) {
            parts.insert(key.to_owned(), part);
        }
    }
    schema.prune(object, &At::Root, &mut Vec::new());
    schema.drop_nulls(object);
    if let Some(metadata) = parts.get_mut("metadata") {
        let read = types::read(metadata.take(), &META, &mut Vec::new());
        *metadata = read.map_err(|why| cannot(resource, &why))?;
    }
    if let Some(fields) = object.as_object_mut() {
        fields.extend(parts);
    }
    Ok(is_completed || written != *object)
}

/// Puts defaults into an object, as long as they are no more than an object may be.
pub(super) fn complete(schema: &Structural, object: &mut Value) -> Result<(), String> {
    let mut room = DEFAULTS;
    let fits = schema.complete(object, &mut room);
    fits.then_some(()).ok_or_else(|| "the defaults of its schema make it too large".to_owned())
}

pub(crate) fn whole_numbers(value: &mut Value) {
    match value {
        Value::Number(it) if it.is_f64() => {
            // Beyond that, not every whole number can be told from its neighbours.
            let exact = |it: &f64| it.fract() == 0.0 && it.abs() < 9_007_199_254_740_992.0;
            if let Some(number) = it.as_f64().filter(exact) {
                *value = (number as i64).into();
            }
        }
        Value::Object(fields) => fields.values_mut().for_each(whole_numbers),
        Value::Array(items) => items.iter_mut().for_each(whole_numbers),
        _ => {}
    }
}

/// Reads an object and collects the fields that its kind does not have.
pub(crate) fn shape(
    resource: &Resource,
    mut object: Value,
    unknown: &mut Vec<String>,
) -> Result<Value, String> {
    let schema = match &resource.shape {
        Shape::Struct(of) => {
            let mut object = types::read(object, of, unknown)?;
            (resource.complete)(&mut object);
            if let Some(rules) = resource.rules {
                rules.complete(&mut object);
            }
            return Ok(object);
        }
        Shape::Structural(schema) => schema,
    };
    let Some(fields) = object.as_object_mut() else {
        return Err("the object is no JSON object".to_owned());
    };
    let is_of_kind = fields.get("kind").is_none_or(|kind| kind == resource.kind.as_str());
    let (kind, version) = (fields.remove("kind"), fields.remove("apiVersion"));
    let metadata = fields.remove("metadata").unwrap_or(Value::Null);
    if !metadata.is_null() && !metadata.is_object() {
        return Err("metadata: Invalid value: must be of type object".to_owned());
    }
    let mut inner = Vec::new();
    let metadata = types::read(metadata, &META, &mut inner)?;
    inner.iter().for_each(|path| note(unknown, format_args!("metadata.{path}")));
    // An object of another kind is refused later; it has not the fields of this one.
    if is_of_kind {
        schema.prune(&mut object, &At::Root, unknown);
        schema.drop_nulls(&mut object);
        complete(schema, &mut object)?;
    }
    let parts = [("kind", kind), ("apiVersion", version), ("metadata", Some(metadata))];
    for (key, part) in parts {
        if let Some(part) = part {
            object[key] = part;
        }
    }
    Ok(object)
}

/// The object with its kind filled in; none if it lacks a required kind.
pub(crate) fn kind(resource: &Resource, mut object: Value, bytes: &[u8]) -> Outcome<Option<Value>> {
    if !object.is_object() && !object.is_null() {
        let found = type_name(&object);
        let why = format!(
            "couldn't get version/kind; json parse error: json: cannot unmarshal {found} into Go value of type struct {{ APIVersion string \"json:\\\"apiVersion,omitempty\\\"\"; Kind string \"json:\\\"kind,omitempty\\\"\" }}"
        );
        return Err(unrecognized(resource, &why, bytes));
    }
    let part = |key: &str| match &object[key] {
        Value::Null => Ok(String::new()),
        Value::String(text) => Ok(text.clone()),
        _ => {
            let why = "couldn't get version/kind; json parse error: json: cannot unmarshal";
            Err(unrecognized(resource, why, bytes))
        }
    };
    let (kind, version) = (part("kind")?, part("apiVersion")?);
    let expected = resource.api_version();
    if resource.is_custom {
        if kind.is_empty() || object.is_null() {
            return Ok(None);
        }
        if version != expected {
            return Err(Failure::bad_request(format!(
                "the API version in the data ({version}) does not match the expected API version ({expected})"
            )));
        }
        return Ok(Some(object));
    }
    let wrong = |kind: &str, version: &str| {
        let short = version.rsplit('/').next().unwrap_or("");
        Failure::bad_request(format!(
            "{kind} in version {short:?} cannot be handled as a {}: no kind {kind:?} is registered for version {version:?} in scheme \"pkg/api/legacyscheme/scheme.go:30\"",
            resource.kind
        ))
    };
    if object.is_null() {
        object = Value::Object(serde_json::Map::new());
    }
    if (!kind.is_empty() && kind != resource.kind) || (!version.is_empty() && version != expected) {
        let version = if version.is_empty() { &expected } else { &version };
        return Err(wrong(if kind.is_empty() { &resource.kind } else { &kind }, version));
    }
    object["kind"] = resource.kind.as_str().into();
    object["apiVersion"] = expected.into();
    Ok(Some(object))
}

/// Stands in errors for the content of a secret.
pub(crate) const REDACTED: &str = "<secret contents redacted>";

/// A text that an error quotes, unless it may hold a secret.
pub(crate) fn shown(resource: &Resource, text: impl Display) -> String {
    if resource.is_secret() { REDACTED.to_owned() } else { short(text) }
}

fn missing_kind(resource: &Resource, bytes: &[u8]) -> Box<Failure> {
    let text = shown(resource, String::from_utf8_lossy(bytes));
    unrecognized(resource, &format!("Object 'Kind' is missing in '{text}'"), bytes)
}

fn unrecognized(resource: &Resource, why: &str, bytes: &[u8]) -> Box<Failure> {
    let text = String::from_utf8_lossy(bytes);
    let shown = match bytes {
        [] => "<empty>".to_owned(),
        _ if resource.is_secret() => REDACTED.to_owned(),
        [b'{', ..] if text.chars().count() > 30 => {
            format!("{} ...", text.chars().take(30).collect::<String>())
        }
        [b'{', ..] => text.into_owned(),
        bytes => bytes.iter().take(30).map(|byte| format!("{byte:02x}")).collect(),
    };
    Failure::bad_request(format!(
        "the object provided is unrecognized (must be of type {}): {why} ({shown})",
        resource.kind
    ))
}

pub(crate) fn cannot(resource: &Resource, why: &str) -> Box<Failure> {
    // A reader of protobuf also says where.
    if why.ends_with(json::TOO_MUCH) {
        return Failure::too_much(json::TOO_MUCH);
    }
    let (kind, version) = (&resource.kind, &resource.version);
    Failure::bad_request(format!(
        "{kind} in version {version:?} cannot be handled as a {kind}: {why}"
    ))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use serde_json::{Value, json};

    use crate::apiserver::{Answer, Options, Request, Server};

    const PODS: &str = "/api/v1/namespaces/default/pods";

    fn status(request: &Request) -> u16 {
        match Server::new(&Options::default()).handle(Duration::ZERO, request) {
            Answer::Response(response) => response.status,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn objects_with_many_small_parts_are_read() {
        let blocks = (0..10_000)
            .map(|n| json!({"ipBlock": {"cidr": format!("10.{}.{}.0/24", n / 256, n % 256)}}));
        let blocks: Vec<Value> = blocks.collect();
        let policy = json!({"apiVersion": "networking.k8s.io/v1", "kind": "NetworkPolicy",
            "metadata": {"name": "a"},
            "spec": {"podSelector": {}, "ingress": [{"from": blocks}]}});
        let networking = "/apis/networking.k8s.io/v1/namespaces/default";
        let path = format!("{networking}/networkpolicies");
        assert_eq!(status(&Request::new("POST", &path).json(&policy)), 201);

        let rules = (0..5_000).map(|n| {
            let service = json!({"name": "a", "port": {"number": 80}});
            let path = json!({"path": "/", "pathType": "Prefix", "backend": {"service": service}});
            json!({"host": format!("h{n}.example.com"), "http": {"paths": [path]}})
        });
        let rules: Vec<Value> = rules.collect();
        let ingress = json!({"apiVersion": "networking.k8s.io/v1", "kind": "Ingress",
            "metadata": {"name": "a"}, "spec": {"rules": rules}});
        let path = format!("{networking}/ingresses");
        assert_eq!(status(&Request::new("POST", &path).json(&ingress)), 201);
    }

    #[test]
    fn what_would_be_filled_beyond_all_bounds_is_too_large() {
        let post = || Request::new("POST", PODS);
        let apply = || Request::new("PATCH", &format!("{PODS}/a?fieldManager=m"));
        for (list, one, request, format) in [
            ("containers", "{}", post(), "json"),
            ("containers", "null", post(), "json"),
            ("tolerations", "{}", apply(), "apply-patch+yaml"),
        ] {
            let many = vec![one; 100_000].join(",");
            let body = format!(
                r#"{{"apiVersion":"v1","kind":"Pod","metadata":{{"name":"a"}},"spec":{{"{list}":[{many}]}}}}"#
            );
            let request = request.content(&format!("application/{format}"), body);
            assert_eq!(status(&request), 413, "{list}, {one}");
        }
    }
}
