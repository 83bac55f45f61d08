//! A definition that is deleted takes its objects along, and waits for their finalizers; as v1.36.2 answered.

use seatrial_sim::apiserver::{Answer, Options, Request, Server};
use serde_json::{Value, json};

use super::{DEFINITIONS, NOW, ask, definition, one};

const OBJECTS: &str = "/apis/t.example/v1/namespaces/default/things";
const FINALIZER: &str = "customresourcecleanup.apiextensions.k8s.io";

fn path() -> String {
    format!("{DEFINITIONS}/things.t.example")
}

/// A server with a definition and these objects, of which some have a finalizer.
fn with(objects: &[(&str, bool)]) -> Server {
    let mut server = Server::new(&Options::default());
    let body = definition("things", &one(&json!({"type": "object"})));
    let (status, made) = ask(&mut server, "POST", DEFINITIONS, Some(&body));
    assert_eq!((status, made["metadata"].get("finalizers")), (201, None));
    for &(name, is_held) in objects {
        assert_eq!(ask(&mut server, "POST", OBJECTS, Some(&object(name, is_held))).0, 201);
    }
    server
}

fn object(name: &str, is_held: bool) -> Value {
    let finalizers: &[&str] = if is_held { &["t.example/hold"] } else { &[] };
    json!({"apiVersion": "t.example/v1", "kind": "Things",
        "metadata": {"name": name, "finalizers": finalizers}})
}

fn terminating(definition: &Value) -> [&Value; 3] {
    let conditions = definition["status"]["conditions"].as_array().expect("a list");
    let it = conditions.iter().find(|it| it["type"] == "Terminating").expect("it is on its way");
    ["status", "reason", "message"].map(|field| &it[field])
}

fn release(server: &mut Server, path: &str) {
    let body = json!({"metadata": {"finalizers": null}}).to_string();
    let patch = Request::new("PATCH", path).content("application/merge-patch+json", body);
    let Answer::Response(response) = server.handle(NOW, &patch) else { panic!("a watch") };
    assert_eq!(response.status, 200);
}

#[test]
fn a_definition_goes_once_its_last_object_is_released() {
    let mut server = with(&[("a", false), ("b", true), ("c", true)]);
    let watch = Request::new("GET", &format!("{DEFINITIONS}?watch=true"));
    let Answer::Watch { id, .. } = server.handle(NOW, &watch) else { panic!("no watch") };
    let told = |server: &mut Server| -> Vec<_> {
        let events = server.events(id).events;
        events
            .iter()
            .map(|it| (it.kind, it.object["status"]["conditions"][2]["reason"].clone()))
            .collect()
    };
    told(&mut server);
    let (status, ended) = ask(&mut server, "DELETE", &path(), None);
    let metadata = &ended["metadata"];
    assert_eq!((status, &ended["kind"]), (200, &"CustomResourceDefinition".into()));
    assert_eq!(
        (&metadata["finalizers"], &metadata["generation"]),
        (&json!([FINALIZER]), &json!(1))
    );
    assert_eq!(metadata.get("deletionGracePeriodSeconds"), None);
    let says =
        "CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon";
    assert_eq!(
        terminating(&ended),
        [&json!("True"), &json!("InstanceDeletionPending"), &json!(says)]
    );
    let (_, read) = ask(&mut server, "GET", &path(), None);
    let says = json!("CustomResource deletion is in progress");
    assert_eq!(terminating(&read), [&json!("True"), &json!("InstanceDeletionInProgress"), &says]);

    let (_, list) = ask(&mut server, "GET", OBJECTS, None);
    let names: Vec<_> =
        list["items"].as_array().into_iter().flatten().map(|it| &it["metadata"]["name"]).collect();
    assert_eq!(names, ["b", "c"]);
    assert_eq!(list["items"][0]["metadata"]["deletionGracePeriodSeconds"], 0);
    let (status, refused) = ask(&mut server, "POST", OBJECTS, Some(&object("d", false)));
    let says = "things.t.example \"d\" is forbidden: create not allowed while custom resource definition is terminating";
    let details = json!({"name": "d", "group": "t.example", "kind": "things"});
    assert_eq!(
        (status, &refused["reason"], &refused["message"]),
        (403, &"Forbidden".into(), &says.into())
    );
    assert_eq!(refused["details"], details);
    let (status, again) = ask(&mut server, "DELETE", &path(), None);
    assert_eq!((status, &again["metadata"]["deletionGracePeriodSeconds"]), (200, &json!(0)));

    release(&mut server, &format!("{OBJECTS}/b"));
    assert_eq!(ask(&mut server, "GET", &path(), None).0, 200, "one is left");
    told(&mut server);
    release(&mut server, &format!("{OBJECTS}/c"));
    // The last state that was stored.
    assert_eq!(told(&mut server), [("DELETED", "InstanceDeletionInProgress".into())]);
    assert_eq!(ask(&mut server, "GET", &path(), None).0, 404);
    assert_eq!(ask(&mut server, "GET", OBJECTS, None).0, 404);
    assert_eq!(server.contents().iter().filter(|it| it.0.contains("things.t")).count(), 0);
}

