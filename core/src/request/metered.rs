//! Metrics of calls through the crate `metrics`, under the reference's names.

use std::time::Duration;

use ::metrics::{counter, gauge, histogram};

use crate::metrics::facade::Facade;

use super::observer::Observer;
use super::transport::TransportKind;
use super::verb::Verb;

/// The label of an attempt without an answer.
const NO_ANSWER: &str = "<error>";

/// Labels contain the template of a URL, so that single objects make no labels (`election:RQ-89`).
impl Observer for Facade {
    fn began(&self, verb: &Verb, _: &str) {
        gauge!("rest_client_requests_in_flight", "verb" => verb.to_string()).increment(1);
    }

    /// Each repeat is counted again, under its own result (`election:RQ-63`).
    fn attempted(&self, verb: &Verb, host: &str, count: u32, result: Result<u16, TransportKind>) {
        let code = result.map_or_else(|_| NO_ANSWER.to_owned(), |status| status.to_string());
        let (verb, host) = (verb.to_string(), host.to_owned());
        if count > 1 {
            let (code, verb, host) = (code.clone(), verb.clone(), host.clone());
            let labels = [("code", code), ("verb", verb), ("host", host)];
            counter!("rest_client_request_retries_total", &labels).increment(1);
        }
        let labels = [("code", code), ("method", verb), ("host", host)];
        counter!("rest_client_requests_total", &labels).increment(1);
    }

    fn throttled(&self, verb: &Verb, template: &str, waited: Duration) {
        let (verb, url) = (verb.to_string(), template.to_owned());
        histogram!("rest_client_rate_limiter_duration_seconds", "verb" => verb, "url" => url)
            .record(waited);
    }

    fn finished(&self, verb: &Verb, template: &str, took: Duration, _: bool) {
        gauge!("rest_client_requests_in_flight", "verb" => verb.to_string()).decrement(1);
        let (verb, url) = (verb.to_string(), template.to_owned());
        histogram!("rest_client_request_duration_seconds", "verb" => verb, "url" => url)
            .record(took);
    }
}
