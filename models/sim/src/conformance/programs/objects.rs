//! The contents of a program's objects: mostly valid, and at times not.

use serde_json::{Value, json};

use super::{Maker, NOBODY, Sort};

impl Maker {
    /// Everything of an object but its metadata.
    pub(super) fn content(&mut self, kind: &str) -> Value {
        let is_odd = self.once_in(6);
        let mut content = match (kind, is_odd) {
            ("ConfigMap", false) => self.config_map(),
            ("ConfigMap", true) => self.odd_config_map(),
            ("Secret", false) => self.secret(),
            ("Secret", true) => self.odd_secret(),
            ("ServiceAccount", _) => self.service_account(),
            ("Widget", false) => json!({"spec": self.widget_spec()}),
            ("Widget", true) => self.odd_widget(),
            ("Gadget", false) => json!({"spec": self.gadget_spec()}),
            ("Gadget", true) => self.odd_gadget(),
            (_, false) => json!({"spec": self.lease_spec()}),
            (_, true) => self.odd_lease(),
        };
        if self.once_in(20) {
            let value = self.one(json!(["x", 5, null, {}]));
            content["bogus"] = value;
        }
        if matches!(kind, "Widget" | "Gadget") && self.once_in(8) {
            content["status"] = self.status(kind);
        }
        content
    }

    fn config_map(&mut self) -> Value {
        let number = self.below(5).to_string();
        let mut content = json!({"data": {self.pick(&["a", "b", "c"]): number}});
        if self.once_in(4) {
            content["data"][self.pick(&["a", "b", "c"])] = "x".into();
        }
        if self.once_in(8) {
            content["binaryData"] = json!({"d": self.pick(&["aGk=", "", "eA=="])});
        }
        if self.once_in(20) {
            content["immutable"] = self.one(json!([true, false, null]));
        }
        content
    }

    fn odd_config_map(&mut self) -> Value {
        self.one(json!([
            {"data": {"a": 5}}, {"data": {"a": null}}, {"data": []}, {"data": null},
            {"data": {"bad key": "x"}}, {"data": {"": "x"}}, {"data": {"..a": "x"}},
            {"binaryData": {"a": "%"}}, {"data": {"a": "x"}, "binaryData": {"a": "eA=="}},
            {"immutable": "yes"}, {"data": "x"}, {}, {"data": {}}, {"binaryData": {}},
            {"immutable": true, "data": {"a": "1"}}, {"data": {"a": true}}, {"data": {"a": {}}},
        ]))
    }

    fn secret(&mut self) -> Value {
        let bytes = self.pick(&["MQ==", "Mg==", ""]);
        let mut content = json!({"data": {self.pick(&["a", "b"]): bytes}});
        if self.once_in(3) {
            content["stringData"] = json!({self.pick(&["a", "c"]): self.below(3).to_string()});
        }
        if self.once_in(6) {
            content["type"] = self.pick(&["Opaque", "example.com/x", ""]).into();
        }
        content
    }

    fn odd_secret(&mut self) -> Value {
        self.one(json!([
            {"data": {"a": "%"}}, {"data": {"bad key": ""}}, {"stringData": {"a": 5}},
            {"stringData": {"a": null}}, {"data": {"a": null}}, {}, {"data": null},
            {"immutable": true}, {"immutable": true, "data": {"a": "MQ=="}},
            {"type": "kubernetes.io/tls"}, {"type": "kubernetes.io/basic-auth"},
            {"type": "kubernetes.io/dockerconfigjson", "stringData": {".dockerconfigjson": "{}"}},
            {"type": "kubernetes.io/ssh-auth", "stringData": {"ssh-privatekey": "x"}},
        ]))
    }

    fn service_account(&mut self) -> Value {
        self.one(json!([
            {}, {"automountServiceAccountToken": true}, {"automountServiceAccountToken": false},
            {"secrets": [{"name": "a"}]}, {"secrets": [{"name": "b"}, {"name": "a"}]},
            {"imagePullSecrets": [{"name": "x"}]}, {"imagePullSecrets": [{}]}, {"secrets": []},
            {"secrets": [{"name": "a", "namespace": "n", "kind": "Secret"}]},
            {"secrets": [{"name": 5}]}, {"automountServiceAccountToken": "yes"},
            {"imagePullSecrets": [{"name": "x"}, {"name": "y"}]},
        ]))
    }

