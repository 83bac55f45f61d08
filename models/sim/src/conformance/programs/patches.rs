//! Patches of every type.

use serde_json::{Value, json};

use super::{Maker, NOBODY, Sort};
use crate::apiserver::Request;

const MERGE: &str = "application/merge-patch+json";
const STRATEGIC: &str = "application/strategic-merge-patch+json";
const APPLY: &str = "application/apply-patch+yaml";

impl Maker {
    pub(super) fn patch(&mut self, sort: Sort) {
        let mut target = format!("{}/{}", sort.path(), self.name());
        if self.once_in(8) {
            target.push_str("/status");
        }
        let target = self.options(&target, "");
        let (kind, patch) = match self.below(8) {
            0..=2 => (MERGE, self.merge_patch(sort)),
            3..=5 => ("application/json-patch+json", self.json_patch(sort)),
            6 if self.once_in(6) => (self.pick(&["application/json", "text/x", MERGE]), json!([])),
            _ if sort.is_custom() && !self.once_in(5) => (MERGE, self.merge_patch(sort)),
            _ => (STRATEGIC, self.strategic_patch(sort)),
        };
        let request = Request::new("PATCH", &target).content(kind, patch.to_string());
        let request = self.accepting(request, sort);
        self.send(&request);
    }

    fn merge_patch(&mut self, sort: Sort) -> Value {
        let mut patch = if self.once_in(3) { json!({}) } else { self.content(sort.kind) };
        if self.once_in(3) {
            patch["metadata"] = json!({});
            self.change_metadata(&mut patch["metadata"]);
        }
        match self.below(12) {
            0 => patch["metadata"] = json!({"finalizers": self.finalizers()}),
            1 => patch["metadata"] = json!({"resourceVersion": self.version()}),
            2 => patch = self.one(json!([[], null, 5, "x", {}, {"metadata": null}, {"kind": "X"}])),
            3 => {
                let part = self.pick(&["spec", "data", "status"]);
                patch[part] = self.one(json!([null, {"a": null}, {"size": null}, {"note": null}]));
            }
            _ => {}
        }
        patch
    }

    fn json_patch(&mut self, sort: Sort) -> Value {
        let count = 1 + self.below(3);
        let mut steps: Vec<Value> = (0..count).map(|_| self.json_step(sort)).collect();
        if self.once_in(25) {
            steps.push(self.one(json!([{}, 5, null, {"op": "add"}, {"op": "bad", "path": "/a"}])));
        }
        steps.into()
    }

    fn json_step(&mut self, sort: Sort) -> Value {
        let inner: &[&str] = match sort.kind {
            "ConfigMap" | "Secret" => &["/data/a", "/data/b", "/data", "/data/x"],
            "Widget" => &["/spec/size", "/spec/color", "/spec/tags/0", "/spec/tags/-", "/spec"],
            "Gadget" => &["/spec/mode", "/spec/note", "/spec/parts/0", "/spec/limits/a", "/spec"],
            _ => &["/spec", "/spec/holderIdentity", "/spec/leaseTransitions", "/secrets"],
        };
        let outer = [
            "/metadata/labels/app",
            "/metadata/finalizers",
            "/metadata/labels",
            "/metadata/name",
            "/metadata/annotations",
            "/metadata/resourceVersion",
            "/metadata/finalizers/0",
            "/metadata/finalizers/-",
            "/status",
            "/metadata/labels/a~1b",
            "",
            "/status/phase",
        ];
        let path = if self.once_in(2) { self.pick(inner) } else { self.pick(&outer) };
        let value = match path {
            "/data" => json!({"a": "9"}),
            "/spec" => self.content(sort.kind)["spec"].clone(),
            "/spec/size" => self.one(json!([1, 7, "x", null])),
            "/metadata/finalizers" => self.finalizers(),
            "/metadata/labels" => json!({"app": self.pick(&["x", "y"])}),
            "/metadata/annotations" => json!({"note": "p"}),
            "/metadata/resourceVersion" => self.version().into(),
            "/metadata/finalizers/0" | "/metadata/finalizers/-" => "example.com/c".into(),
            "/status" => self.status(sort.kind),
            "/spec/parts/0" => json!({"name": "p"}),
            "/spec/limits/a" | "/spec/leaseTransitions" => 4.into(),
            "/metadata/name" => "o1".into(),
            _ => self.one(json!(["x", "y", null, "MQ=="])),
        };
        let op = self.pick(&["add", "add", "replace", "replace", "remove", "test", "move", "copy"]);
        match op {
            "move" | "copy" => {
                let from = if self.once_in(2) { self.pick(inner) } else { self.pick(&outer) };
                // Elsewhere a version is a text, and another one on every server.
                let from = if from.ends_with("Version") { "/metadata/labels" } else { from };
                json!({"op": op, "from": from, "path": path})
            }
            "remove" => json!({"op": op, "path": path}),
            _ => json!({"op": op, "path": path, "value": value}),
        }
    }

