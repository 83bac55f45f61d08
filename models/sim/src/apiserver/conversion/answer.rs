//! What a webhook has made of the objects of a question.

use serde_json::{Map, Value};

use super::super::admission::{WebhookCall, WebhookReply, refused, values};
use super::super::bounds::{go_type_of, type_of};
use super::super::cause::Causes;
use super::super::metadata::{self, text};
use super::TIMEOUT;
use crate::short::short;

/// An object in the wanted version, or why there is none.
pub(in super::super) type Converted = Result<Value, String>;

/// The failure of a whole call, as it is told about one of its objects.
pub(super) fn failed(object: &Value, why: &str) -> String {
    match why.strip_prefix(" returned ") {
        Some(_) => format!("conversion webhook for {}{why}", kind(object)),
        None => format!("conversion webhook for {} failed: {why}", kind(object)),
    }
}

/// The version and the kind of an object, as messages name them.
fn kind(object: &Value) -> String {
    let part = |field: &str| short(object[field].as_str().unwrap_or(""));
    format!("{}, Kind={}", part("apiVersion"), part("kind"))
}

/// Why nothing came back.
pub(super) fn unreached(url: &str, reply: &WebhookReply) -> String {
    let why = match reply {
        WebhookReply::Failed(why) if why == "context deadline exceeded" => {
            "net/http: request canceled (Client.Timeout exceeded while awaiting headers)"
        }
        WebhookReply::Failed(why) => why,
        WebhookReply::Answered { .. } => "",
    };
    format!("Post {url:?}: {why}")
}

/// Reads an answer: what it says about each object, or why all of it is worth nothing.
pub(super) fn read(
    call: &WebhookCall,
    reply: &WebhookReply,
    objects: &[Value],
) -> Result<Vec<Converted>, String> {
    let body = match reply {
        WebhookReply::Answered { status: 200..=299, body } => body,
        WebhookReply::Answered { status, body } => {
            // A text is shown, where an object has to be a status.
            let text = std::str::from_utf8(body).map_or("", str::trim);
            let is_text = *status >= 500 && !text.is_empty() && !text.starts_with('{');
            let told = refused(*status, body);
            return Err(if is_text { told.replace("unknown", &short(text)) } else { told });
        }
        failed @ WebhookReply::Failed(_) => return Err(unreached(&call.to.url(TIMEOUT), failed)),
    };
    if body.is_empty() {
        let why = "0-length response with status code: 200 and content type: application/json";
        return Err(why.to_owned());
    }
    let answer = values(body).ok_or("couldn't get version/kind; json parse error: invalid JSON")?;
    let part = |value: &Value| short(value.as_str().unwrap_or(""));
    let (version, of) = (part(&answer["apiVersion"]), part(&answer["kind"]));
    if of != "ConversionReview" {
        return Err(format!(
            "no kind {of:?} is registered for version {version:?} in scheme \"pkg/runtime/scheme.go:111\""
        ));
    }
    if answer["apiVersion"] != call.review["apiVersion"] {
        let last = |it: &str| it.rsplit('/').next().unwrap_or("").to_owned();
        let (own, wanted) = (last(&version), last(&part(&call.review["apiVersion"])));
        return Err(format!(
            "converting ({own}.ConversionReview) to ({wanted}.ConversionReview): unknown conversion"
        ));
    }
    let response = &answer["response"];
    if !response.is_object() {
        return Err("no response provided".to_owned());
    }
    let (uid, found) = (&call.review["request"]["uid"], part(&response["uid"]));
    if version == "apiextensions.k8s.io/v1" && *uid != found.as_str() {
        return Err(format!("expected response.uid={uid}, got {found:?}"));
    }
    let result = &response["result"];
    if result["status"] != "Success" {
        return Err(match part(&result["message"]) {
            message if message.is_empty() => {
                let status = part(&result["status"]);
                format!("response.result.status was '{status}', not 'Success'")
            }
            message => message,
        });
    }
    let converted = response["convertedObjects"].as_array().map_or(&[][..], Vec::as_slice);
    if converted.len() != objects.len() {
        let (found, expected) = (converted.len(), objects.len());
        return Err(format!(" returned {found} objects, expected {expected}"));
    }
    let wanted = call.review["request"]["desiredAPIVersion"].as_str().unwrap_or("");
    let pairs = objects.iter().zip(converted).enumerate();
    Ok(pairs.map(|(index, (old, new))| one(old, new, (index, wanted))).collect())
}

/// Looks at one object. Its metadata is that of the old one, but for labels and annotations.
fn one(old: &Value, new: &Value, (index, wanted): (usize, &str)) -> Converted {
    if !new.is_object() {
        let of = type_of(new);
        return Err(format!(
            "json: cannot unmarshal {of} into Go value of type map[string]interface {{}}"
        ));
    }
    let part = |field: &str| new[field].as_str().unwrap_or("");
    if part("kind").is_empty() {
        return Err(format!("Object 'Kind' is missing in '{}'", short(new)));
    }
    let invalid =
        |why: &str| format!("conversion webhook for {} returned invalid {why}", kind(old));
    let at = |why: String| invalid(&format!("object at index {index}: {why}"));
    if part("apiVersion") != wanted {
        let found = short(part("apiVersion"));
        return Err(at(format!("invalid groupVersion (expected {wanted}, received {found})")));
    }
    if new["kind"] != old["kind"] {
        let (expected, found) = (old["kind"].as_str().unwrap_or(""), short(part("kind")));
        return Err(at(format!("invalid kind (expected {expected}, received {found})")));
    }
    for (field, name) in [("name", "name"), ("namespace", "namespace"), ("uid", "UID")] {
        let (own, found) = (text(old, field), text(new, field));
        if own != found {
            let found = short(found);
            return Err(invalid(&format!("object: must have the same {name}: {own} != {found}")));
        }
    }
    let mut metadata = old["metadata"].clone();
    for field in ["labels", "annotations"] {
        let value = &new["metadata"][field];
        check_texts(field, value).map_err(|why| invalid(&format!("metadata: {why}")))?;
        match (value.is_null(), metadata.as_object_mut()) {
            (true, Some(metadata)) => drop(metadata.remove(field)),
            _ => metadata[field] = value.clone(),
        }
    }
    let mut causes = Causes::default();
    metadata::common(&metadata, &mut causes);
    let mut wrong =
        causes.iter().filter(|it| it.field.contains("labels") || it.field.contains("annotations"));
    let wrong: Vec<String> = wrong
        .by_ref()
        .map(|it| format!("{}: {}", it.field.replace("annotations", "annotation"), it.message))
        .collect();
    match &wrong[..] {
        [] => {}
        [only] => return Err(invalid(&format!("metadata: {only}"))),
        many => return Err(invalid(&format!("metadata: [{}]", many.join(", ")))),
    }
    let mut made = new.clone();
    made["metadata"] = metadata;
    Ok(made)
}

/// Labels and annotations are texts.
fn check_texts(field: &str, value: &Value) -> Result<(), String> {
    let none = Map::new();
    let entries = match value {
        Value::Null => &none,
        Value::Object(entries) => entries,
        other => {
            let of = go_type_of(other);
            return Err(format!("invalid metadata.{field} of type {of} in converted object"));
        }
    };
    match entries.iter().find(|(_, it)| !it.is_string()) {
        None => Ok(()),
        Some((key, it)) => {
            let (key, of) = (short(key), go_type_of(it));
            Err(format!(
                "metadata.{field}[{key}] must be a string, but is {of} in converted object"
            ))
        }
    }
}
