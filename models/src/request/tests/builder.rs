//! Calls of the builder that are made up, in any order: the first mistake sticks, and the address is
//! that of the reference's algorithm, which is said once more here.

use std::collections::BTreeMap;
use std::sync::Arc;

use ::proptest::collection::vec;
use ::proptest::prelude::*;
use ::proptest::sample::select;
use ::proptest::test_runner::FileFailurePersistence;
use seatrial_core::request::{Base, Request, Verb};

const SEEDS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../proptest-regressions/request.txt");

/// One call of the builder.
#[derive(Clone, Debug)]
enum Call {
    Namespace(String),
    Scoped(String, bool),
    Resource(String),
    Name(String),
    SubResource(Vec<String>),
    Prefix(Vec<String>),
    Suffix(Vec<String>),
    AbsPath(Vec<String>),
    Uri(&'static Uri),
    Param(String, String),
    Timeout(&'static (i64, &'static str)),
}

/// A URI, and what is in it: its path and its parameters, or a mistake.
type Uri = (&'static str, Option<(&'static str, &'static [(&'static str, &'static str)])>);

const URIS: [Uri; 7] = [
    ("/x/y?b=2&a=1", Some(("/x/y", &[("b", "2"), ("a", "1")]))),
    (
        "https://elsewhere:1/z?timeout=9s&timeout=8s",
        Some(("/z", &[("timeout", "9s"), ("timeout", "8s")])),
    ),
    ("q/?", Some(("q/", &[]))),
    ("/%7Ename/%C3%BC?k=a+b%26", Some(("/~name/ü", &[("k", "a b&")]))),
    ("", Some(("", &[]))),
    ("/bad%zz", None),
    ("/white space", None),
];

const TIMEOUTS: [(i64, &str); 6] = [
    (0, ""),
    (100_000_000, "100ms"),
    (1_500_000_000, "1.5s"),
    (60_000_000_000, "1m0s"),
    (3_600_000_000_000, "1h0m0s"),
    (-1_000_000, "-1ms"),
];

/// The reference's builder, as short as it goes.
#[derive(Clone, Default)]
struct Plain {
    base: &'static str,
    prefix: String,
    namespace: Option<String>,
    resource: String,
    name: String,
    sub_resource: String,
    suffix: String,
    query: BTreeMap<String, Vec<String>>,
    timeout: &'static str,
}

/// Normalises a path (`election:RQ-20`).
fn clean(path: &str) -> String {
    let rooted = path.starts_with('/');
    let mut stack: Vec<&str> = Vec::new();
    for part in path.split('/').filter(|part| !matches!(*part, "" | ".")) {
        match (part, stack.last()) {
            ("..", Some(&last)) if last != ".." => drop(stack.pop()),
            ("..", _) if rooted => {}
            _ => stack.push(part),
        }
    }
    match (rooted, stack.is_empty()) {
        (true, _) => format!("/{}", stack.join("/")),
        (false, true) => ".".to_owned(),
        (false, false) => stack.join("/"),
    }
}

fn join(parts: &[&str]) -> String {
    let parts: Vec<_> = parts.iter().copied().filter(|part| !part.is_empty()).collect();
    if parts.is_empty() { String::new() } else { clean(&parts.join("/")) }
}

fn joined<'a>(first: &'a str, rest: &'a [String]) -> String {
    join(&[&[first][..], &rest.iter().map(String::as_str).collect::<Vec<_>>()].concat())
}

/// Whether a text may be one segment of a path (`election:RQ-10`).
fn is_segment(text: &str) -> bool {
    !matches!(text, "." | "..") && !text.contains(['/', '%'])
}

fn escaped(text: &str, kept: &str) -> String {
    let letter = |byte: u8| match char::from(byte) {
        it if it.is_ascii_alphanumeric() || it.is_ascii() && kept.contains(it) => it.to_string(),
        _ => format!("%{byte:02X}"),
    };
    text.bytes().map(letter).collect()
}