    fn widget_spec(&mut self) -> Value {
        let mut spec = json!({"size": self.below(5)});
        if self.once_in(3) {
            spec["color"] = self.pick(&["red", "blue", ""]).into();
        }
        if self.once_in(3) {
            spec["tags"] = self.one(json!([["a"], ["b", "a"], ["c"], []]));
        }
        if self.once_in(3) {
            spec["ports"] = self.one(json!([
                [{"name": "a", "port": 1}], [{"name": "b", "port": 2}, {"name": "a"}],
                [{"name": "b"}], [{"name": "a", "port": 3, "more": "x"}], [],
            ]));
        }
        if self.once_in(6) {
            spec["loose"] = self.one(json!([{"a": 1}, {"a": null}, [1, null], "x", null, 1.5]));
        }
        spec
    }

    fn odd_widget(&mut self) -> Value {
        self.one(json!([
            {"spec": null}, {"spec": 5}, {"spec": {}}, {}, {"spec": {"size": -1}},
            {"spec": {"size": "5"}}, {"spec": {"size": 1.5}}, {"spec": {"size": null}},
            {"spec": {"size": 1.0}}, {"spec": {"size": 9_007_199_254_740_993_i64}},
            {"spec": {"tags": ["a", "a"]}}, {"spec": {"tags": [5]}}, {"spec": {"tags": "a"}},
            {"spec": {"tags": [null]}}, {"spec": {"ports": [{"port": 1}]}},
            {"spec": {"ports": [{"name": "a"}, {"name": "a"}]}}, {"spec": {"ports": [5]}},
            {"spec": {"ports": [{"name": 5}]}}, {"spec": {"ports": {"a": 1}}},
            {"spec": {"color": ["red"]}}, {"spec": []}, {"spec": {"color": null, "size": 1}},
        ]))
    }

    fn gadget_spec(&mut self) -> Value {
        let mut spec = json!({"mode": self.pick(&["on", "off", "auto"])});
        for _ in 0..self.below(4) {
            let (field, values) = match self.below(11) {
                0 => ("replicas", json!([0, 1, 2, 3])),
                1 => ("on", json!([true, false])),
                2 => ("note", json!(["x", "y", null])),
                3 => ("limits", json!([{"a": 1}, {"b": 2}, {"a": 3, "b": 1}, {}])),
                4 => ("port", json!([80, "http", 81])),
                5 => ("weight", json!([0.5, 1, 1.5, 2.0])),
                6 => ("flags", json!([[true], [false, true]])),
                7 => ("marks", json!([[1], [2, 1], [3], []])),
                8 => (
                    "parts",
                    json!([
                        [{"name": "a"}], [{"name": "a", "kind": "x", "size": 1}],
                        [{"name": "b", "size": 2}, {"name": "a", "size": 3}],
                        [{"name": "a", "labels": {"l": "1"}}], [{"name": "a", "labels": {"m": "2"}}],
                    ]),
                ),
                9 => ("pair", json!([{"a": "1"}, {"b": "2"}, {"a": "3", "b": "4"}])),
                _ => ("nested", json!([{"deep": "y"}, {"other": "z"}, {}, null])),
            };
            spec[field] = self.one(values);
        }
        if self.once_in(8) {
            spec["any"] = self.one(json!([{"x": 1}, {"x": {"y": [1]}}, {"x": null}, {}]));
        }
        if self.once_in(8) {
            spec["inner"] = self.one(json!([
                {"apiVersion": "v1", "kind": "X", "metadata": {"name": "i"}, "size": 1},
                {"apiVersion": "v1", "kind": "X", "metadata": {"labels": {"a": "b"}}},
                {"apiVersion": "v1", "kind": "X", "size": 2, "unknown": 3},
            ]));
        }
        if self.once_in(8) {
            spec["free"] = self.one(json!([{"x": 1}, {"x": {"y": null}}, {}]));
        }
        spec
    }