#[test]
fn a_definition_that_holds_nothing_goes_at_once() {
    for objects in [&[][..], &[("a", false), ("b", false)]] {
        let mut server = with(objects);
        let (status, ended) =
            ask(&mut server, "DELETE", &format!("{}?propagationPolicy=Orphan", path()), None);
        assert_eq!(
            (status, &ended["metadata"]["finalizers"]),
            (200, &json!([FINALIZER])),
            "as without a policy"
        );
        assert_eq!(ask(&mut server, "GET", &path(), None).0, 404);
        let body = definition("things", &one(&json!({"type": "object"})));
        assert_eq!(ask(&mut server, "POST", DEFINITIONS, Some(&body)).0, 201);
        let (_, list) = ask(&mut server, "GET", OBJECTS, None);
        assert_eq!(list["items"], json!([]), "a definition of the same name finds none of them");
    }
}

#[test]
fn a_dry_run_shows_the_mark_and_changes_nothing() {
    let mut server = with(&[("a", false)]);
    let before = server.contents();
    let (status, shown) = ask(&mut server, "DELETE", &format!("{}?dryRun=All", path()), None);
    assert_eq!((status, &shown["metadata"]["finalizers"]), (200, &json!([FINALIZER])));
    assert_eq!(server.contents(), before);
}

#[test]
fn a_finalizer_of_somebody_else_outlives_the_objects() {
    let mut server = with(&[("a", false)]);
    let (_, mut body) = ask(&mut server, "GET", &path(), None);
    body["metadata"]["finalizers"] = json!(["t.example/user"]);
    assert_eq!(ask(&mut server, "PUT", &path(), Some(&body)).0, 200);
    assert_eq!(ask(&mut server, "DELETE", &path(), None).0, 200);
    let (_, read) = ask(&mut server, "GET", &path(), None);
    assert_eq!(read["metadata"]["finalizers"], json!(["t.example/user"]));
    let says = json!("removed all instances");
    assert_eq!(terminating(&read), [&json!("False"), &json!("InstanceDeletionCompleted"), &says]);
    assert_eq!(ask(&mut server, "POST", OBJECTS, Some(&object("b", false))).0, 201, "again");
    release(&mut server, &path());
    assert_eq!(ask(&mut server, "GET", &path(), None).0, 404);
}

#[test]
fn of_a_collection_definitions_go_at_once() {
    let mut server = with(&[("a", true)]);
    assert_eq!(ask(&mut server, "DELETE", DEFINITIONS, None).0, 200);
    assert_eq!(ask(&mut server, "GET", &path(), None).0, 404);
}

/// Two versions that know other fields; the second one is stored, and the first one is served.
fn two(conversion: &Value) -> Value {
    let version = |name: &str, field: &str, is_stored: bool| {
        let spec = json!({"type": "object", "properties": {field: {"type": "string"}}});
        json!({"name": name, "served": true, "storage": is_stored,
            "schema": {"openAPIV3Schema": {"type": "object", "properties": {"spec": spec}}}})
    };
    let mut body =
        definition("things", &json!([version("v1", "a", false), version("v2", "b", true)]));
    body["spec"]["conversion"] = conversion.clone();
    body
}

