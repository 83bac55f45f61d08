//! What a source does when its server is silent or refuses.

use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use k8s_openapi::api::core::v1::ConfigMap;
use kube::Api;
use kube::api::WatchEvent;
use kube::core::Status;
use seatrial_core::informer::{
    ListOptions, ListWatch as _, OpenWatch as _, SourceKind, WatchOptions,
};
use serde_json::json;
use tokio::time::Instant;

use super::collection::Watch;
use super::errors::source_error;
use super::{Collection, Config};

#[tokio::test(start_paused = true)]
async fn a_watch_that_its_server_forgot_ends_in_time() {
    struct Silent;
    impl futures_core::Stream for Silent {
        type Item = kube::Result<WatchEvent<ConfigMap>>;
        fn poll_next(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Self::Item>> {
            Poll::Pending
        }
    }
    let began = Instant::now();
    let end = Box::pin(tokio::time::sleep(Duration::from_secs(310)));
    let mut watch = Watch { events: Box::pin(Silent), end };
    assert!(watch.next().await.is_none());
    assert_eq!(began.elapsed(), Duration::from_secs(310));
}

/// A request into a broken network is never answered.
#[tokio::test(start_paused = true)]
async fn a_request_that_nobody_answers_ends_in_time() {
    type Body = kube::client::Body;
    let cut = tower::service_fn(|_: http::Request<Body>| {
        std::future::pending::<Result<http::Response<Body>, std::io::Error>>()
    });
    let api: Api<ConfigMap> = Api::default_namespaced(kube::Client::new(cut, "default"));
    let source = Collection::new(api, Config::default());
    let began = Instant::now();
    let limit = Duration::from_secs(1_000);
    let listed = tokio::time::timeout(limit, source.list(ListOptions::default())).await;
    assert_eq!(listed.expect("it ends").unwrap_err().kind(), SourceKind::Other);
    assert_eq!(began.elapsed().as_secs(), 60);
    let mut options = WatchOptions::default();
    options.timeout = Duration::from_secs(300);
    let began = Instant::now();
    let opened = tokio::time::timeout(limit, source.watch(options)).await;
    assert!(opened.expect("it ends").is_err());
    assert_eq!(began.elapsed().as_secs(), 310);
}

#[test]
fn an_error_means_what_the_server_says() {
    let kind = |code: u16, cause: Option<&str>| {
        let causes: Vec<_> = cause.map(|it| json!({"reason": it})).into_iter().collect();
        let details = json!({"causes": causes, "retryAfterSeconds": 7});
        let status = json!({"code": code, "details": details});
        let status: Status = serde_json::from_value(status).expect("a status");
        let error = source_error(kube::Error::Api(status.boxed()));
        assert_eq!(error.retry_after(), Some(Duration::from_secs(7)));
        error.kind()
    };
    assert_eq!(kind(410, None), SourceKind::Expired);
    assert_eq!(kind(429, None), SourceKind::TooManyRequests);
    assert_eq!(kind(500, None), SourceKind::Internal);
    assert_eq!(kind(504, Some("ResourceVersionTooLarge")), SourceKind::TooLarge);
    assert_eq!(kind(504, None), SourceKind::Other);
    assert_eq!(kind(400, None), SourceKind::Invalid);
    assert_eq!(kind(403, None), SourceKind::Other);
}

/// The text of an error is logged, and what a server answers may be a secret.
#[test]
fn an_answer_that_cannot_be_read_is_not_quoted() {
    let error = serde_json::from_str::<ConfigMap>(r#"{"data": {"password": ["hunter2"]}}"#);
    let quoted = serde_json::from_str::<u32>(r#""hunter2""#).expect_err("no number");
    assert!(quoted.to_string().contains("hunter2"), "{quoted}");
    for error in [error.expect_err("no text"), quoted] {
        let error = source_error(kube::Error::SerdeError(error));
        let text = format!("{error} {error:?}");
        assert!(!text.contains("hunter2") && text.contains("line 1, column"), "{text}");
    }
}
