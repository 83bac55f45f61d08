//! Creates, updates, deletes and scales of a program.

use serde_json::{Value, json};

use super::super::Target as _;
use super::{Maker, NAMESPACE, NOBODY, SORTS, Sort};
use crate::apiserver::{Answer, Request};

impl Maker {
    /// A path with the options that writes have, mostly with none.
    pub(super) fn options(&mut self, path: &str, options: &str) -> String {
        let mut query = vec![options.to_owned()];
        if self.once_in(8) {
            query
                .push(self.pick(&["dryRun=All", "dryRun=All", "dryRun=Bad", "dryRun="]).to_owned());
        }
        if self.once_in(6) {
            let levels = ["Strict", "Ignore", "Warn", "Strict", "Bad", ""];
            query.push(format!("fieldValidation={}", self.pick(&levels)));
        }
        if self.once_in(6) && !options.contains("fieldManager") {
            query.push(format!("fieldManager={}", self.pick(&["m1", "m2", "m3", "%01"])));
        }
        query.retain(|it| !it.is_empty());
        format!("{path}?{}", query.join("&"))
    }

    pub(super) fn create(&mut self, sort: Sort) {
        let mut object = self.object(sort);
        if self.once_in(12) {
            let metadata = &mut object["metadata"];
            if metadata.is_object() {
                // Names that are made up by two servers must lie in one order.
                self.generated += 1;
                metadata["generateName"] = format!("gen-{:03}-", self.generated).into();
                metadata["name"] = Value::Null;
            }
        }
        let target = self.options(&sort.path(), "");
        if let Some(metadata) = object["metadata"].as_object_mut()
            && target.contains("dryRun")
        {
            // It comes back as it is, and is taken for a version of the server's.
            metadata.remove("resourceVersion");
        }
        self.send_object(&Request::new("POST", &target), &object, sort);
    }

    /// Sends an object, at times in a way in which none should be.
    fn send_object(&mut self, request: &Request, object: &Value, sort: Sort) {
        let body = object.to_string();
        // Objects that are held have versions, and generated names must be found, so their bodies
        // stay readable.
        let is_plain = request.method == "POST" && object["metadata"]["generateName"].is_null();
        let body = match self.below(60) {
            _ if !is_plain => body,
            0 => body.replacen(':', "", 1),
            1 => body.replacen("\"metadata\":{", "\"metadata\":{\"name\":\"o9\",", 1),
            2 => body.replacen('{', "{\"spec\":{},\"data\":{},", 1),
            3 => self.pick(&["", "[]", "null", "5", "{}", "\"x\"", "{"]).to_owned(),
            _ => body,
        };
        let types = ["application/json; charset=utf-8", "text/plain", "application/json"];
        let kind = if self.once_in(30) { self.pick(&types) } else { "application/json" };
        let mut request = request.clone().content(kind, body);
        // An answer in the wrong form does not tell the name that was made up.
        if object["metadata"]["generateName"].is_null() {
            request = self.accepting(request, sort);
        }
        self.send(&request);
    }

    /// At times a client wants the answer in another form.
    pub(super) fn accepting(&mut self, mut request: Request, sort: Sort) -> Request {
        if self.once_in(30) {
            let forms = [
                "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1",
                "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json",
                "text/plain",
                "*/*",
            ];
            // An unacceptable media type is refused before the custom resource is looked for.
            let form = self.below(if sort.is_custom() { 4 } else { 3 });
            request.headers.push(("Accept".to_owned(), forms[form].to_owned()));
        }
        request
    }

    /// Writes an object back that was held, perhaps for too long.
    pub(super) fn put(&mut self) {
        let place = self.below(4);
        let mut object = self.held(place);
        let kind = object["kind"].as_str().unwrap_or("");
        let Some(sort) = SORTS.into_iter().find(|sort| sort.kind == kind) else { return };
        for (field, value) in self.content(sort.kind).as_object().into_iter().flatten() {
            object[field] = value.clone();
        }
        let deleted = object["metadata"]["deletionTimestamp"].clone();
        let before = object["metadata"]["uid"].clone();
        match self.below(10) {
            0 => object["metadata"]["finalizers"] = json!([]),
            1 => object["metadata"]["labels"] = json!({"app": "z"}),
            2 => object["metadata"]["resourceVersion"] = Value::Null,
            3 => object["metadata"]["finalizers"] = self.finalizers(),
            4 => object = self.held(place),
            5 | 6 => self.change_metadata(&mut object["metadata"]),
            // The time of a deletion is known by the uid.
            7 if self.once_in(2) && object["metadata"]["deletionTimestamp"].is_null() => {
                object["metadata"]["uid"] = Value::Null;
            }
            _ => {}
        }
        // A trace says that there is a time, and not which one.
        if deleted.is_string() && object["metadata"]["uid"] == before {
            object["metadata"]["deletionTimestamp"] = deleted;
        }
        let name = match object["metadata"]["name"].as_str() {
            Some(name) if !self.once_in(15) => name.to_owned(),
            _ => self.name(),
        };
        let mut target = format!("{}/{name}", sort.path());
        if self.once_in(8) {
            target.push_str("/status");
            object["status"] = self.status(sort.kind);
        }
        let target = self.options(&target, "");
        self.send_object(&Request::new("PUT", &target), &object, sort);
    }