fn held(version: &str, spec: &Value) -> Value {
    json!({"apiVersion": format!("t.example/{version}"), "kind": "Things", "spec": spec,
        "metadata": {"name": "held", "finalizers": ["t.example/hold"]}})
}

#[test]
fn what_is_marked_keeps_the_fields_of_the_version_in_which_it_is_stored() {
    let mut server = Server::new(&Options::default());
    let body = two(&json!({"strategy": "None"}));
    assert_eq!(ask(&mut server, "POST", DEFINITIONS, Some(&body)).0, 201);
    let objects = OBJECTS.replace("v1", "v2");
    assert_eq!(ask(&mut server, "POST", &objects, Some(&held("v2", &json!({"b": "x"})))).0, 201);
    assert_eq!(ask(&mut server, "DELETE", &path(), None).0, 200);
    let (_, read) = ask(&mut server, "GET", &format!("{objects}/held"), None);
    assert_eq!(
        (&read["spec"], &read["metadata"]["deletionGracePeriodSeconds"]),
        (&json!({"b": "x"}), &json!(0))
    );
    release(&mut server, &format!("{objects}/held"));
    assert_eq!(ask(&mut server, "GET", &path(), None).0, 404);
}

#[test]
fn nobody_is_asked_to_convert_what_goes_with_its_definition() {
    let mut server = Server::new(&Options::default());
    let to = json!({"url": "https://127.0.0.1:1/convert", "caBundle": ""});
    let webhook = json!({"conversionReviewVersions": ["v1"], "clientConfig": {"url": to["url"]}});
    let body = two(&json!({"strategy": "Webhook", "webhook": webhook}));
    assert_eq!(ask(&mut server, "POST", DEFINITIONS, Some(&body)).0, 201);
    let objects = OBJECTS.replace("v1", "v2");
    assert_eq!(ask(&mut server, "POST", &objects, Some(&held("v2", &json!({"b": "x"})))).0, 201);
    // The version of its objects is stored no longer, and nobody listens.
    let (_, mut body) = ask(&mut server, "GET", &path(), None);
    for (at, is_stored) in [(0, true), (1, false)] {
        body["spec"]["versions"][at]["storage"] = is_stored.into();
    }
    assert_eq!(ask(&mut server, "PUT", &path(), Some(&body)).0, 200);
    assert_eq!(ask(&mut server, "DELETE", &path(), None).0, 200);
    let (_, read) = ask(&mut server, "GET", &format!("{objects}/held"), None);
    assert_eq!(
        (&read["spec"], &read["metadata"]["deletionGracePeriodSeconds"]),
        (&json!({"b": "x"}), &json!(0))
    );
}

#[test]
fn a_definition_that_serves_nothing_ends_as_well() {
    let mut server = with(&[("a", true), ("b", false)]);
    let (_, mut body) = ask(&mut server, "GET", &path(), None);
    body["spec"]["versions"][0]["served"] = false.into();
    assert_eq!(ask(&mut server, "PUT", &path(), Some(&body)).0, 200);
    assert_eq!(ask(&mut server, "DELETE", &path(), None).0, 200);
    assert_eq!(ask(&mut server, "GET", &path(), None).0, 200, "an object holds it");
    let left = server.contents().into_iter().filter(|it| it.0.contains("things.t"));
    assert_eq!(left.count(), 1);
}

#[test]
fn objects_of_a_kind_that_is_named_like_definitions_are_none() {
    let mut server = Server::new(&Options::default());
    let open = json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true});
    let body = definition("customresourcedefinitions", &one(&open));
    assert_eq!(ask(&mut server, "POST", DEFINITIONS, Some(&body)).0, 201);
    let like = "/apis/t.example/v1/namespaces/default/customresourcedefinitions";
    let object = json!({"apiVersion": "t.example/v1", "kind": "Customresourcedefinitions",
        "metadata": {"name": "a"}, "status": "boom",
        "spec": {"group": "x", "names": {"plural": "ys"}}});
    assert_eq!(ask(&mut server, "POST", like, Some(&object)).0, 201);
    let (status, gone) = ask(&mut server, "DELETE", &format!("{like}/a"), None);
    assert_eq!((status, &gone["status"]), (200, &"Success".into()));
}
