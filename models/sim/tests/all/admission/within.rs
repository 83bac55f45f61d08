//! Webhooks in the same process, on tokio's paused time.

use std::convert::Infallible;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use super::{hook, install, server};
use http_body_util::{BodyExt as _, Full};
use k8s_openapi::api::core::v1::ConfigMap;
use kube::api::{Api, ObjectMeta, PostParams};
use kube::{Client, Error};
use seatrial_sim::tower::{Face, Stream};
use serde_json::{Value, json};
use tokio::time::{Instant, sleep};

fn on_paused_time<F: Future<Output = ()>>(test: F) {
    let mut builder = tokio::runtime::Builder::new_current_thread();
    let runtime = builder.enable_time().start_paused(true).build().expect("it starts");
    runtime.block_on(test);
}

fn map(name: &str) -> ConfigMap {
    let metadata = ObjectMeta { name: Some(name.to_owned()), ..ObjectMeta::default() };
    ConfigMap { metadata, ..ConfigMap::default() }
}

fn face(more: Value) -> (Face, Api<ConfigMap>) {
    let mut server = server();
    install(&mut server, "Validating", "v", &[hook("v.x.io", more)]);
    let face = Face::new(server);
    let client = Client::new(face.service(), "default");
    (face, Api::default_namespaced(client))
}

/// The response to a review, which refuses with a message if there is one.
fn response(review: &Value, refusal: Option<&str>) -> Value {
    let response = json!({
        "uid": review["request"]["uid"], "allowed": refusal.is_none(), "status": {"message": refusal},
    });
    let of = &review["apiVersion"];
    json!({"apiVersion": of, "kind": "AdmissionReview", "response": response})
}

/// A service that allows everything, as a program would serve it.
#[derive(Clone)]
struct Allows(Arc<AtomicUsize>);

impl tower_service::Service<http::Request<Stream>> for Allows {
    type Response = http::Response<Full<bytes::Bytes>>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, Infallible>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: http::Request<Stream>) -> Self::Future {
        self.0.fetch_add(1, Ordering::Relaxed);
        Box::pin(async move {
            assert_eq!(request.uri().path(), "/judge");
            let body = request.into_body().collect().await.expect("a body").to_bytes();
            let review: Value = serde_json::from_slice(&body).expect("JSON");
            let answer = response(&review, None);
            Ok(http::Response::new(Full::new(answer.to_string().into())))
        })
    }
}

#[test]
fn a_webhook_may_ask_the_server_while_a_request_waits_for_it() {
    on_paused_time(async {
        let (face, maps) = face(json!({}));
        let reader = maps.clone();
        // It allows a map if another one is there.
        face.webhook("hooks.example.com", move |review| {
            let reader = reader.clone();
            async move {
                let found = reader.get_opt("key").await.expect("an answer").is_some();
                let is_key = review["request"]["name"] == "key";
                response(&review, (!found && !is_key).then_some("there is no key"))
            }
        });
        let refused = maps.create(&PostParams::default(), &map("a")).await.expect_err("no key");
        let Error::Api(status) = refused else { panic!("{refused}") };
        assert_eq!(
            status.message,
            "admission webhook \"v.x.io\" denied the request: there is no key"
        );
        maps.create(&PostParams::default(), &map("key")).await.expect("allowed");
        maps.create(&PostParams::default(), &map("a")).await.expect("allowed now");
    });
}

#[test]
fn a_slow_webhook_is_given_up_after_its_time_and_nobody_else_waits() {
    on_paused_time(async {
        let (face, maps) = face(json!({"timeoutSeconds": 3}));
        face.webhook("hooks.example.com:443", |review| async move {
            sleep(Duration::from_secs(20)).await;
            review
        });
        let began = Instant::now();
        let creator = maps.clone();
        let created =
            tokio::spawn(async move { creator.create(&PostParams::default(), &map("a")).await });
        sleep(Duration::from_secs(1)).await;
        assert!(maps.get_opt("a").await.expect("an answer").is_none());
        assert_eq!(began.elapsed(), Duration::from_secs(1), "a read does not wait");
        let refused = created.await.expect("it ends").expect_err("too late");
        assert!(refused.to_string().contains("context deadline exceeded"), "{refused}");
        assert_eq!(began.elapsed(), Duration::from_secs(3));
    });
}

#[test]
fn a_service_of_tower_answers_for_a_service_of_the_cluster() {
    on_paused_time(async {
        let service = json!({"name": "hooks", "namespace": "system", "path": "/judge"});
        let (face, maps) = face(json!({"clientConfig": {"service": service}}));
        let refused =
            maps.create(&PostParams::default(), &map("a")).await.expect_err("nobody there");
        assert!(refused.to_string().contains("service \"hooks\" not found"), "{refused}");
        let seen = Arc::new(AtomicUsize::new(0));
        face.webhook_service("hooks.system.svc", Allows(seen.clone()));
        maps.create(&PostParams::default(), &map("a")).await.expect("allowed");
        assert_eq!(seen.load(Ordering::Relaxed), 1);
    });
}

#[test]
fn a_webhook_that_panics_hangs_up() {
    on_paused_time(async {
        let (face, maps) = face(json!({}));
        face.webhook("hooks.example.com", |review| async move {
            assert!(review.is_null(), "it is a review");
            review
        });
        let refused = maps.create(&PostParams::default(), &map("a")).await.expect_err("it hung up");
        assert!(refused.to_string().contains("timeout=10s\": EOF"), "{refused}");
    });
}