    fn odd_gadget(&mut self) -> Value {
        let odd = json!([
            {}, {"spec": null}, {"spec": {}}, {"spec": {"mode": "none"}}, {"spec": {"mode": null}},
            {"spec": {"mode": "on", "replicas": 11}}, {"spec": {"mode": "on", "replicas": -1}},
            {"spec": {"mode": "on", "replicas": null}}, {"spec": {"mode": "on", "replicas": "1"}},
            {"spec": {"mode": "on", "note": ""}}, {"spec": {"mode": "on", "note": "too long to be"}},
            {"spec": {"mode": "on", "limits": {"a": "1"}}}, {"spec": {"mode": "on", "port": true}},
            {"spec": {"mode": "on", "limits": {"a": 1, "b": 2, "c": 3, "d": 4}}},
            {"spec": {"mode": "on", "limits": {"a": null}}}, {"spec": {"mode": "on", "flags": []}},
            {"spec": {"mode": "on", "weight": 0}}, {"spec": {"mode": "on", "weight": 0.7}},
            {"spec": {"mode": "on", "flags": ["x"]}}, {"spec": {"mode": "on", "marks": [1, 1]}},
            {"spec": {"mode": "on", "marks": [1.5]}}, {"spec": {"mode": "on", "port": 1.5}},
            {"spec": {"mode": "on", "parts": [{"name": "a"}, {"name": "a", "kind": "plain"}]}},
            {"spec": {"mode": "on", "parts": [{"kind": "x"}]}}, {"spec": {"mode": 5, "on": 1}},
            {"spec": {"mode": "on", "parts": [{"name": "a"}, {"name": "b"}, {"name": "c"}, {"name": "d"}]}},
            {"spec": {"mode": "on", "unknown": 1, "nested": {"unknown": 2}}},
            {"spec": {"mode": "on", "parts": [{"name": "a", "unknown": true}]}},
            {"spec": {"mode": "on", "port": {"a": 1}}}, {"spec": {"mode": "on", "port": ["a"]}},
            {"spec": {"mode": "on", "nested": {"deep": null}}}, {"spec": {"mode": "on", "pair": 5}},
            {"spec": {"mode": "none", "replicas": 12, "note": ""}}, {"spec": []},
        ]);
        self.one(odd)
    }

    pub(super) fn status(&mut self, kind: &str) -> Value {
        if kind == "Widget" {
            return self.one(json!([
                {"phase": "New"}, {"phase": "Done", "observed": 2}, {"observed": 1}, {}, null,
                {"phase": 5}, {"observed": "x"}, {"more": {"a": 1}}, [],
            ]));
        }
        self.one(json!([
            {"replicas": 1}, {"replicas": 2, "selector": "app=x"}, {"phase": "Done"}, {}, null,
            {"phase": "Bad"}, {"replicas": "1"}, {"unknown": 1}, {"phase": null}, {"selector": "("},
        ]))
    }

    fn lease_spec(&mut self) -> Value {
        let mut spec =
            json!({"holderIdentity": self.pick(&["x", "y"]), "leaseDurationSeconds": 15});
        if self.once_in(2) {
            let time = self.pick(&["2026-01-01T00:00:00.000000Z", "2026-01-01T00:00:01.500000Z"]);
            spec["renewTime"] = time.into();
        }
        if self.once_in(3) {
            spec["leaseTransitions"] = self.below(3).into();
        }
        spec
    }

    fn odd_lease(&mut self) -> Value {
        self.one(json!([
            {}, {"spec": {}}, {"spec": null}, {"spec": {"leaseDurationSeconds": 0}},
            {"spec": {"leaseTransitions": -1}}, {"spec": {"renewTime": "2026-01-01T00:00:00Z"}},
            {"spec": {"holderIdentity": null, "leaseDurationSeconds": 5}}, {"spec": 5},
            {"spec": {"holderIdentity": ""}}, {"spec": {"leaseDurationSeconds": "15"}},
            {"spec": {"leaseDurationSeconds": 1.5}}, {"spec": {"strategy": "x"}},
        ]))
    }

