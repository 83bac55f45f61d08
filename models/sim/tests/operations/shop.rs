//! A controller of shops: for each of them as many maps as it asks for, and a status. It has
//! one bug, or none.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use futures::StreamExt as _;
use kube::api::{Api, DeleteParams, DynamicObject, ListParams, Patch, PatchParams};
use kube::core::{ApiResource, GroupVersionKind};
use kube::runtime::{Controller, controller::Action, watcher};
use kube::{Client, Error};
use serde_json::{Map, Value, json};

/// A bug, as operators have them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Bug {
    None,
    /// The image is written when a map is made, and never again.
    NeverUpdated,
    /// A note that is no longer wanted stays.
    NeverRemoved,
    /// A key of the labels that is no longer wanted stays.
    KeysStay,
    /// Fewer are wanted, and all stay.
    NeverFewer,
    /// The same ports in another order are taken for the same.
    OrderUnseen,
    /// It does nothing for a shop that has failed once.
    StuckFailed,
    /// It expects that the memory is a number.
    Panics,
    /// It expects that, and that the server accepts its maps.
    PanicsTwice,
    /// It deletes a shop whose memory is no number, and panics then.
    DeletesAndPanics,
    /// It deletes such a shop, and asks for it ever after.
    DeletesAndAsks,
    /// It waits for the memory to become a number, and for nothing else.
    Waits,
    /// It tries again at once.
    HotLoop,
    /// It makes a map for each tag, and finds them by their place in the list.
    ByPlace,
    /// A shop without a colour makes it wait for the colour.
    NeedsOptional,
    /// It expects that the server accepts its maps.
    ExpectsFit,
    /// It makes all maps in one namespace.
    OneNamespace,
    /// It remembers by name what it has done.
    Forgets,
    /// It expects that seconds fit into 32 bits.
    Seconds32,
}

struct Context {
    client: Client,
    bug: Bug,
    /// The shops that are done, if it remembers them.
    done: Mutex<BTreeSet<String>>,
}

fn shops(client: &Client) -> (Api<DynamicObject>, ApiResource) {
    let resource = ApiResource::from_gvk(&GroupVersionKind::gvk("example.com", "v1", "Shop"));
    (Api::all_with(client.clone(), &resource), resource)
}

impl Context {
    fn maps(&self, namespace: &str) -> Api<DynamicObject> {
        let resource = ApiResource::from_gvk(&GroupVersionKind::gvk("", "v1", "ConfigMap"));
        let namespace = if self.bug == Bug::OneNamespace { "default" } else { namespace };
        Api::namespaced_with(self.client.clone(), namespace, &resource)
    }

    fn shops_in(&self, namespace: &str) -> Api<DynamicObject> {
        let resource = ApiResource::from_gvk(&GroupVersionKind::gvk("example.com", "v1", "Shop"));
        Api::namespaced_with(self.client.clone(), namespace, &resource)
    }
}

fn list(spec: &Value, name: &str) -> Vec<String> {
    let items = spec[name].as_array().into_iter().flatten();
    items.map(|it| it.as_str().map_or_else(|| it.to_string(), str::to_owned)).collect()
}

/// What a map of the shop holds.
fn wanted(spec: &Value) -> Map<String, Value> {
    let mut data = Map::new();
    for field in ["image", "colour", "note"] {
        if let Some(text) = spec[field].as_str() {
            data.insert(field.to_owned(), text.into());
        }
    }
    for (key, value) in spec["labels"].as_object().into_iter().flatten() {
        data.insert(format!("label-{key}"), value.clone());
    }
    data.insert("ports".to_owned(), list(spec, "ports").join(",").into());
    let storage = &spec["storage"];
    let storage = storage.as_str().map_or_else(|| storage.to_string(), str::to_owned);
    data.insert("storage".to_owned(), storage.into());
    data
}

