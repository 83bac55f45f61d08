//! The reports about calls to the crate `metrics`.

use std::sync::Arc;

use metrics_exporter_prometheus::PrometheusBuilder;

use super::scripted::{Act, Bed, answers, later};
use crate::limiter::TokenBucketFlow;
use crate::metrics::facade::Facade;
use crate::request::{TransportKind, Verb};

#[test]
fn calls_are_told_by_verb_and_template() {
    let recorder = PrometheusBuilder::new().build_recorder();
    let text = recorder.handle();
    metrics::with_local_recorder(&recorder, || {
        let mut bed = Bed::new([
            later(429, "1"),
            Act::Fails(TransportKind::Eof, "cut"),
            answers(200, "{}"),
            Act::Hangs,
        ]);
        let limiter = Arc::new(TokenBucketFlow::new(&bed.clock, 1.0, 10));
        bed.client = bed.client.with_limiter(Some(limiter)).with_observer(Arc::new(Facade));
        let request = bed.request(Verb::Get).name("web");
        bed.run(bed.client.send(&request, &bed.token)).unwrap();
        let hangs = bed.client.send(&request, &bed.token);
        let mut hangs = Box::pin(hangs);
        let mut context = std::task::Context::from_waker(std::task::Waker::noop());
        assert!(hangs.as_mut().poll(&mut context).is_pending());
        assert!(text.render().contains("rest_client_requests_in_flight{verb=\"GET\"} 1\n"));
        drop(hangs);
    });
    let told = text.render();
    let of = "verb=\"GET\",url=\"https://h/api/v1/pods/%7Bname%7D\"";
    for line in [
        "rest_client_requests_in_flight{verb=\"GET\"} 0".to_owned(),
        "rest_client_requests_total{code=\"200\",method=\"GET\",host=\"h\"} 1".to_owned(),
        "rest_client_requests_total{code=\"429\",method=\"GET\",host=\"h\"} 1".to_owned(),
        "rest_client_requests_total{code=\"<error>\",method=\"GET\",host=\"h\"} 1".to_owned(),
        "rest_client_request_retries_total{code=\"200\",verb=\"GET\",host=\"h\"} 1".to_owned(),
        "rest_client_request_retries_total{code=\"<error>\",verb=\"GET\",host=\"h\"} 1".to_owned(),
        format!("rest_client_request_duration_seconds_count{{{of}}} 2"),
        format!("rest_client_rate_limiter_duration_seconds_count{{{of}}} 4"),
    ] {
        assert!(told.contains(&line), "{line} in\n{told}");
    }
    let of_retries = told.lines().filter(|line| line.starts_with("rest_client_request_retries"));
    assert_eq!(of_retries.count(), 2, "the first attempt is none, and came of 429: {told}");
    assert!(!told.contains("web"), "no label names an object");
}
