//! Laws for all requests.

use quickcheck::{TestResult, quickcheck};

use super::below;
use crate::request::escape::{PATH, escape, unescape};
use crate::request::path::join;

quickcheck! {
    /// No value of a part changes how many segments the path has (`election:RINV-13`).
    fn parts_stay_segments(namespace: String, resource: String, name: String) -> TestResult {
        if [&namespace, &resource, &name].iter().any(|part| part.is_empty()) {
            return TestResult::discard();
        }
        let request = below("").namespace(&namespace).resource(&resource).name(&name);
        match request.url() {
            Err(_) => TestResult::passed(),
            Ok(url) => TestResult::from_bool(url.matches('/').count() == 8),
        }
    }

    fn escaping_loses_nothing(text: String) -> bool {
        let mut escaped = String::new();
        escape(&mut escaped, text.as_bytes(), PATH);
        unescape(&escaped, false).unwrap() == text
    }

    /// A query that is parsed again is the same.
    fn parameters_come_back(pairs: Vec<(String, String)>) -> bool {
        let request = pairs.iter().fold(below(""), |request, (key, value)| request.param(key, value));
        let url = request.url().unwrap();
        let again = below("").request_uri(&url["https://h".len()..]);
        again.url().unwrap() == url
    }

    fn joining_twice_changes_nothing(parts: Vec<String>) -> bool {
        let once = join(parts.iter().map(String::as_str));
        join([once.as_str()]) == once
    }

    /// No input from a caller panics, and the URL is the same each time (`election:RINV-9`).
    fn anything_goes(uri: String, prefix: Vec<String>, suffix: Vec<String>, nanos: i64) -> bool {
        let prefix: Vec<_> = prefix.iter().map(String::as_str).collect();
        let suffix: Vec<_> = suffix.iter().map(String::as_str).collect();
        let request = below("a/b").prefix(&prefix).suffix(&suffix).timeout_nanos(nanos);
        let with = request.clone().request_uri(&uri);
        let request = if with.mistake().is_none() { with } else { request };
        let first = (request.url().unwrap(), request.template().unwrap());
        first == (request.url().unwrap(), request.template().unwrap())
    }
}
