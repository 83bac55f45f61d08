//! Several versions of one kind, and definitions that change while there are objects.

use seatrial_sim::apiserver::{Answer, Options, Request, Server};
use serde_json::{Value, json};

use super::{DEFINITIONS, NOW, ask, definition};

const ITEMS: &str = "namespaces/default/things";

fn version(name: &str, is_storage: bool, spec: &Value) -> Value {
    json!({"name": name, "served": true, "storage": is_storage, "subresources": {"status": {}},
        "selectableFields": [{"jsonPath": ".spec.color"}],
        "schema": {"openAPIV3Schema": {"type": "object", "properties": {
            "spec": {"type": "object", "properties": spec},
            "status": {"type": "object", "properties": {"ready": {"type": "boolean"}}}}}}})
}

fn things(versions: &Value) -> Server {
    let mut server = Server::new(&Options::default());
    let body = definition("things", versions);
    assert_eq!(ask(&mut server, "POST", DEFINITIONS, Some(&body)).0, 201);
    server
}

fn thing(version: &str, name: &str, spec: &Value) -> Value {
    json!({"apiVersion": format!("t.example/{version}"), "kind": "Things",
        "metadata": {"name": name}, "spec": spec})
}

/// Writes the definition anew.
fn redefine(server: &mut Server, change: impl Fn(&mut Value)) -> (u16, Value) {
    let path = format!("{DEFINITIONS}/things.t.example");
    let (_, mut body) = ask(server, "GET", &path, None);
    change(&mut body);
    ask(server, "PUT", &path, Some(&body))
}

fn two() -> Value {
    let color = json!({"color": {"type": "string"}});
    let both = json!({"color": {"type": "string"}, "size": {"type": "integer", "default": 3}});
    json!([version("v1", true, &color), version("v2", false, &both)])
}

#[test]
fn an_object_of_one_version_reads_as_one_of_another() {
    let mut server = things(&two());
    let (v1, v2) = (format!("/apis/t.example/v1/{ITEMS}"), format!("/apis/t.example/v2/{ITEMS}"));
    let watch = Request::new("GET", &format!("{v2}?watch=true&resourceVersion=0"));
    let Answer::Watch { id, .. } = server.handle(NOW, &watch) else { panic!("no watch") };
    let (status, made) =
        ask(&mut server, "POST", &v2, Some(&thing("v2", "a", &json!({"color": "red"}))));
    // The version that is stored does not know the size, so nobody does.
    assert_eq!(
        (status, &made["apiVersion"], &made["spec"]),
        (201, &"t.example/v2".into(), &json!({"color": "red"}))
    );
    let (_, read) = ask(&mut server, "GET", &format!("{v1}/a"), None);
    assert_eq!(
        (&read["apiVersion"], &read["spec"]),
        (&"t.example/v1".into(), &json!({"color": "red"}))
    );
    assert_eq!(read["metadata"]["resourceVersion"], made["metadata"]["resourceVersion"]);
    let mut changed = read;
    changed["spec"]["color"] = "blue".into();
    let (status, changed) = ask(&mut server, "PUT", &format!("{v1}/a"), Some(&changed));
    assert_eq!((status, &changed["apiVersion"]), (200, &"t.example/v1".into()));
    let (_, list) = ask(&mut server, "GET", &v2, None);
    let items = list["items"].as_array().map_or(&[][..], Vec::as_slice);
    assert_eq!(items.len(), 1);
    assert_eq!(
        (&items[0]["apiVersion"], &items[0]["spec"]["color"]),
        (&"t.example/v2".into(), &"blue".into())
    );
    let told = server.events(id).events;
    let kinds: Vec<_> = told.iter().map(|it| (it.kind, it.object["apiVersion"].as_str())).collect();
    assert_eq!(kinds, [("ADDED", Some("t.example/v2")), ("MODIFIED", Some("t.example/v2"))]);
    assert_eq!(server.contents().iter().filter(|it| it.0.contains("things.t")).count(), 1);
    assert_eq!(ask(&mut server, "DELETE", &format!("{v1}/a"), None).0, 200);
    assert_eq!(ask(&mut server, "GET", &format!("{v2}/a"), None).0, 404);
}