fn set(old: &mut String, new: &str, segments: &[String]) -> bool {
    let may = old.is_empty() && segments.iter().all(|segment| is_segment(segment));
    if may {
        new.clone_into(old);
    }
    may
}

impl Plain {
    /// Makes a call (`election:RQ-9`); false if it is a mistake.
    fn call(&mut self, call: &Call) -> bool {
        match call {
            Call::Scoped(_, false) => {}
            Call::Namespace(text) | Call::Scoped(text, true) => {
                let may = self.namespace.is_none() && is_segment(text);
                self.namespace.get_or_insert_with(|| text.clone());
                return may;
            }
            Call::Resource(text) => {
                return set(&mut self.resource, text, std::slice::from_ref(text));
            }
            Call::Name(text) => {
                return !text.is_empty() && set(&mut self.name, text, std::slice::from_ref(text));
            }
            Call::SubResource(parts) => {
                return set(&mut self.sub_resource, &joined("", parts), parts);
            }
            Call::Prefix(parts) => self.prefix = joined(&self.prefix, parts),
            Call::Suffix(parts) => self.suffix = joined(&self.suffix, parts),
            Call::AbsPath(parts) => self.abs_path(parts),
            Call::Uri((_, None)) => return false,
            Call::Uri((_, Some((path, query)))) => {
                self.abs_path(&[(*path).to_owned()]);
                self.query.clear();
                for (key, value) in *query {
                    self.query.entry((*key).to_owned()).or_default().push((*value).to_owned());
                }
            }
            Call::Param(key, value) => {
                self.query.entry(key.clone()).or_default().push(value.clone());
            }
            Call::Timeout((_, text)) => self.timeout = text,
        }
        true
    }

    fn abs_path(&mut self, parts: &[String]) {
        self.prefix = joined(self.base, parts);
        if let [only] = parts
            && only.ends_with('/')
            && (self.base.len() > 1 || only.len() > 1)
        {
            self.prefix.push('/');
        }
    }

    /// Puts the address together (`election:RQ-21`, `RQ-23`, `RQ-25`).
    fn url(&self) -> String {
        let mut path = self.prefix.clone();
        if let Some(namespace) = self.namespace.as_deref().filter(|it| !it.is_empty()) {
            path = join(&[&path, "namespaces", namespace]);
        }
        if !self.resource.is_empty() {
            path = join(&[&path, &self.resource.to_lowercase()]);
        }
        if !(self.name.is_empty() && self.sub_resource.is_empty() && self.suffix.is_empty()) {
            path = join(&[&path, &self.name, &self.sub_resource, &self.suffix]);
        }
        let mut query = self.query.clone();
        if !self.timeout.is_empty() {
            query.insert("timeout".to_owned(), vec![self.timeout.to_owned()]);
        }
        let form = |text: &str| escaped(text, "-_.~ ").replace(' ', "+");
        let pairs = query.iter().flat_map(|(key, values)| {
            values.iter().map(move |value| format!("{}={}", form(key), form(value)))
        });
        let pairs = pairs.collect::<Vec<_>>().join("&");
        let mark = if pairs.is_empty() { "" } else { "?" };
        format!("https://h:6443{}{mark}{pairs}", escaped(&path, "-_.~$&+,/:;=@"))
    }
}

fn apply(request: Request, call: &Call) -> Request {
    let borrowed = |parts: &[String]| parts.to_vec();
    let with = |parts: &[String], set: fn(Request, &[&str]) -> Request, request| {
        let parts = borrowed(parts);
        set(request, &parts.iter().map(String::as_str).collect::<Vec<_>>())
    };
    match call {
        Call::Namespace(text) => request.namespace(text),
        Call::Scoped(text, scoped) => request.namespace_if_scoped(text, *scoped),
        Call::Resource(text) => request.resource(text),
        Call::Name(text) => request.name(text),
        Call::SubResource(parts) => with(parts, |it, parts| it.sub_resource(parts), request),
        Call::Prefix(parts) => with(parts, |it, parts| it.prefix(parts), request),
        Call::Suffix(parts) => with(parts, |it, parts| it.suffix(parts), request),
        Call::AbsPath(parts) => with(parts, |it, parts| it.abs_path(parts), request),
        Call::Uri((uri, _)) => request.request_uri(uri),
        Call::Param(key, value) => request.param(key, value),
        Call::Timeout((nanos, _)) => request.timeout_nanos(*nanos),
    }
}

