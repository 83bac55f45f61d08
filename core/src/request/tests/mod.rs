//! The results of the builder, rule by rule.

use std::sync::Arc;
use std::time::Duration;

use super::{Base, BuildError, Request, Verb};

mod bodies;
mod calls;
mod cancelled;
mod collection;
mod decoding;
#[cfg(feature = "tracing")]
mod late;
mod laws;
mod lines;
#[cfg(feature = "metrics")]
mod metered;
mod negotiation;
mod patience;
mod scripted;
mod statuses;
mod unwilling;

fn apps() -> Request {
    let base = Arc::new(Base::parse("https://h:6443").unwrap());
    Request::new(&base, Verb::Get, "/apis/apps/v1")
}

fn below(path: &str) -> Request {
    let base = Arc::new(Base::parse(&format!("https://h/{path}")).unwrap());
    Request::new(&base, Verb::Get, "api/v1")
}

fn url(request: &Request) -> String {
    request.url().unwrap()
}

#[test]
fn a_subresource_of_a_namespaced_object() {
    let request = apps().namespace("ns").resource("Deployments").name("name");
    let request = request.sub_resource(&["status"]);
    assert_eq!(url(&request), "https://h:6443/apis/apps/v1/namespaces/ns/deployments/name/status");
}

#[test]
fn an_empty_namespace_means_all() {
    let request = apps().namespace("").resource("deployments");
    assert_eq!(url(&request), "https://h:6443/apis/apps/v1/deployments");
}

#[test]
fn the_first_mistake_sticks() {
    let request = apps().resource("pods").resource("nodes").name("").param("a", "b");
    assert_eq!(
        request.mistake().unwrap().to_string(),
        r#"resource already set to "pods", cannot change to "nodes""#
    );
    assert!(matches!(request.url(), Err(BuildError::AlreadySet { .. })));
    assert!(matches!(request.template(), Err(BuildError::AlreadySet { .. })));
    assert!(matches!(request.preflight(), Err(BuildError::AlreadySet { .. })));
}

#[test]
fn a_second_subresource_is_told_beside_the_first() {
    let request = apps().resource("pods").sub_resource(&["status"]).sub_resource(&["log"]);
    assert_eq!(
        request.mistake().unwrap().to_string(),
        r#"subresource already set to "status", cannot change to "log""#
    );
}

#[test]
fn a_namespace_is_set_even_if_it_is_empty() {
    assert!(apps().namespace("").namespace("a").mistake().is_some());
    assert!(apps().namespace("a").namespace_if_scoped("b", false).mistake().is_none());
}

#[test]
fn both_complaints_are_told() {
    let mistake = apps().name("a/%").mistake().unwrap().to_string();
    assert_eq!(
        mistake,
        r#"invalid resource name "a/%": [may not contain '/' may not contain '%']"#
    );
}

#[test]
fn an_absolute_path_keeps_its_last_slash() {
    assert_eq!(url(&below("").abs_path(&["/healthz/"])), "https://h/healthz/");
    assert_eq!(url(&below("").abs_path(&["/"])), "https://h/");
    assert_eq!(url(&below("base").abs_path(&["/"])), "https://h/base/");
    assert_eq!(url(&below("").abs_path(&["/a", "b/"])), "https://h/a/b");
    assert_eq!(url(&below("").abs_path(&["/a/"]).resource("pods")), "https://h/a/pods");
}

#[test]
fn dots_of_a_suffix_climb_out_of_what_stands_before() {
    let request = below("").resource("pods").suffix(&["..", "x"]);
    assert_eq!(url(&request), "https://h/api/v1/x");
    let request = below("").suffix(&["..", "..", "..", "x"]);
    assert_eq!(url(&request), "https://h/x");
}

#[test]
fn a_uri_brings_path_and_parameters() {
    let request = below("base").param("gone", "1").request_uri("https://other/a%20b?x=1&x=%2B+");
    assert_eq!(url(&request), "https://h/base/a%20b?x=1&x=%2B+");
    for bad in ["/%zz", "/a b", "/%ff", "?a=%1", "/\n"] {
        assert!(below("").request_uri(bad).mistake().is_some(), "{bad:?}");
    }
}

#[test]
fn the_timeout_takes_the_place_of_a_parameter() {
    let request = below("").param("timeout", "x").param("z", "1").param("a", "2");
    let timed = request.clone().timeout(Duration::from_millis(1500));
    assert_eq!(url(&timed), "https://h/api/v1?a=2&timeout=1.5s&z=1");
    assert_eq!(url(&request.timeout(Duration::ZERO)), "https://h/api/v1?a=2&timeout=x&z=1");
    let last = below("").param("a", "2").timeout(Duration::MAX);
    assert_eq!(url(&last), "https://h/api/v1?a=2&timeout=2562047h47m16.854775807s");
}

