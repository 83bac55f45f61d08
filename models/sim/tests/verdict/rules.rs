//! Controllers of a kind whose definition has rules: one that writes a status which a rule refuses is
//! convicted, and the correct one holds.

use std::time::Duration;

use kube::api::{Api, DynamicObject, ListParams, Patch, PatchParams};
use kube::core::{ApiResource, GroupVersionKind};
use kube::{Client, ResourceExt as _};
use seatrial_sim::apiserver::{Options, Request, Server};
use seatrial_sim::simulation::Simulation;
use serde_json::json;
use tokio::time::sleep;

use crate::on_kube::on_kube;

/// How many replicas are ready never goes back, says the definition.
fn server() -> Server {
    let status = json!({"type": "object", "properties": {"ready": {"type": "integer"}},
        "x-kubernetes-validations": [{"rule": "!has(oldSelf.ready) || self.ready >= oldSelf.ready",
            "message": "ready never goes back"}]});
    let schema = json!({"type": "object", "properties": {
        "spec": {"type": "object", "properties": {"replicas": {"type": "integer"}}}, "status": status}});
    let definition = json!({"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": "fleets.t.example"},
        "spec": {"group": "t.example", "scope": "Namespaced",
            "names": {"plural": "fleets", "kind": "Fleet", "singular": "fleet"},
            "versions": [{"name": "v1", "served": true, "storage": true, "subresources": {"status": {}},
                "schema": {"openAPIV3Schema": schema}}]}});
    let mut server = Server::new(&Options::default());
    let path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
    server.handle(Duration::ZERO, &Request::new("POST", path).json(&definition));
    server
}

/// Counts up to the replicas, one step after the other. The wrong one begins at zero whenever it starts.
async fn counts(client: Client, begins_anew: bool) {
    let kind = ApiResource::from_gvk(&GroupVersionKind::gvk("t.example", "v1", "Fleet"));
    let fleets: Api<DynamicObject> = Api::default_namespaced_with(client, &kind);
    let mut ready = 0;
    loop {
        for fleet in fleets.list(&ListParams::default()).await.into_iter().flat_map(|it| it.items) {
            let known = fleet.data["status"]["ready"].as_i64().unwrap_or(0);
            let wanted = fleet.data["spec"]["replicas"].as_i64().unwrap_or(0);
            ready = if begins_anew { ready } else { known };
            if ready < wanted {
                ready += 1;
                let status = Patch::Merge(json!({"status": {"ready": ready}}));
                drop(
                    fleets.patch_status(&fleet.name_any(), &PatchParams::default(), &status).await,
                );
            }
        }
        sleep(Duration::from_secs(20)).await;
    }
}

fn simulation(begins_anew: bool) -> Simulation {
    let fleet = json!({"apiVersion": "t.example/v1", "kind": "Fleet", "metadata": {"name": "f"},
        "spec": {"replicas": 3}});
    on_kube(move |client| counts(client, begins_anew)).on(server()).given(&fleet)
}

#[test]
fn a_status_that_a_rule_refuses_is_convicted() {
    let failure = super::failure(simulation(true)).to_string();
    assert!(failure.contains("fleets.t.example default/f is answered with 422"), "{failure}");
}

#[test]
fn one_that_goes_on_from_what_it_wrote_holds() {
    simulation(false).check();
}