    /// An object that was held, without what says who owns it: that has times.
    fn held(&self, place: usize) -> Value {
        let mut object = self.held[place].clone();
        if let Some(fields) = object.get_mut("metadata").and_then(Value::as_object_mut) {
            fields.remove("managedFields");
        }
        object
    }

    /// A policy and conditions for a deletion.
    fn deleting(&mut self) -> Value {
        let mut options = json!({});
        for _ in 0..self.below(3) {
            let place = self.below(4);
            let uid = self.held[place]["metadata"]["uid"].clone();
            let (field, values) = match self.below(7) {
                0 | 1 => {
                    ("propagationPolicy", json!(["Foreground", "Orphan", "Background", "Bad", ""]))
                }
                2 => ("orphanDependents", json!([true, false])),
                3 => ("gracePeriodSeconds", json!([0, 30, -1])),
                4 => ("dryRun", json!([["All"], ["Bad"], []])),
                5 => ("preconditions", json!([{"uid": uid}, {"uid": NOBODY}])),
                _ => ("preconditions", json!([{"resourceVersion": self.version()}])),
            };
            options[field] = self.one(values);
        }
        if self.once_in(3) {
            options["kind"] = self.one(json!(["DeleteOptions", "DeleteOptions", "Wrong", ""]));
            options["apiVersion"] = self.one(json!(["v1", "meta.k8s.io/v1", "v2"]));
        }
        options
    }

    fn deletion(&mut self, path: &str) -> Request {
        let queries = [
            "",
            "",
            "",
            "propagationPolicy=Foreground",
            "propagationPolicy=Orphan",
            "dryRun=All",
            "propagationPolicy=Background",
            "orphanDependents=true",
            "gracePeriodSeconds=0",
            "orphanDependents=false",
            "propagationPolicy=Bad",
        ];
        if self.once_in(2) {
            let query = self.pick(&queries);
            return Request::new("DELETE", &format!("{path}?{query}"));
        }
        let options = self.deleting();
        Request::new("DELETE", path).json(&options)
    }

    pub(super) fn delete(&mut self, sort: Sort) {
        let target = format!("{}/{}", sort.path(), self.name());
        let request = self.deletion(&target);
        self.send(&request);
    }

    pub(super) fn delete_many(&mut self, sort: Sort) {
        let mut request = self.deletion(&sort.path());
        let query = [
            ("labelSelector", "app=x"),
            ("labelSelector", "app"),
            ("labelSelector", "app in (y"),
            ("fieldSelector", "metadata.name=o1"),
            ("limit", "1"),
            ("resourceVersion", "0"),
            ("fieldSelector", "spec.x=1"),
        ];
        for _ in 0..self.below(3) {
            let (key, value) = query[self.below(query.len())];
            request.query.push((key.to_owned(), value.to_owned()));
        }
        self.send(&request);
    }

    /// How many replicas.
    pub(super) fn scale(&mut self) {
        let plural = if self.once_in(8) { "widgets" } else { "gadgets" };
        let name = self.name();
        let path = format!("{}/namespaces/{NAMESPACE}/{plural}/{name}/scale", super::CUSTOM);
        let mut count = self.one(json!([0, 1, 2, 5, 11, -1, null, "1", 1.5]));
        // A scale that changes nothing is a departure that is known.
        let now = match self.target.send(&Request::new("GET", &path)) {
            Answer::Response(it) => {
                it.json().map_or(0, |it| it["spec"]["replicas"].as_i64().unwrap_or(0))
            }
            _ => 0,
        };
        if count.is_null() && now == 0 || count == now {
            count = (now + 1).into();
        }
        let request = match self.below(5) {
            0 => Request::new("GET", &path),
            1 | 2 => {
                let mut metadata = json!({"name": name});
                if self.once_in(3) {
                    metadata["resourceVersion"] = self.version().into();
                }
                let scale = json!({
                    "apiVersion": "autoscaling/v1", "kind": "Scale", "metadata": metadata,
                    "spec": {"replicas": count},
                });
                Request::new("PUT", &self.options(&path, "")).json(&scale)
            }
            _ => {
                let patch = json!({"spec": {"replicas": count}}).to_string();
                let request = Request::new("PATCH", &self.options(&path, ""));
                request.content("application/merge-patch+json", patch)
            }
        };
        self.send(&request);
    }
}
