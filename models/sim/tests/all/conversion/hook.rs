//! A webhook that converts widgets, and makes one of many mistakes.

use seatrial_sim::apiserver::{WebhookCall, WebhookReply};
use serde_json::{Value, json};

/// What a webhook answers that makes this mistake; `refuses@v1` makes it towards v1 alone.
pub(crate) fn answer(mode: &str, call: &WebhookCall) -> WebhookReply {
    let request = &call.review["request"];
    let wanted = request["desiredAPIVersion"].as_str().expect("a version");
    let (mode, only) = mode.split_once('@').unwrap_or((mode, ""));
    let mode = if only.is_empty() || wanted.ends_with(only) { mode } else { "ok" };
    let answered = |status: u16, body: &str| WebhookReply::Answered { status, body: body.into() };
    match mode {
        "http500" => answered(500, "broken"),
        "http404" => answered(404, "nothing"),
        "status503" => answered(
            503,
            r#"{"kind":"Status","apiVersion":"v1","status":"Failure","message":"not now","code":503}"#,
        ),
        "nojson" => answered(200, "hello"),
        "empty" => answered(200, ""),
        "hangup" => WebhookReply::Failed("EOF".to_owned()),
        "slow" => WebhookReply::late(),
        "down" => WebhookReply::Failed("dial tcp HOST: connect: connection refused".to_owned()),
        "certificate" => WebhookReply::Failed(
            "tls: failed to verify certificate: x509: certificate signed by unknown authority"
                .to_owned(),
        ),
        _ => WebhookReply::review(&review(mode, &call.review)),
    }
}

/// The review that is returned.
pub(crate) fn review(mode: &str, asked: &Value) -> Value {
    let request = &asked["request"];
    let wanted = request["desiredAPIVersion"].as_str().expect("a version");
    let sent = request["objects"].as_array().expect("objects");
    let mut objects: Vec<Value> = sent.iter().map(|it| converted(it, wanted)).collect();
    objects.iter_mut().for_each(|it| spoil(mode, it));
    let mut response = json!({
        "uid": request["uid"], "result": {"status": "Success"}, "convertedObjects": objects,
    });
    match mode {
        "wronguid" => response["uid"] = "another".into(),
        "nouid" => response["uid"] = Value::Null,
        "refuses" => response["result"] = json!({"status": "Failure", "message": "no way"}),
        "refusesmute" => response["result"] = json!({"status": "Failure"}),
        "noresult" => response["result"] = Value::Null,
        "fewer" => response["convertedObjects"] = objects[1..].into(),
        "more" => response["convertedObjects"] = [&objects[..], &objects[..1]].concat().into(),
        "none" => response["convertedObjects"] = Value::Null,
        "sameversion" => response["convertedObjects"] = request["objects"].clone(),
        _ => {}
    }
    let mut review = json!({
        "apiVersion": asked["apiVersion"], "kind": "ConversionReview", "response": response,
    });
    match mode {
        "noresponse" => review["response"] = Value::Null,
        "wrongkind" => review["kind"] = "AdmissionReview".into(),
        "wrongreview" => review["apiVersion"] = "apiextensions.k8s.io/v1beta1".into(),
        _ => {}
    }
    review
}

/// The size of a widget is in `dims` in v2.
pub(crate) fn converted(object: &Value, wanted: &str) -> Value {
    let mut object = object.clone();
    if object["apiVersion"] == wanted {
        return object;
    }
    object["apiVersion"] = wanted.into();
    let Some(spec) = object.get_mut("spec").and_then(Value::as_object_mut) else { return object };
    if wanted.ends_with("v2") {
        if let Some(size) = spec.remove("size") {
            spec.insert("dims".to_owned(), json!({"size": size}));
        }
    } else if let Some(size) = spec.remove("dims").and_then(|it| it.get("size").cloned()) {
        spec.insert("size".to_owned(), size);
    }
    object
}

fn spoil(mode: &str, object: &mut Value) {
    let version = object["apiVersion"].as_str().expect("a version").to_owned();
    let metadata = &mut object["metadata"];
    match mode {
        "name" | "namespace" | "uid" => metadata[mode] = "other".into(),
        "finalizers" => metadata["finalizers"] = json!(["a.b/c"]),
        "generation" => metadata["generation"] = 77.into(),
        "created" => metadata["creationTimestamp"] = "2020-01-01T00:00:00Z".into(),
        "version" => metadata["resourceVersion"] = "77".into(),
        "managers" => metadata["managedFields"] = Value::Null,
        "metafield" => metadata["strange"] = "x".into(),
        "labels" => {
            metadata["labels"] = json!({"from": "hook"});
            metadata["annotations"] = json!({"from": "hook"});
        }
        "badlabels" => metadata["labels"] = json!({"from": 5}),
        "badlabelname" => metadata["labels"] = json!({"-a-": "x y"}),
        "badannotation" => metadata["annotations"] = json!({"-a-": "x y"}),
        "nometadata" => *metadata = Value::Null,
        "textmetadata" => *metadata = "x".into(),
        "otherversion" => {
            object["apiVersion"] = version.replace("/v1", "/v9").replace("/v2", "/v9").into();
        }
        "otherkind" => object["kind"] = "Gadget".into(),
        "nokind" => object["kind"] = Value::Null,
        "textobject" => *object = "x".into(),
        "unknown" => {
            object["spec"]["other"] = 1.into();
            object["top"] = 2.into();
        }
        "illtyped" => object["spec"] = json!({"dims": {"size": "big"}, "size": "big"}),
        "drop" => drop(object["spec"].as_object_mut().and_then(|it| it.remove("note"))),
        _ => {}
    }
}
