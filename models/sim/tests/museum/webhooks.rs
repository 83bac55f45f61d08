//! Webhooks: one is down at the wrong moment, and one that converts loses a field.

use std::time::Duration;

use futures::StreamExt as _;
use k8s_openapi::api::core::v1::ConfigMap;
use kube::api::{Api, DynamicObject, Patch, PatchParams};
use kube::core::{ApiResource, GroupVersionKind};
use kube::runtime::{WatchStreamExt as _, watcher};
use kube::{Client, ResourceExt as _};
use seatrial_sim::simulation::Simulation;
use serde_json::{Value, json};

use super::on_kube::on_kube;
use super::{config_map, convict, ensure};

/// Makes a child for each map. The bug: a child that was refused once is not tried again.
async fn children(client: Client, is_repaired: bool) {
    let maps: Api<ConfigMap> = Api::default_namespaced(client);
    let config = watcher::Config::default().labels("!child");
    let mut parents = watcher(maps.clone(), config).default_backoff().applied_objects().boxed();
    while let Some(parent) = parents.next().await {
        let Ok(parent) = parent else { continue };
        let mut child = config_map(&format!("{}-child", parent.name_any()), &[("a", "b")]);
        child.metadata.labels = Some([("child".to_owned(), "yes".to_owned())].into());
        while ensure(&maps, &child).await.is_err() && is_repaired {
            tokio::time::sleep(Duration::from_secs(5)).await;
        }
    }
}

fn judged(is_repaired: bool) -> Simulation {
    let hook = json!({
        "name": "maps.example.com", "sideEffects": "None", "admissionReviewVersions": ["v1"],
        "clientConfig": {"url": "https://judge.example.com/maps"},
        "objectSelector": {"matchLabels": {"child": "yes"}},
        "rules": [{"operations": ["CREATE"], "apiGroups": [""], "apiVersions": ["v1"], "resources": ["configmaps"]}],
    });
    let configuration = json!({
        "apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingWebhookConfiguration",
        "metadata": {"name": "judge"}, "webhooks": [hook],
    });
    on_kube(move |client| children(client, is_repaired))
        .given(&configuration)
        .webhook("judge.example.com", |review| {
            let response = json!({"uid": review["request"]["uid"], "allowed": true});
            json!({"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "response": response})
        })
        .create(&config_map("one", &[]))
        .create(&config_map("two", &[]))
}

#[test]
fn a_controller_that_gives_up_when_its_webhook_is_down_is_convicted() {
    let test = "webhooks::a_controller_that_gives_up_when_its_webhook_is_down_is_convicted";
    let failure = convict(test, || judged(false), "webhook_down(maps.example.com,1,");
    assert_eq!(failure.violations[0].text[0], "- configmaps default/one-child is missing");
    judged(true).check();
}

#[test]
fn a_webhook_that_is_late_or_slow_fails_the_request_or_not() {
    let late = judged(true).replay("webhook_slow(maps.example.com,2,45)").check();
    assert_eq!(late.plans, 1);
    let draw = |plan: &str| judged(false).draw(plan);
    assert!(draw("webhook_slow(maps.example.com,1,45)").contains("-> 500"));
    assert!(!draw("webhook_slow(maps.example.com,1,5)").contains("-> 500"));
}

/// The definition of widgets: the size lies elsewhere in v2.
fn definition() -> Value {
    let version = |name: &str, spec: Value| {
        json!({"name": name, "served": true, "storage": name == "v1", "schema": {"openAPIV3Schema": {
            "type": "object", "properties": {"spec": {"type": "object", "properties": spec}},
        }}})
    };
    let (number, text) = (json!({"type": "integer"}), json!({"type": "string"}));
    json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": "widgets.example.com"},
        "spec": {
            "group": "example.com", "names": {"kind": "Widget", "plural": "widgets"},
            "scope": "Namespaced",
            "versions": [
                version("v1", json!({"size": number, "note": text})),
                version("v2", json!({"length": number, "note": text})),
            ],
            "conversion": {"strategy": "Webhook", "webhook": {
                "clientConfig": {"url": "https://convert.example.com/"}, "conversionReviewVersions": ["v1"],
            }},
        },
    })
}

/// The bug: towards v1 the note is lost.
fn converted(review: &Value, is_repaired: bool) -> Value {
    let wanted = &review["request"]["desiredAPIVersion"];
    let is_old = *wanted == "example.com/v1";
    let (from, to) = if is_old { ("length", "size") } else { ("size", "length") };
    let objects = review["request"]["objects"].as_array().into_iter().flatten();
    let objects = objects.map(|object| {
        let mut object = object.clone();
        object["apiVersion"] = wanted.clone();
        let spec = object["spec"].as_object_mut().expect("a specification");
        let size = spec.remove(from).unwrap_or_default();
        spec.insert(to.to_owned(), size);
        if is_old && !is_repaired {
            spec.remove("note");
        }
        object
    });
    let objects: Vec<Value> = objects.collect();
    json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "ConversionReview",
        "response": {
            "uid": review["request"]["uid"], "result": {"status": "Success"},
            "convertedObjects": objects,
        },
    })
}

/// Doubles the length of a widget, in the newer version, once.
async fn widgets(client: Client) {
    let kind = GroupVersionKind::gvk("example.com", "v2", "Widget");
    let resource = ApiResource::from_gvk(&kind);
    let widgets: Api<DynamicObject> = Api::default_namespaced_with(client, &resource);
    let config = watcher::Config::default();
    let events = watcher::watcher;
    let mut seen = events(widgets.clone(), config).default_backoff().applied_objects().boxed();
    while let Some(widget) = seen.next().await {
        let Ok(widget) = widget else { continue };
        if widget.data["spec"]["length"] != 1 {
            continue;
        }
        let patch = Patch::Merge(json!({"spec": {"length": 2}}));
        let params = PatchParams::default();
        while widgets.patch(&widget.name_any(), &params, &patch).await.is_err() {
            tokio::time::sleep(Duration::from_secs(20)).await;
        }
    }
}

fn sized(is_repaired: bool) -> Simulation {
    let widget = json!({"apiVersion": "example.com/v1", "kind": "Widget",
        "metadata": {"name": "a"}, "spec": {"size": 1, "note": "keep me"}});
    on_kube(widgets)
        .given(&definition())
        .webhook("convert.example.com", move |review| converted(review, is_repaired))
        .create(&widget)
        .step(|before, after| {
            let note = |state: &seatrial_sim::simulation::State| {
                let widget = state.get("widgets.example.com", "default/a");
                widget.map(|it| it["spec"]["note"].clone())
            };
            match (note(before), note(after)) {
                (Some(before), Some(after)) if before != after => {
                    Err(format!("{before} became {after}"))
                }
                _ => Ok(()),
            }
        })
}

#[test]
fn a_conversion_that_loses_a_field_is_found_and_one_that_does_not_holds() {
    let report = sized(true).random(5, 1).check();
    // The webhook that converts is struck, too.
    assert!(report.planned > 10, "{report:?}");
    let failure = *sized(false).try_check().expect_err("a field is lost");
    assert_eq!(failure.violations[0].text, ["\"keep me\" became null"]);
}
