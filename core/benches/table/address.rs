//! The address of a request.

use std::collections::BTreeMap;
use std::hint::black_box;
use std::sync::Arc;

use seatrial_core::request::{Base, Request, Verb};

use crate::Measure;
use crate::measure::duel;
use crate::row::Row;

pub(crate) const ROWS: &[Measure] =
    &[Measure::new("request", "address, namespaced, status", address)];

/// The reference's algorithm: every step joins and cleans the whole path again, and at the end the
/// URL is written from its parts.
struct Plain {
    prefix: String,
    namespace: String,
    resource: String,
    name: String,
    sub_resource: String,
    query: BTreeMap<String, Vec<String>>,
}

/// A URL, taken apart.
struct Parts {
    scheme: String,
    host: String,
    path: String,
    query: String,
}

/// Joins elements and normalises the result.
fn join(elements: &[&str]) -> String {
    let size: usize = elements.iter().map(|element| element.len() + 1).sum();
    let mut text = String::with_capacity(size);
    for element in elements.iter().filter(|element| !element.is_empty()) {
        if !text.is_empty() {
            text.push('/');
        }
        text.push_str(element);
    }
    clean(text)
}

/// Normalises a path; a path that is already normal does not change.
fn clean(text: String) -> String {
    let is_odd = |part: &str| matches!(part, "" | "." | "..");
    if !text.split('/').skip(1).any(is_odd) {
        return text;
    }
    let mut clean = String::with_capacity(text.len());
    for part in text.split('/').filter(|part| !matches!(*part, "" | ".")) {
        match part {
            ".." => clean.truncate(clean.rfind('/').unwrap_or(0)),
            part => {
                clean.push('/');
                clean.push_str(part);
            }
        }
    }
    clean
}

fn escaped(text: &str) -> String {
    let stays = |byte: &u8| byte.is_ascii_alphanumeric() || b"-_.~$&+,/:;=@".contains(byte);
    if text.as_bytes().iter().all(stays) {
        return text.to_owned();
    }
    let letter = |byte: u8| match stays(&byte) {
        true => char::from(byte).to_string(),
        false => format!("%{byte:02X}"),
    };
    text.bytes().map(letter).collect()
}

impl Plain {
    fn parts(&self) -> Parts {
        let mut path = self.prefix.clone();
        if !self.namespace.is_empty() {
            path = join(&[&path, "namespaces", &self.namespace]);
        }
        if !self.resource.is_empty() {
            path = join(&[&path, &self.resource.to_lowercase()]);
        }
        if !self.name.is_empty() {
            path = join(&[&path, &self.name, &self.sub_resource]);
        }
        let mut query = BTreeMap::new();
        for (key, values) in &self.query {
            for value in values {
                query.entry(key.clone()).or_insert_with(Vec::new).push(value.clone());
            }
        }
        let pairs = query.iter().flat_map(|(key, values)| {
            values.iter().map(move |value| format!("{}={}", escaped(key), escaped(value)))
        });
        let query = pairs.collect::<Vec<_>>().join("&");
        Parts { scheme: "https".to_owned(), host: "cluster:6443".to_owned(), path, query }
    }

    fn url(&self) -> String {
        let Parts { scheme, host, path, query } = self.parts();
        let mark = if query.is_empty() { "" } else { "?" };
        format!("{scheme}://{host}{}{mark}{query}", escaped(&path))
    }
}

fn address(part: &'static str, row: &'static str) -> Row {
    const OPERATIONS: usize = 100_000;
    let server = Arc::new(Base::parse("https://cluster:6443").expect("an address"));
    let ours = Request::new(&server, Verb::Get, "/apis/apps/v1")
        .namespace("default")
        .resource("deployments")
        .name("web")
        .sub_resource(&["status"]);
    let plain = Plain {
        prefix: "/apis/apps/v1".to_owned(),
        namespace: "default".to_owned(),
        resource: "deployments".to_owned(),
        name: "web".to_owned(),
        sub_resource: "status".to_owned(),
        query: BTreeMap::new(),
    };
    assert_eq!(ours.url().expect("it has no mistake"), plain.url());
    let times = duel(
        OPERATIONS,
        || {
            for _ in 0..OPERATIONS {
                black_box(black_box(&ours).url().expect("it has no mistake"));
            }
        },
        || {
            for _ in 0..OPERATIONS {
                black_box(black_box(&plain).url());
            }
        },
    );
    Row::new(part, row, times).gate(1.0)
}