async fn reconcile(shop: Arc<DynamicObject>, context: Arc<Context>) -> Result<Action, Error> {
    let bug = context.bug;
    let shop = serde_json::to_value(&*shop).expect("an object");
    let (metadata, spec) = (&shop["metadata"], &shop["spec"]);
    let text = |it: &Value| it.as_str().unwrap_or_default().to_owned();
    let (namespace, name) = (text(&metadata["namespace"]), text(&metadata["name"]));
    let shops = context.shops_in(&namespace);
    let say = async |status: Value| {
        let patch = Patch::Merge(json!({"status": status}));
        shops.patch_status(&name, &PatchParams::default(), &patch).await.map(drop)
    };
    if bug == Bug::StuckFailed && shop["status"]["phase"] == "Failed" {
        return Ok(Action::await_change());
    }
    if bug == Bug::NeedsOptional && spec["colour"].is_null() {
        return Ok(Action::await_change());
    }
    if bug == Bug::Forgets {
        let key = format!("{namespace}/{name} {spec}");
        if !context.done.lock().unwrap_or_else(PoisonError::into_inner).insert(key) {
            return Ok(Action::await_change());
        }
    }
    if bug == Bug::Seconds32 {
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
        u32::try_from(now.unwrap_or_default().as_secs()).expect("the time fits into 32 bits");
    }
    let memory = text(&spec["memory"]);
    if bug == Bug::DeletesAndPanics && memory.parse::<u32>().is_err() {
        shops.delete(&name, &DeleteParams::default()).await?;
        panic!("memory is no number");
    }
    if bug == Bug::DeletesAndAsks && memory.parse::<u32>().is_err() {
        shops.delete(&name, &DeleteParams::default()).await?;
        loop {
            drop(shops.get_opt(&name).await?);
            tokio::time::sleep(Duration::from_millis(150)).await;
        }
    }
    if matches!(bug, Bug::Panics | Bug::PanicsTwice) {
        memory.parse::<u32>().expect("memory is a number");
    }
    if memory.parse::<u32>().is_err() {
        say(json!({"phase": "Failed", "ready": null})).await?;
        match bug {
            Bug::Waits => loop {
                tokio::time::sleep(Duration::from_secs(5)).await;
                let now = shops.get(&name).await?;
                if text(&now.data["spec"]["memory"]).parse::<u32>().is_ok() {
                    return Ok(Action::requeue(Duration::ZERO));
                }
            },
            Bug::HotLoop => return Ok(Action::requeue(Duration::from_millis(150))),
            _ => return Ok(Action::await_change()),
        }
    }
    maps(&context, &shop, (&namespace, &name)).await?;
    say(json!({"phase": "Ready", "ready": spec["size"], "memory": memory})).await?;
    Ok(Action::await_change())
}

/// Makes, changes and deletes the maps of a shop.
async fn maps(context: &Context, shop: &Value, place: (&str, &str)) -> Result<(), Error> {
    let ((namespace, name), spec, bug) = (place, &shop["spec"], context.bug);
    let maps = context.maps(namespace);
    let size = spec["size"].as_u64().unwrap_or(0);
    let mut all: Vec<(String, Map<String, Value>)> =
        (0..size).map(|index| (format!("{name}-{index}"), wanted(spec))).collect();
    let mut tags = list(spec, "tags");
    tags.sort();
    if bug == Bug::ByPlace {
        tags = list(spec, "tags");
    }
    for (index, tag) in tags.iter().enumerate() {
        let id = if bug == Bug::ByPlace { index.to_string() } else { tag.clone() };
        let data = Map::from_iter([("tag".to_owned(), Value::from(tag.as_str()))]);
        all.push((format!("{name}-tag-{id}"), data));
    }
    let found = maps.list(&ListParams::default().labels(&format!("shop={name}"))).await;
    let expects_fit = matches!(bug, Bug::ExpectsFit | Bug::PanicsTwice);
    let found = if expects_fit { found.expect("a list") } else { found? };
    for (child, mut data) in all.clone() {
        let old = found.items.iter().find(|it| it.metadata.name.as_ref() == Some(&child));
        let old = old.map(|it| it.data["data"].clone()).unwrap_or_default();
        let is_there = !old.is_null();
        if bug == Bug::ByPlace && is_there && child.contains("-tag-") {
            continue;
        }
        if is_there && bug == Bug::NeverUpdated && !old["image"].is_null() {
            data.insert("image".to_owned(), old["image"].clone());
        }
        if bug == Bug::NeverRemoved && data.get("note").is_none() && !old["note"].is_null() {
            data.insert("note".to_owned(), old["note"].clone());
        }
        if bug == Bug::KeysStay {
            for (key, value) in old.as_object().into_iter().flatten() {
                if key.starts_with("label-") {
                    data.entry(key.clone()).or_insert_with(|| value.clone());
                }
            }
        }
        if bug == Bug::OrderUnseen
            && let Some(ports) = data.get_mut("ports")
            && is_same(&old["ports"], ports)
        {
            *ports = old["ports"].clone();
        }
        let owner = json!({
            "apiVersion": "example.com/v1", "kind": "Shop", "name": name,
            "uid": shop["metadata"]["uid"], "controller": true,
        });
        let object = json!({
            "apiVersion": "v1", "kind": "ConfigMap", "data": data,
            "metadata": {"name": child, "labels": {"shop": name}, "ownerReferences": [owner]},
        });
        let params = PatchParams::apply("shops").force();
        maps.patch(&child, &params, &Patch::Apply(object)).await?;
    }
    for child in found.items.iter().filter_map(|it| it.metadata.name.clone()) {
        let stays = bug == Bug::NeverFewer && !child.contains("-tag-");
        if !stays && !all.iter().any(|it| it.0 == child) {
            maps.delete(&child, &DeleteParams::default()).await?;
        }
    }
    Ok(())
}

