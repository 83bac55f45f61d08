//! A webhook in the same process, on tokio's paused time.

use std::time::Duration;

use futures::StreamExt as _;
use kube::api::{Api, DynamicObject, WatchEvent, WatchParams};
use kube::core::{ApiResource, GroupVersionKind};
use kube::{Client, Error};
use seatrial_sim::apiserver::{Answer, Options, Request, Server};
use seatrial_sim::tower::Face;
use serde_json::json;
use tokio::time::{Instant, sleep};

use super::{DEFINITIONS, by_webhook, definition, hook};

fn widgets(face: &Face, version: &str) -> Api<DynamicObject> {
    let kind = GroupVersionKind::gvk("example.com", version, "Widget");
    let resource = ApiResource::from_gvk(&kind);
    Api::default_namespaced_with(Client::new(face.service(), "default"), &resource)
}

fn face() -> Face {
    let mut server = Server::new(&Options::default());
    let conversion = by_webhook("https://convert.example.com/", "");
    let body = definition("example.com", &conversion);
    let made = server.handle(Duration::ZERO, &Request::new("POST", DEFINITIONS).json(&body));
    assert!(matches!(made, Answer::Response(it) if it.status == 201));
    Face::new(server)
}

fn on_paused_time<F: Future<Output = ()>>(test: F) {
    let mut builder = tokio::runtime::Builder::new_current_thread();
    let runtime = builder.enable_time().start_paused(true).build().expect("it starts");
    runtime.block_on(test);
}

#[test]
fn a_watch_in_another_version_waits_for_the_webhook_and_then_goes_on() {
    on_paused_time(async {
        let face = face();
        face.webhook("convert.example.com", |review| async move {
            sleep(Duration::from_secs(2)).await;
            hook::review("ok", &review)
        });
        let (old, new) = (widgets(&face, "v1"), widgets(&face, "v2"));
        let stream =
            new.watch(&WatchParams::default().disable_bookmarks(), "0").await.expect("a watch");
        let mut stream = Box::pin(stream);
        let began = Instant::now();
        for size in [1, 2] {
            let object = json!({"apiVersion": "example.com/v1", "kind": "Widget",
                "metadata": {"name": format!("w{size}")}, "spec": {"size": size}});
            let object: DynamicObject = serde_json::from_value(object).expect("an object");
            old.create(&Default::default(), &object).await.expect("it is created");
            let Some(Ok(WatchEvent::Added(object))) = stream.next().await else {
                panic!("no event")
            };
            assert_eq!(object.data["spec"]["dims"]["size"], size);
            assert_eq!(began.elapsed().as_secs(), 2 * size);
        }
    });
}

#[test]
fn a_watch_tells_what_is_known_while_it_waits_for_more() {
    on_paused_time(async {
        let face = face();
        face.webhook("convert.example.com", |review| async move {
            let is_first = review["request"]["objects"][0]["metadata"]["name"] == "w1";
            sleep(Duration::from_secs(if is_first { 2 } else { 20 })).await;
            hook::review("ok", &review)
        });
        let (old, new) = (widgets(&face, "v1"), widgets(&face, "v2"));
        let stream =
            new.watch(&WatchParams::default().disable_bookmarks(), "0").await.expect("a watch");
        let (mut stream, began) = (Box::pin(stream), Instant::now());
        let write = async {
            for name in ["w1", "w2"] {
                let object = json!({"apiVersion": "example.com/v1", "kind": "Widget",
                    "metadata": {"name": name}});
                let object: DynamicObject = serde_json::from_value(object).expect("an object");
                old.create(&Default::default(), &object).await.expect("it is created");
                sleep(Duration::from_secs(1)).await;
            }
        };
        let (first, ()) = futures::future::join(stream.next(), write).await;
        assert!(matches!(first, Some(Ok(WatchEvent::Added(_)))), "{first:?}");
        assert_eq!(began.elapsed().as_secs(), 2);
        assert!(matches!(stream.next().await, Some(Ok(WatchEvent::Added(_)))));
        assert_eq!(began.elapsed().as_secs(), 22);
    });
}

#[test]
fn a_webhook_that_is_too_slow_or_nowhere_fails_the_request() {
    on_paused_time(async {
        let face = face();
        let (old, new) = (widgets(&face, "v1"), widgets(&face, "v2"));
        let object =
            json!({"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "a"}});
        let object: DynamicObject = serde_json::from_value(object).expect("an object");
        old.create(&Default::default(), &object).await.expect("it is created");
        for (why, seconds) in [
            ("dial tcp convert.example.com:443: connect: connection refused", 0),
            ("net/http: request canceled (Client.Timeout exceeded while awaiting headers)", 30),
        ] {
            let began = Instant::now();
            let Err(Error::Api(status)) = new.get("a").await else { panic!("it is found") };
            assert_eq!(status.code, 500);
            assert!(status.message.ends_with(why), "{}", status.message);
            assert_eq!(began.elapsed().as_secs(), seconds);
            face.webhook("convert.example.com", |review| async move {
                sleep(Duration::from_secs(31)).await;
                hook::review("ok", &review)
            });
        }
    });
}
