//! Definitions that change, events that follow each other, and writes without a webhook.

use seatrial_sim::apiserver::{Answer, Attempt, Request, WatchId};
use seatrial_sim::controllers::Controllers;
use serde_json::{Value, json};

use super::more::{path, widget, world};
use super::{DEFINITIONS, NOW, WIDGETS, World, hook};
use crate::admission;

/// A watch of the widgets as v2, from now on.
fn follow(world: &mut World) -> WatchId {
    let (path, version) = (path("v2"), world.server.revision());
    let path = format!("{path}?watch=1&allowWatchBookmarks=true&resourceVersion={version}");
    let Answer::Watch { id, .. } = world.answer(&Request::new("GET", &path)) else {
        panic!("no watch")
    };
    id
}

fn make(world: &mut World, body: &Value) {
    assert_eq!(world.ask(&Request::new("POST", &path("v1")).json(body)).status, 201);
}

#[test]
fn the_garbage_collector_keeps_the_fields_of_the_version_in_which_an_object_lies() {
    for (storage, serves_old) in [("v1", true), ("v2", true), ("v2", false)] {
        let mut world = world(0, "");
        let maps = "/api/v1/namespaces/default/configmaps";
        let owners = ["a", "b"].map(|name| {
            let body = json!({"metadata": {"name": name}});
            let made = world.ask(&Request::new("POST", maps).json(&body));
            let uid = &made.json().expect("an object")["metadata"]["uid"];
            json!({"apiVersion": "v1", "kind": "ConfigMap", "name": name, "uid": uid})
        });
        let mut body = widget("w", "n");
        body["metadata"]["ownerReferences"] = json!(owners);
        make(&mut world, &body);
        world.define(|spec| {
            for version in spec["versions"].as_array_mut().expect("versions") {
                version["storage"] = (version["name"] == storage).into();
                version["served"] = (version["name"] == "v2" || serves_old).into();
            }
        });
        assert_eq!(world.ask(&Request::new("DELETE", &format!("{maps}/a"))).status, 200);
        let now = world.server.now();
        assert!(Controllers::all().settle(&mut world.server, now));
        let left = world.ask(&Request::new("GET", &format!("{}/w", path("v2"))));
        let left = left.json().expect("an object");
        assert_eq!(left["metadata"]["ownerReferences"], json!([owners[1]]), "{storage}");
        assert_eq!(left["spec"], json!({"dims": {"size": 1}, "note": "n"}), "{storage}");
    }
}

#[test]
fn a_changed_definition_forgets_what_was_shown_and_ends_the_watches() {
    let mut world = world(1, "n");
    let list = Request::new("GET", &path("v2"));
    let notes = |world: &mut World| {
        world.ask(&list).json().expect("a list")["items"][0]["spec"]["note"].clone()
    };
    assert_eq!(notes(&mut world), "n");
    let id = follow(&mut world);
    let patch = json!({"metadata": {"annotations": {"a": "b"}}}).to_string();
    let patch = Request::new("PATCH", &format!("{DEFINITIONS}/{WIDGETS}"))
        .content("application/merge-patch+json", patch);
    assert_eq!(world.ask(&patch).status, 200);
    assert!(!world.server.events(id).has_ended, "nothing that is served has changed");
    world.define(|spec| {
        let schema = &mut spec["versions"][1]["schema"]["openAPIV3Schema"];
        let fields = schema["properties"]["spec"]["properties"].as_object_mut().expect("fields");
        assert!(fields.remove("note").is_some());
    });
    assert!(world.server.events(id).has_ended);
    assert_eq!(notes(&mut world), Value::Null);
}

#[test]
fn a_small_page_of_a_list_with_a_selector_needs_few_rounds() {
    let mut world = world(300, "n");
    let list = format!("{}?limit=1&labelSelector=a%3Db", path("v2"));
    let page = world.ask(&Request::new("GET", &list));
    assert_eq!(page.status, 200, "{page:?}");
    assert_eq!(page.json().expect("a list")["items"], json!([]));
    assert_eq!(world.asked.iter().sum::<usize>(), 300, "each is asked about once");
    assert!(world.asked.len() <= 12, "{:?}", world.asked);
}