fn is_same(one: &Value, other: &Value) -> bool {
    let sorted = |value: &Value| {
        let mut all: Vec<_> =
            value.as_str().unwrap_or_default().split(',').map(str::to_owned).collect();
        all.sort();
        all
    };
    sorted(one) == sorted(other)
}

/// Runs the controller, as a `main` would.
pub(crate) async fn run(client: Client, bug: Bug) {
    let (api, resource) = shops(&client);
    let config = match bug {
        Bug::Waits => kube::runtime::controller::Config::default().concurrency(1),
        _ => kube::runtime::controller::Config::default(),
    };
    let controller = Controller::new_with(api, watcher::Config::default(), resource);
    let again =
        |_: Arc<DynamicObject>, _: &Error, _: Arc<Context>| Action::requeue(Duration::from_secs(5));
    let context = Arc::new(Context { client, bug, done: Mutex::default() });
    let run = controller.with_config(config).run(reconcile, again, context);
    run.for_each(|_| async {}).await;
}

/// The definition of shops.
pub(crate) fn definition() -> Value {
    let names = json!({"kind": "Shop", "plural": "shops", "singular": "shop"});
    let spec = json!({
        "type": "object",
        "required": ["size", "image", "memory"],
        "properties": {
            "size": {"type": "integer", "minimum": 0, "maximum": 4},
            "image": {"type": "string"},
            "memory": {"type": "string"},
            "colour": {"type": "string", "enum": ["red", "green", "blue"]},
            "note": {"type": "string"},
            "ports": {"type": "array", "items": {"type": "integer", "minimum": 1, "maximum": 9}},
            "tags": {
                "type": "array", "x-kubernetes-list-type": "set",
                "items": {"type": "string", "enum": ["new", "old", "open"]},
            },
            "labels": {"type": "object", "additionalProperties": {"type": "string", "enum": ["x", "y"]}},
            "storage": {"x-kubernetes-int-or-string": true, "anyOf": [{"type": "integer"}, {"type": "string"}]},
            "unused": {"type": "boolean"},
        },
    });
    let status = json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true});
    let schema = json!({"type": "object", "properties": {"spec": spec, "status": status}});
    let version = json!({
        "name": "v1", "served": true, "storage": true, "subresources": {"status": {}},
        "schema": {"openAPIV3Schema": schema},
    });
    json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": "shops.example.com"},
        "spec": {
            "group": "example.com", "names": names, "scope": "Namespaced", "versions": [version],
        },
    })
}

/// A valid shop.
pub(crate) fn shop() -> Value {
    json!({
        "apiVersion": "example.com/v1", "kind": "Shop", "metadata": {"name": "a"},
        "spec": {
            "size": 2, "image": "shop:1", "memory": "64", "colour": "red", "note": "n1",
            "ports": [1, 2], "tags": ["new", "old"], "labels": {"k": "x"}, "storage": "1Gi",
        },
    })
}