    /// A whole object.
    pub(super) fn object(&mut self, sort: Sort) -> Value {
        let mut object = self.content(sort.kind);
        object["apiVersion"] = sort.version.into();
        object["kind"] = sort.kind.into();
        let label = self.pick(&["x", "y"]);
        object["metadata"] = json!({"name": self.name(), "labels": {"app": label}});
        if self.once_in(4) {
            object["metadata"]["finalizers"] = self.finalizers();
        }
        if self.once_in(4) {
            self.change_metadata(&mut object["metadata"]);
        }
        if self.once_in(25) {
            match self.below(6) {
                0 => object["kind"] = self.one(json!(["Wrong", "", null, 5])),
                1 => object["apiVersion"] = self.one(json!(["v2", "", "a/b/c", null, 5])),
                2 => object["metadata"] = self.one(json!([null, {}, [], 5])),
                3 => object["kind"] = "ConfigMap".into(),
                4 => object["apiVersion"] = "v1".into(),
                _ => object["metadata"]["name"] = self.one(json!([null, "", 5, {}])),
            }
        }
        object
    }

    pub(super) fn finalizers(&mut self) -> Value {
        self.one(json!([
            ["example.com/a"],
            ["example.com/b"],
            ["example.com/a", "example.com/b"],
            [],
            ["example.com/a"],
            ["example.com/a"],
            ["orphan"],
            ["foregroundDeletion"],
            ["plain"],
            ["example.com/a", "example.com/a"],
            ["orphan", "foregroundDeletion"],
            ["bad name"],
            ["kubernetes"],
            null,
            [""],
        ]))
    }

    /// Changes one thing of the metadata.
    pub(super) fn change_metadata(&mut self, metadata: &mut Value) {
        if !metadata.is_object() {
            return;
        }
        let (field, values) = match self.below(16) {
            0 => ("name", json!(["O0", "a_b", "-x", "o0.dot", "o0.", "x/y", "%41"])),
            1 => ("namespace", json!(["other", "", null, 5])),
            2 => ("resourceVersion", json!([self.version(), "0", "1", ""])),
            3 => ("uid", json!([NOBODY, "", "x"])),
            4 => ("generation", json!([7, 0, -1, null, "1"])),
            5 => ("deletionTimestamp", json!(["2001-01-01T00:00:00Z", null])),
            6 => ("deletionGracePeriodSeconds", json!([0, 30, null])),
            7..=9 => (
                "labels",
                json!([
                    {"app": "z"}, {"app": "x", "other": "1"}, {"app": null}, {"app": ""}, {},
                    {"bad key": "x"}, {"app": "bad value"}, {"app": 5}, null, [], {"a/b/c": "x"},
                ]),
            ),
            10 | 11 => (
                "annotations",
                json!([
                    {"note": "x"}, {"note": "y", "Other.Com/X": "1"}, {"bad key": ""}, {"note": null},
                    {"note": 5}, null, {},
                ]),
            ),
            12 | 13 => ("ownerReferences", self.owners()),
            14 => ("managedFields", json!([[], [{}], null, [{"manager": "m"}]])),
            _ => ("bogus", json!(["x", null])),
        };
        metadata[field] = self.one(values);
        if field == "name" {
            // A dash may come before what is made up.
            metadata["generateName"] = self.one(json!(["gen-", "Gen-", "", null]));
        }
    }

    fn owners(&mut self) -> Value {
        let place = self.below(4);
        let held = &self.held[place];
        let owner = json!({
            "apiVersion": "v1", "kind": "ConfigMap", "name": "o0",
            "uid": held["metadata"]["uid"].as_str().unwrap_or(NOBODY),
        });
        let mut boss = owner.clone();
        boss["controller"] = true.into();
        let mut other = boss.clone();
        other["name"] = "o1".into();
        let mut blocks = owner.clone();
        blocks["blockOwnerDeletion"] = true.into();
        json!([
            [owner], [boss], [boss, other], [owner, owner], [], null, [blocks],
            [{"apiVersion": "v1", "kind": "Event", "name": "e", "uid": NOBODY}],
            [{"apiVersion": "v1", "kind": "ConfigMap", "name": "o0"}],
            [{"apiVersion": "", "kind": "", "name": "", "uid": ""}], [{}],
        ])
    }
}