    fn strategic_patch(&mut self, sort: Sort) -> Value {
        if self.once_in(3) {
            return self.merge_patch(sort);
        }
        self.one(json!([
            {"data": {"$patch": "replace", "z": "1"}}, {"data": {"$patch": "delete"}},
            {"metadata": {"labels": {"$patch": "replace", "app": "y"}}},
            {"metadata": {"labels": {"$patch": "delete"}}}, {"$patch": "delete"},
            {"metadata": {"$deleteFromPrimitiveList/finalizers": ["example.com/a"]}},
            {"metadata": {"finalizers": ["example.com/b", "example.com/a"]}},
            {"metadata": {"$setElementOrder/finalizers": ["example.com/b", "example.com/a"]}},
            {"metadata": {"ownerReferences": [
                {"apiVersion": "v1", "kind": "ConfigMap", "name": "o1", "uid": NOBODY},
            ]}},
            {"metadata": {"ownerReferences": [{"$patch": "delete", "uid": NOBODY}]}},
            {"metadata": {"ownerReferences": [{"uid": NOBODY, "name": "o2"}]}},
            {"$retainKeys": ["data", "metadata"], "data": {"r": "1"}},
            {"metadata": {"$retainKeys": ["name"], "name": "o0"}},
            {"data": {"$patch": "bad"}}, {"metadata": {"finalizers": null}}, {"data": null},
            {"secrets": [{"name": "a", "namespace": "n"}]}, {"secrets": [{"name": "c"}]},
            {"secrets": [{"$patch": "delete", "name": "a"}]}, {"secrets": [{"namespace": "x"}]},
            {"$setElementOrder/secrets": [{"name": "a"}, {"name": "b"}], "secrets": [{"name": "b"}]},
            {"imagePullSecrets": [{"name": "y"}]}, {"imagePullSecrets": [{"$patch": "replace"}]},
            {"spec": {"holderIdentity": "s", "$retainKeys": ["holderIdentity"]}},
            {"spec": {"$patch": "replace", "holderIdentity": "r"}},
            {"data": [1]}, {"metadata": {"labels": "x"}},
        ]))
    }

    pub(super) fn apply(&mut self, sort: Sort) {
        let name = self.name();
        let mut object = self.content(sort.kind);
        if self.once_in(6) {
            object = json!({});
        }
        object["apiVersion"] = sort.version.into();
        object["kind"] = sort.kind.into();
        object["metadata"] = json!({"name": name});
        let metadata = &mut object["metadata"];
        match self.below(14) {
            0 | 1 => metadata["labels"] = json!({"app": self.pick(&["x", "y"])}),
            2 => metadata["finalizers"] = self.finalizers(),
            3 => metadata["annotations"] = json!({"note": self.pick(&["1", "2"])}),
            4 => metadata["resourceVersion"] = self.version().into(),
            5 => self.change_metadata(metadata),
            6 if self.once_in(3) => object["kind"] = self.one(json!(["Wrong", "", null])),
            6 => object["apiVersion"] = self.one(json!(["v2", "v1", "", null])),
            7 if self.once_in(3) => object["metadata"]["name"] = Value::Null,
            _ => {}
        }
        let mut target = format!("{}/{name}", sort.path());
        if self.once_in(10) {
            target.push_str("/status");
            object["status"] = self.status(sort.kind);
        }
        let force = self.pick(&["", "", "&force=true", "&force=false"]);
        let manager = self.pick(&["fieldManager=m1", "fieldManager=m2", "fieldManager=m3"]);
        let options = if self.once_in(25) { "" } else { &format!("{manager}{force}") };
        let target = self.options(&target, options);
        if let Some(metadata) = object["metadata"].as_object_mut()
            && target.contains("dryRun")
        {
            // It comes back as it is, and is taken for a version of the server's.
            metadata.remove("resourceVersion");
        }
        let body = match self.below(40) {
            0 => self.pick(&["", "[]", "null", "5", "{", "a: [b"]).to_owned(),
            1 => object.to_string().replacen('{', "{\"spec\":{},", 1),
            _ => object.to_string(),
        };
        let request = Request::new("PATCH", &target).content(APPLY, body);
        let request = self.accepting(request, sort);
        self.send(&request);
    }
}