#[test]
fn the_bookmarks_of_a_quiet_kind_are_of_now() {
    let mut world = world(1, "n");
    let id = follow(&mut world);
    for name in ["a", "b", "c"] {
        let body = json!({"metadata": {"name": name}});
        world.ask(&Request::new("POST", admission::MAPS).json(&body));
    }
    let later = world.server.now() + 61 * NOW;
    world.server.advance(later);
    assert!(world.server.unconverted(id, &mut Attempt::default()).is_empty());
    let told = world.server.events(id).events;
    assert_eq!(told.iter().map(|it| it.kind).collect::<Vec<_>>(), ["BOOKMARK"]);
    let version = &told[0].object["metadata"]["resourceVersion"];
    assert_eq!(*version, world.server.revision().to_string());
}

#[test]
fn an_event_that_cannot_be_converted_takes_none_before_it_along() {
    let mut world = world(0, "");
    let id = follow(&mut world);
    for name in ["good", "bad", "late"] {
        make(&mut world, &widget(name, "n"));
    }
    let mut attempt = Attempt::default();
    loop {
        let calls = world.server.unconverted(id, &mut attempt);
        if calls.is_empty() {
            break;
        }
        for call in calls {
            let is_bad = call.review["request"]["objects"].to_string().contains("\"bad\"");
            let reply = hook::answer(if is_bad { "refuses" } else { "ok" }, &call);
            attempt.reply(call, reply);
        }
    }
    let news = world.server.events(id);
    let names = news.events.iter().map(|it| it.object["metadata"]["name"].clone());
    assert_eq!(names.collect::<Vec<_>>(), ["good"]);
    assert!(news.has_ended);
}

#[test]
fn a_long_past_is_converted_in_rounds_that_are_bounded() {
    let mut world = world(0, "");
    let id = follow(&mut world);
    for number in 0..150 {
        make(&mut world, &widget(&format!("w{number}"), "n"));
    }
    let (mut attempt, mut rounds, mut told) = (Attempt::default(), Vec::new(), 0);
    loop {
        let calls = world.server.unconverted(id, &mut attempt);
        told += world.server.events(id).events.iter().filter(|it| it.kind == "ADDED").count();
        if calls.is_empty() {
            break;
        }
        rounds.push(calls.len());
        assert_eq!(told, rounds[1..].len() * 64, "what is known is told before more is asked");
        for call in calls {
            let reply = hook::answer("ok", &call);
            attempt.reply(call, reply);
        }
    }
    assert_eq!((rounds, told), (vec![64, 64, 22], 150));
}

#[test]
fn no_webhook_is_asked_about_an_object_whose_managers_are_not_known_yet() {
    let mut world = world(1, "n");
    let rule = json!({"rules": [{"operations": ["*"], "apiGroups": ["*"], "apiVersions": ["*"],
        "resources": ["widgets"]}]});
    let hooks = [admission::hook("v.x.io", rule)];
    assert_eq!(admission::install(&mut world.server, "Validating", "v", &hooks).status, 201);
    let path = format!("{}/w0", path("v2"));
    let mut object = world.ask(&Request::new("GET", &path)).json().expect("an object").clone();
    object["spec"]["dims"]["size"] = 2.into();
    let (mut managers, now) = (Vec::new(), world.server.now());
    let put = Request::new("PUT", &path).json(&object);
    let answer = world.server.handle_with(now, &put, &mut |call| {
        if call.review["kind"] == "ConversionReview" {
            return hook::answer("ok", call);
        }
        managers.push(call.review["request"]["object"]["metadata"]["managedFields"].clone());
        admission::reply(call, json!({"allowed": true}))
    });
    assert!(matches!(answer, Answer::Response(it) if it.status == 200));
    assert_eq!(managers.len(), 1, "{managers:?}");
    assert!(managers[0].as_array().is_some_and(|it| !it.is_empty()), "{managers:?}");
}