/// Texts that mean something.
const WORDS: &[&str] =
    &["", ".", "..", "a", "Pods", "web-1", "a/b", "/", "a/", "a%b", "ü", "x y", "{n}", "k&=?#+"];

fn text() -> impl Strategy<Value = String> {
    prop_oneof![4 => select(WORDS).prop_map(str::to_owned), 1 => "[ -~]{0,5}"]
}

fn call() -> impl Strategy<Value = Call> {
    let texts = || vec(text(), 0..4);
    prop_oneof![
        text().prop_map(Call::Namespace),
        (text(), any::<bool>()).prop_map(|(text, scoped)| Call::Scoped(text, scoped)),
        text().prop_map(Call::Resource),
        text().prop_map(Call::Name),
        texts().prop_map(Call::SubResource),
        texts().prop_map(Call::Prefix),
        texts().prop_map(Call::Suffix),
        texts().prop_map(Call::AbsPath),
        (0..URIS.len()).prop_map(|at| Call::Uri(&URIS[at])),
        (text(), text()).prop_map(|(key, value)| Call::Param(key, value)),
        (0..TIMEOUTS.len()).prop_map(|at| Call::Timeout(&TIMEOUTS[at])),
    ]
}

/// Makes calls, and says how many went by without a mistake.
fn check(base: &'static str, calls: &[Call]) -> usize {
    let server = Arc::new(Base::parse(&format!("https://h:6443{base}")).expect("an address"));
    let mut request = Request::new(&server, Verb::Get, "/apis/apps/v1");
    let mut plain = Plain { base, prefix: join(&["/", base, "/apis/apps/v1"]), ..Plain::default() };
    let mut mistake: Option<String> = None;
    let mut right = 0;
    for call in calls {
        request = apply(request, call);
        let told = request.mistake().map(ToString::to_string);
        if mistake.is_some() {
            assert_eq!(told, mistake, "the first mistake sticks");
        } else if plain.call(call) {
            assert_eq!(told, None, "{call:?} is none");
            right += 1;
        } else {
            assert!(told.is_some(), "{call:?} is a mistake");
            mistake = told;
        }
        let url = request.url().map_err(|mistake| mistake.to_string());
        assert_eq!(url, mistake.clone().map_or_else(|| Ok(plain.url()), Err), "after {call:?}");
        assert_eq!(request.template().is_err(), mistake.is_some());
    }
    right
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 2048,
        failure_persistence: Some(Box::new(FileFailurePersistence::Direct(SEEDS))),
        ..ProptestConfig::default()
    })]

    #[test]
    fn any_calls_in_any_order_give_the_address_of_the_reference(
        base in select(&["/", "/base/"][..]),
        calls in vec(call(), 0..12),
    ) {
        check(base, &calls);
    }
}

#[test]
fn calls_that_set_other_parts_may_come_in_any_order() {
    let texts = |text: &str| vec![text.to_owned()];
    let calls = [
        Call::Namespace("default".to_owned()),
        Call::Resource("Deployments".to_owned()),
        Call::Name("web".to_owned()),
        Call::SubResource(texts("status")),
        Call::Timeout(&TIMEOUTS[2]),
    ];
    for first in 0..calls.len() {
        let mut turned = calls.clone();
        turned.rotate_left(first);
        assert_eq!(check("/", &turned), calls.len());
        turned.reverse();
        assert_eq!(check("/base/", &turned), calls.len());
    }
}