#[test]
fn durations_are_written_as_the_server_reads_them() {
    let cases = [
        (1_500_000_000, "1.5s"),
        (60_000_000_000, "1m0s"),
        (3_600_000_000_000, "1h0m0s"),
        (100_000_000, "100ms"),
        (1_500_000, "1.5ms"),
        (1_500, "1.5\u{b5}s"),
        (1_050, "1.05\u{b5}s"),
        (7, "7ns"),
        (-5_000_000, "-5ms"),
        (999_999_999, "999.999999ms"),
        (0, "0s"),
        (i64::MIN, "-2562047h47m16.854775808s"),
    ];
    for (nanos, text) in cases {
        assert_eq!(super::duration::DurationText(nanos).to_string(), text);
    }
}

#[test]
fn calls_on_one_object_of_no_namespace_are_refused() {
    let of = |verb: &str| {
        let base = Arc::new(Base::parse("http://h").unwrap());
        Request::new(&base, Verb::from(verb), "api/v1").namespace("").resource("pods")
    };
    assert!(of("POST").preflight().is_err());
    for verb in ["GET", "PUT", "DELETE"] {
        assert!(of(verb).preflight().is_ok(), "{verb}");
        assert!(of(verb).name("a").preflight().is_err(), "{verb}");
    }
    assert!(of("PATCH").name("a").preflight().is_ok());
}

#[test]
fn a_template_names_no_object() {
    let cases = [
        ("/api/v1/nodes", "/api/v1/nodes"),
        ("/api/v1/nodes/n", "/api/v1/nodes/%7Bname%7D"),
        ("/api/v1/nodes/n/status", "/api/v1/nodes/%7Bname%7D/status"),
        ("/api/v1/namespaces/a/pods", "/api/v1/namespaces/%7Bnamespace%7D/pods"),
        (
            "/api/v1/namespaces/a/pods/p/log",
            "/api/v1/namespaces/%7Bnamespace%7D/pods/%7Bname%7D/log",
        ),
        ("/apis/g/v1/x/n", "/apis/g/v1/x/%7Bname%7D"),
        ("/api/v1/namespaces/a/finalize", "/api/v1/namespaces/%7Bname%7D/finalize"),
        ("/api/v1/nodes/n/proxy/metrics/x", "/api/v1/nodes/%7Bname%7D/proxy/%7Bpath%7D"),
        (
            "/api/v1/namespaces/a/services/s:80/proxy/x/y/z",
            "/api/v1/namespaces/%7Bnamespace%7D/services/%7Bname%7D/proxy/%7Bpath%7D",
        ),
        (
            "/api/v1/namespaces/a/pods/p/proxy",
            "/api/v1/namespaces/%7Bnamespace%7D/pods/%7Bname%7D/proxy",
        ),
        ("/healthz", "/healthz"),
        ("/other/v1/x", "/%7Bprefix%7D"),
    ];
    for (path, template) in cases {
        let template = if template == "/%7Bprefix%7D" {
            format!("https://h{template}")
        } else {
            format!("https://h/base{template}?a=%7Bvalue%7D")
        };
        let request = below("base").abs_path(&[path]).param("a", "1").param("a", "2");
        assert_eq!(request.template().unwrap(), template, "{path}");
        assert!(url(&request).ends_with("a=1&a=2"), "the request is as it was");
    }
}

#[test]
fn hosts_without_a_scheme() {
    assert_eq!(Base::host("h:1", false).unwrap().to_string(), "http://h:1/");
    assert_eq!(Base::host("https://h/a", false).unwrap().to_string(), "https://h/a/");
    assert!(matches!(Base::host("", true), Err(BuildError::NoHost)));
    for bad in ["h:1/path", "ftp://h", "https://", "https://h o", "https://u@/x"] {
        assert!(Base::host(bad, true).is_err(), "{bad}");
    }
}

#[test]
fn an_address_that_names_a_user_is_refused_and_its_password_is_not_shown() {
    let forms = [
        "https://me:secret@h/",
        "https://me@h",
        "https://me:12/secret@h/",
        "https://me:12?secret@h/",
        "https://me:12#secret@h/",
        "https://h/a@b",
        "https://@h",
        "ftp://me:secret@h/",
        "me:secret@h",
        "me:secret@h/path",
        "me:sec/secret@h",
    ];
    for form in forms {
        let mistake = Base::host(form, true).unwrap_err();
        assert!(!format!("{mistake} {mistake:?}").contains("secret"), "{mistake:?}");
    }
    let request = below("").request_uri("https://me:secret@h/a b");
    assert!(!request.mistake().unwrap().to_string().contains("secret"));
    assert_eq!(Base::parse("https://h:1/a%40b").unwrap().path(), "/a@b/");
}
