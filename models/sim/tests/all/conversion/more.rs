//! What conversion costs, what fails with it, and what goes on without it.

use seatrial_sim::apiserver::{Answer, Attempt, Options, Request, Server, Step};
use serde_json::{Value, json};

use super::{DEFINITIONS, NOW, World, by_webhook, definition, hook};

pub(super) fn path(version: &str) -> String {
    format!("/apis/example.com/{version}/namespaces/default/widgets")
}

pub(super) fn widget(name: &str, note: &str) -> Value {
    json!({"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": name},
        "spec": {"size": 1, "note": note}})
}

pub(super) fn world(count: usize, note: &str) -> World {
    let mut world = World::new("https://hook.example.com/");
    for number in 0..count {
        let body = widget(&format!("w{number}"), note);
        assert_eq!(world.ask(&Request::new("POST", &path("v1")).json(&body)).status, 201);
    }
    world
}

#[test]
fn a_list_asks_once_about_all_that_is_not_known_yet() {
    let mut world = world(200, "n");
    assert!(world.asked.is_empty(), "what is stored as it is sent needs nobody");
    let list = Request::new("GET", &path("v2"));
    let all = world.ask(&list);
    let sizes = all.json().expect("a list")["items"].as_array().expect("items").iter();
    assert!(sizes.clone().all(|it| it["spec"]["dims"]["size"] == 1) && sizes.count() == 200);
    assert_eq!(world.asked, [200]);
    assert_eq!(world.ask(&list), all);
    assert_eq!(world.asked, [200], "what is known is not asked again");
    let pages = ["limit=3", "limit=3&continue="].map(|it| format!("{}?{it}", path("v2")));
    assert_eq!(world.ask(&Request::new("GET", &pages[0])).status, 200);
    let patch = json!({"spec": {"note": "m"}}).to_string();
    let patch = Request::new("PATCH", &format!("{}/w7", path("v1")))
        .content("application/merge-patch+json", patch);
    assert_eq!(world.ask(&patch).status, 200);
    assert_eq!(world.ask(&list).status, 200);
    assert_eq!(world.asked, [200, 1], "one has changed");
    assert_eq!(world.ask(&Request::new("GET", &format!("{}/w1", path("v2")))).status, 200);
    assert_eq!(world.asked, [200, 1, 1], "a look at one object is never from the cache");
}

#[test]
fn a_page_asks_about_a_page_and_many_large_objects_are_asked_about_in_parts() {
    let mut world = world(60, &"long ".repeat(4_000));
    let page = world.ask(&Request::new("GET", &format!("{}?limit=5", path("v2"))));
    assert_eq!(page.json().expect("a list")["items"].as_array().map(Vec::len), Some(5));
    assert_eq!(world.asked, [5]);
    world.asked.clear();
    assert_eq!(world.ask(&Request::new("GET", &path("v2"))).status, 200);
    assert_eq!(world.asked.iter().sum::<usize>(), 55);
    assert!(world.asked.len() > 3 && world.asked.iter().all(|it| *it <= 13), "{:?}", world.asked);
}

#[test]
fn what_others_write_meanwhile_does_not_make_all_of_it_be_asked_again() {
    let mut world = world(20, "n");
    let list = Request::new("GET", &path("v2"));
    let mut attempt = Attempt::default();
    let mut counts = Vec::new();
    let answer = loop {
        match world.server.attempt(NOW, &list, &mut attempt) {
            Step::Answered(answer) => break answer,
            Step::Waits(calls) => {
                for call in calls {
                    counts.push(call.review["request"]["objects"].as_array().map_or(0, Vec::len));
                    attempt.reply(call.clone(), hook::answer("ok", &call));
                }
            }
        }
        if counts.len() < 4 {
            let body = json!({"spec": {"size": counts.len() + 1}}).to_string();
            let patch = Request::new("PATCH", &format!("{}/w3", path("v1")))
                .content("application/merge-patch+json", body);
            world.ask(&patch);
        }
    };
    assert!(matches!(answer, Answer::Response(it) if it.status == 200));
    assert_eq!(counts, [20, 1, 1, 1]);
}

#[test]
fn a_watch_ends_where_an_object_cannot_be_converted() {
    let mut world = world(2, "n");
    let told = world.watch(&Request::new("GET", &format!("{}?watch=1", path("v2"))));
    assert_eq!(told.len(), 2);
    let since = told[1]["object"]["metadata"]["resourceVersion"].as_str().expect("a version");
    let since = format!("{}?watch=1&resourceVersion={since}", path("v2"));
    let Answer::Watch { id, .. } = world.server.handle(NOW, &Request::new("GET", &since)) else {
        panic!("no watch")
    };
    assert_eq!(world.ask(&Request::new("POST", &path("v1")).json(&widget("z", "n"))).status, 201);
    assert!(!world.server.events(id).has_ended, "nobody has tried to convert it");
    let mut attempt = Attempt::default();
    for call in world.server.unconverted(id, &mut attempt) {
        attempt.reply(call.clone(), hook::answer("refuses", &call));
    }
    assert!(world.server.unconverted(id, &mut attempt).is_empty());
    let news = world.server.events(id);
    assert!(news.events.is_empty() && news.has_ended);
    // One that goes on is refused, and one that begins anew is told why it does not.
    world.mode = "refuses".to_owned();
    assert_eq!(world.ask(&Request::new("GET", &since)).status, 429);
    let told = world.watch(&Request::new("GET", &format!("{}?watch=1", path("v2"))));
    assert_eq!(told.iter().map(|it| &it["type"]).collect::<Vec<_>>(), ["ERROR"]);
    assert_eq!(told[0]["object"]["code"], 504);
    world.mode = "ok".to_owned();
    assert_eq!(world.watch(&Request::new("GET", &since)).len(), 1);
}

#[test]
fn without_somebody_who_calls_webhooks_the_version_that_is_stored_goes_on() {
    let mut server = Server::new(&Options::default());
    let body = definition("example.com", &by_webhook("https://hook.example.com/x", ""));
    let mut ask = |request: Request| match server.handle(NOW, &request) {
        Answer::Response(response) => {
            (response.status, response.json().cloned().unwrap_or_default())
        }
        other => panic!("no response: {other:?}"),
    };
    assert_eq!(ask(Request::new("POST", DEFINITIONS).json(&body)).0, 201);
    assert_eq!(ask(Request::new("POST", &path("v1")).json(&widget("a", "n"))).0, 201);
    assert_eq!(ask(Request::new("GET", &path("v1"))).0, 200);
    let (status, answer) = ask(Request::new("GET", &format!("{}/a", path("v2"))));
    assert_eq!(status, 500);
    let why = "conversion webhook for example.com/v1, Kind=Widget failed: Post \"https://hook.example.com:443/x?timeout=30s\": nobody here calls webhooks";
    assert_eq!(answer["message"], why);
    assert_eq!(ask(Request::new("DELETE", &format!("{}/a", path("v1")))).0, 200);
}
