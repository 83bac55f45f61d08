//! What a status says is observed was acted on; and a controller that has reasons not to act says so.

use std::time::Duration;

use kube::api::{Api, DynamicObject, ListParams, Patch, PatchParams};
use kube::core::{ApiResource, GroupVersionKind};
use kube::{Client, ResourceExt as _};
use seatrial_sim::simulation::Simulation;
use serde_json::{Value, json};
use tokio::time::sleep;

use crate::failure;
use crate::on_kube::on_kube;

/// How a controller treats a volume that is there when another size is wanted.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Way {
    /// It is changed.
    Changes,
    /// It stays, and the status says that it is ready.
    Leaves,
    /// It stays, since a volume never shrinks, and the status says so.
    Says,
    /// There is one for each size, and the old ones are kept.
    Keeps,
    /// One that is paused leaves all as it is, and the status says so.
    Pauses,
    /// Of one that is suspended no new volumes are made, and the old one is kept as it is to be.
    Suspends,
    /// Only the name of the object matters, and the specification has nothing to do with it.
    Ignores,
}

fn definition() -> Value {
    let open = json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true});
    let schema = json!({"type": "object", "properties": {"spec": open, "status": open}});
    json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": "disks.t.example"},
        "spec": {"group": "t.example", "scope": "Namespaced",
            "names": {"plural": "disks", "kind": "Disk", "singular": "disk"},
            "versions": [{"name": "v1", "served": true, "storage": true,
                "subresources": {"status": {}}, "schema": {"openAPIV3Schema": schema}}]},
    })
}

/// For each disk a map that stands for the volume.
async fn provides(client: Client, way: Way) {
    let kind = ApiResource::from_gvk(&GroupVersionKind::gvk("t.example", "v1", "Disk"));
    let disks: Api<DynamicObject> = Api::default_namespaced_with(client.clone(), &kind);
    let kind = ApiResource::from_gvk(&GroupVersionKind::gvk("", "v1", "ConfigMap"));
    let maps: Api<DynamicObject> = Api::default_namespaced_with(client, &kind);
    loop {
        for disk in disks.list(&ListParams::default()).await.into_iter().flat_map(|it| it.items) {
            drop(provide(&disks, &maps, &disk, way).await);
        }
        sleep(Duration::from_secs(20)).await;
    }
}

async fn provide(
    disks: &Api<DynamicObject>,
    maps: &Api<DynamicObject>,
    disk: &DynamicObject,
    way: Way,
) -> Result<(), kube::Error> {
    let size = disk.data["spec"]["size"].to_string();
    let name = match way {
        Way::Keeps => format!("{}-{size}", disk.name_any()),
        _ => disk.name_any(),
    };
    let is_paused = disk.data["spec"]["paused"] == true;
    let there = maps.get_opt(&name).await?.map(|it| it.data["data"]["size"].clone());
    let is_wanted = match way {
        Way::Changes => true,
        Way::Pauses => !is_paused,
        Way::Suspends => there.is_some() || !is_paused,
        _ => there.is_none(),
    };
    if is_wanted {
        let data = if way == Way::Ignores { json!({}) } else { json!({"size": size}) };
        let owner = json!({"apiVersion": "t.example/v1", "kind": "Disk", "name": disk.name_any(),
            "uid": disk.metadata.uid, "controller": true});
        let map = json!({"apiVersion": "v1", "kind": "ConfigMap", "data": data,
            "metadata": {"name": name, "ownerReferences": [owner]}});
        let params = PatchParams::apply("disks").force();
        maps.patch(&name, &params, &Patch::Apply(map)).await?;
    }
    let fits = there.is_none_or(|it| it == size.as_str());
    let phase = match way {
        Way::Says if !fits => "Unchanged",
        Way::Pauses | Way::Suspends if is_paused => "Paused",
        _ => "Ready",
    };
    let status = json!({"observedGeneration": disk.metadata.generation, "phase": phase});
    if disk.data["status"] != status {
        let patch = Patch::Merge(json!({"status": status}));
        disks.patch_status(&disk.name_any(), &PatchParams::default(), &patch).await?;
    }
    Ok(())
}

fn simulation(way: Way) -> Simulation {
    let disk = json!({"apiVersion": "t.example/v1", "kind": "Disk", "metadata": {"name": "a"},
        "spec": {"size": 2}});
    on_kube(move |client| provides(client, way)).given(&definition()).create(&disk)
}

#[test]
fn a_generation_that_is_observed_and_not_acted_on_is_convicted() {
    let changed = simulation(Way::Leaves).patch("Disk", "a", json!({"spec": {"size": 1}}));
    let failed = failure(changed.patch("Disk", "a", json!({"metadata": {"labels": {"x": "y"}}})));
    assert_eq!(failed.plan.to_string(), "", "{failed}");
    let text = failed.violations[0].text.join("\n");
    assert!(text.contains("after `patch Disk a`") && text.contains("generation 2"), "{text}");
    assert!(text.contains("configmaps default/a.data.size - \"2\" + \"1\""), "{text}");
}

#[test]
fn controllers_with_a_reason_not_to_act_hold() {
    for way in [Way::Changes, Way::Says, Way::Keeps, Way::Ignores] {
        let changed = simulation(way).patch("Disk", "a", json!({"spec": {"size": 1}}));
        let result = changed.random(0, 1).try_check();
        assert!(result.is_ok(), "{way:?}: {}", result.expect_err("it is none"));
    }
    for way in [Way::Pauses, Way::Suspends] {
        // There is a volume of it, and of a fresh one there is none.
        let changed = simulation(way).patch("Disk", "a", json!({"spec": {"paused": true}}));
        let result = changed.random(0, 1).try_check();
        assert!(result.is_ok(), "{way:?}: {}", result.expect_err("it is none"));
    }
}

#[test]
fn what_is_meant_for_the_first_time_only_is_left_out() {
    let changed = || simulation(Way::Leaves).patch("Disk", "a", json!({"spec": {"size": 1}}));
    for (kind, pointer) in [("Disk", "/spec/size"), ("ConfigMap", "/data/size")] {
        let again = changed().patch("Disk", "a", json!({"spec": {"other": 1}}));
        let result = again.ignoring_field(kind, pointer).random(0, 1).try_check();
        assert!(result.is_ok(), "{pointer}: {}", result.expect_err("it is none"));
    }
    let result = changed().ignoring("configmaps").random(0, 1).try_check();
    assert!(result.is_ok(), "{}", result.expect_err("it is none"));
    failure(changed().ignoring_field("Disk", "/spec/other"));
}

#[test]
fn what_nobody_makes_again_is_told() {
    let line = "the user deletes configmaps default/a, and nobody makes it again; disks.t.example default/a says";
    let deleted = |way| simulation(way).delete("ConfigMap", "a").random(0, 1).check().to_string();
    assert!(!deleted(Way::Changes).contains("nobody makes it again"));
    let text = on_kube(|client| async {
        // It makes everything once, and looks no more.
        drop(tokio::time::timeout(Duration::from_secs(45), provides(client, Way::Changes)).await);
        std::future::pending::<()>().await;
    });
    let disk = json!({"apiVersion": "t.example/v1", "kind": "Disk", "metadata": {"name": "a"},
        "spec": {"size": 2}});
    let text = text.given(&definition()).create(&disk).delete("ConfigMap", "a");
    // A process that begins anew makes it again: no crash and no restart.
    let text = text.replay("jitter(1)").check().to_string();
    assert!(text.contains(line), "{text}");
}