#[test]
fn a_version_that_is_no_longer_served_is_not_found_and_its_objects_stay() {
    let mut server = things(&two());
    let v2 = format!("/apis/t.example/v2/{ITEMS}");
    let body = thing("v2", "a", &json!({"color": "red"}));
    assert_eq!(ask(&mut server, "POST", &v2, Some(&body)).0, 201);
    let (status, body) = redefine(&mut server, |it| {
        it["spec"]["versions"][0]["storage"] = false.into();
        it["spec"]["versions"][1]["storage"] = true.into();
    });
    assert_eq!((status, &body["status"]["storedVersions"]), (200, &json!(["v1", "v2"])));
    let (status, body) = redefine(&mut server, |it| {
        let versions = it["spec"]["versions"].as_array_mut().expect("versions");
        versions.remove(0);
    });
    assert_eq!(
        (status, &body["details"]["causes"][0]["field"]),
        (422, &"status.storedVersions[0]".into())
    );
    assert_eq!(
        redefine(&mut server, |it| it["spec"]["versions"][0]["served"] = false.into()).0,
        200
    );
    assert_eq!(ask(&mut server, "GET", &format!("/apis/t.example/v1/{ITEMS}/a"), None).0, 404);
    let (status, read) = ask(&mut server, "GET", &format!("{v2}/a"), None);
    // Stored now in the version that has a default.
    assert_eq!((status, &read["spec"]), (200, &json!({"color": "red"})));
}

#[test]
fn a_default_that_a_definition_gets_later_is_read_at_once() {
    let color = json!({"color": {"type": "string"}});
    let mut server = things(&json!([version("v1", true, &color)]));
    let path = format!("/apis/t.example/v1/{ITEMS}");
    let (_, made) =
        ask(&mut server, "POST", &path, Some(&thing("v1", "a", &json!({"color": "red"}))));
    let with = |default: i64| {
        move |it: &mut Value| {
            let schema = &mut it["spec"]["versions"][0]["schema"]["openAPIV3Schema"];
            schema["properties"]["spec"]["properties"]["size"] =
                json!({"type": "integer", "default": default});
            schema["properties"]["status"]["default"] = json!({"ready": false});
        }
    };
    for default in [1, 2] {
        assert_eq!(redefine(&mut server, with(default)).0, 200);
        let (_, read) = ask(&mut server, "GET", &format!("{path}/a"), None);
        assert_eq!(read["spec"], json!({"color": "red", "size": default}));
        assert_eq!(read["status"], json!({"ready": false}));
        assert_eq!(read["metadata"]["resourceVersion"], made["metadata"]["resourceVersion"]);
        let (_, list) = ask(&mut server, "GET", &path, None);
        assert_eq!(list["items"][0], read);
        let watch = Request::new("GET", &format!("{path}?watch=true&resourceVersion=0"));
        let Answer::Watch { id, .. } = server.handle(NOW, &watch) else { panic!("no watch") };
        assert_eq!(*server.events(id).events[0].object, read);
    }
}

#[test]
fn a_new_object_has_the_default_of_its_status() {
    let mut all = json!([version("v1", true, &json!({}))]);
    all[0]["schema"]["openAPIV3Schema"]["properties"]["status"]["default"] =
        json!({"ready": false});
    let mut server = things(&all);
    let path = format!("/apis/t.example/v1/{ITEMS}");
    let mut sent = thing("v1", "a", &json!({}));
    sent["status"] = json!({"ready": true});
    for query in ["?dryRun=All", ""] {
        let (status, made) = ask(&mut server, "POST", &format!("{path}{query}"), Some(&sent));
        assert_eq!((status, &made["status"]), (201, &json!({"ready": false})));
    }
    sent["metadata"]["name"] = "b".into();
    let request = Request::new("PATCH", &format!("{path}/b?fieldManager=m"));
    let request = request.content("application/apply-patch+yaml", sent.to_string());
    let Answer::Response(applied) = server.handle(NOW, &request) else { panic!("a watch") };
    assert_eq!(
        (applied.status, &applied.json().expect("JSON")["status"]),
        (201, &json!({"ready": false}))
    );
    for name in ["a", "b"] {
        let path = format!("{path}/{name}");
        let (_, read) = ask(&mut server, "GET", &path, None);
        assert_eq!(read["status"], json!({"ready": false}));
        // It is not stored yet: the next write stores it, though nothing is changed, and then nothing does.
        let versions = [(); 2].map(|()| {
            let (_, now) = ask(&mut server, "GET", &path, None);
            ask(&mut server, "PUT", &path, Some(&now)).1["metadata"]["resourceVersion"].clone()
        });
        assert_ne!(versions[0], read["metadata"]["resourceVersion"]);
        assert_eq!(versions[0], versions[1]);
    }
}

#[test]
fn a_definition_says_which_fields_select() {
    let mut server = things(&two());
    let path = format!("/apis/t.example/v1/{ITEMS}");
    for (name, color) in [("a", "red"), ("b", "blue")] {
        ask(&mut server, "POST", &path, Some(&thing("v1", name, &json!({"color": color}))));
    }
    let (status, list) =
        ask(&mut server, "GET", &format!("{path}?fieldSelector=spec.color%3Dblue"), None);
    assert_eq!((status, list["items"].as_array().map(Vec::len)), (200, Some(1)));
    assert_eq!(list["items"][0]["metadata"]["name"], "b");
    assert_eq!(
        ask(&mut server, "GET", &format!("{path}?fieldSelector=spec.size%3D1"), None).0,
        400
    );
}
