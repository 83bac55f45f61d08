//! Webhooks: one is down at the wrong moment, and one that converts loses a field.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures::StreamExt as _;
use k8s_openapi::api::core::v1::ConfigMap;
use kube::api::{Api, DynamicObject, Patch, PatchParams};
use kube::core::{ApiResource, GroupVersionKind};
use kube::runtime::{WatchStreamExt as _, watcher};
use kube::{Client, ResourceExt as _};
use seatrial_sim::simulation::{Connection, Simulation};
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

/// Asks a webhook about new maps.
fn asking(policy: &str, selector: Value) -> Value {
    let hook = json!({
        "name": "maps.example.com", "sideEffects": "None", "admissionReviewVersions": ["v1"],
        "clientConfig": {"url": "https://judge.example.com/maps"},
        "objectSelector": selector, "failurePolicy": policy,
        "rules": [{"operations": ["CREATE"], "apiGroups": [""], "apiVersions": ["v1"], "resources": ["configmaps"]}],
    });
    json!({
        "apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingWebhookConfiguration",
        "metadata": {"name": "judge"}, "webhooks": [hook],
    })
}

fn allowed(review: &Value) -> Value {
    let response = json!({"uid": review["request"]["uid"], "allowed": true});
    json!({"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "response": response})
}

fn judged(is_repaired: bool) -> Simulation {
    judging(json!({"matchLabels": {"child": "yes"}}), is_repaired)
}

fn judging(selector: Value, is_repaired: bool) -> Simulation {
    on_kube(move |client| children(client, is_repaired))
        .given(&asking("Fail", selector))
        .webhook("judge.example.com", allowed)
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

#[test]
fn a_webhook_has_no_time_to_be_slow_where_the_user_is_answered_at_once() {
    let slow = |seconds: u32| {
        let plan = format!("webhook_slow(maps.example.com,1,{seconds})");
        judging(json!({}), true).replay(&plan).try_check()
    };
    slow(45).expect("the user tries again");
    let failure = slow(5).expect_err("it does not strike");
    assert!(failure.violations[0].text[0].contains("strikes nothing"), "{failure}");
}

/// A webhook that asks who the controller is, and panics.
#[test]
fn a_webhook_may_look_at_the_world_and_its_panic_is_not_one_of_the_controller() {
    let connections: Arc<Mutex<Option<Connection>>> = Arc::default();
    let known = connections.clone();
    let simulation = Simulation::of(move |connection| {
        *known.lock().expect("nobody panics here") = Some(connection.clone());
        children(Client::new(connection, "default"), true)
    });
    let simulation = simulation
        .given(&asking("Ignore", json!({})))
        .webhook("judge.example.com", move |_| {
            let connection = connections.lock().expect("nobody panics here").clone();
            let who = connection.map(|it| it.identity());
            panic!("{who:?} asks too much")
        })
        .create(&config_map("one", &[]));
    let report = simulation.random(0, 1).check();
    // A request goes on without this webhook: it is not struck, and that is told.
    assert!(report.treated.iter().any(|it| it.contains("maps.example.com")), "{report}");
}

/// Looks at a map again and again.
async fn looks(client: Client) {
    let maps: Api<ConfigMap> = Api::default_namespaced(client);
    loop {
        drop(maps.get_opt("one").await);
        tokio::time::sleep(Duration::from_secs(3)).await;
    }
}

#[test]
fn an_answer_that_is_lost_is_that_of_the_write_that_waits_for_a_webhook() {
    let simulation = Simulation::system()
        .process("a", |it| children(Client::new(it, "default"), true))
        .process("b", |it| looks(Client::new(it, "default")))
        .given(&asking("Fail", json!({"matchLabels": {"child": "yes"}})))
        .webhook("judge.example.com", allowed)
        .create(&config_map("one", &[]));
    let picture = simulation.draw("lost(a,1) webhook_slow(maps.example.com,1,8)");
    let lost = picture.lines().filter(|it| it.contains("no answer"));
    let lost: Vec<_> = lost.collect();
    assert!(lost.len() == 1 && lost[0].contains("create configmaps"), "{picture}");
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
