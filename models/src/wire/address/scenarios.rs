//! Requests that are built, each named by the case that it must reach.

use super::machine::{BASES, Call};
use super::words::{TIMEOUTS, URIS, VERBS};
use super::{Address, History};
use crate::queues::fixtures::{caller, in_turns};
use crate::shared::Shared;
use crate::trial::Scenario;

pub(super) fn all() -> Vec<Scenario<Address>> {
    vec![
        parts_are_set(),
        mistakes_are_made(),
        paths_are_joined(),
        parameters_come_together(),
        paths_of_all_shapes(),
        namespaces_are_empty(),
        two_threads_build(),
    ]
}

impl Shared<Address> {
    /// Builds another request.
    fn build(&self, base: u8, calls: impl IntoIterator<Item = Call>) {
        self.call(Call::Begin(base, "GET"));
        calls.into_iter().for_each(|call| drop(self.call(call)));
    }
}

fn text(text: &str) -> String {
    text.to_owned()
}

fn texts(parts: &[&str]) -> Vec<String> {
    parts.iter().map(|part| text(part)).collect()
}

fn param(key: &str, value: &str) -> Call {
    Call::Param(text(key), text(value))
}

/// Whether a history has at least this many addresses, and this many mistakes.
fn builds(history: &History, addresses: usize, mistakes: usize) -> bool {
    let said: Vec<_> =
        history.events.iter().filter_map(|event| Some(event.returned()?.1)).collect();
    let wrong = said.iter().filter(|said| said.url.is_err()).count();
    said.len() - wrong >= addresses && wrong >= mistakes
}

/// All parts, in their order and in reverse.
fn parts_are_set() -> Scenario<Address> {
    Scenario::new(
        "parts_are_set",
        "all parts of an address are set, in order and in reverse",
        |world| {
            let builder = Shared::new(world);
            let mut calls = vec![
                Call::Namespace(text("default")),
                Call::Scoped(text("other"), false),
                Call::Resource(text("Deployments")),
                Call::Name(text("web-1")),
                Call::SubResource(texts(&["status"])),
                Call::Suffix(texts(&["log"])),
                Call::Suffix(texts(&["tail"])),
                Call::Prefix(texts(&["more"])),
                Call::Prefix(texts(&["and more"])),
            ];
            for base in 0..BASES.len() as u8 {
                builder.build(base, calls.clone());
                calls.reverse();
            }
        },
        |history| builds(history, 20, 0),
    )
}

/// Every mistake, and another one after it.
fn mistakes_are_made() -> Scenario<Address> {
    Scenario::new(
        "mistakes_are_made",
        "each mistake is made, and a second one after it",
        |world| {
            let builder = Shared::new(world);
            let sub = |part: &str| Call::SubResource(texts(&[part]));
            let twice = [
                [Call::Resource(text("pods")), Call::Resource(text("nodes"))],
                [Call::Name(text("a")), Call::Name(text("b"))],
                [sub("status"), sub("log")],
                [Call::Namespace(text("a")), Call::Namespace(text("b"))],
                [Call::Namespace(text("")), Call::Namespace(text("b"))],
                [Call::Name(text("")), Call::Name(text("a/b"))],
                [Call::Uri(&URIS[6]), Call::Uri(&URIS[7])],
            ];
            twice.into_iter().for_each(|calls| builder.build(0, calls));
            for bad in [".", "..", "a/b", "a%b", "a/%"] {
                builder.build(1, [Call::Namespace(text(bad)), Call::Name(text(bad))]);
                builder.build(1, [Call::Resource(text(bad))]);
                builder.build(1, [Call::Resource(text("pods")), Call::Name(text(bad))]);
                builder.build(1, [Call::Resource(text("pods")), sub(bad)]);
            }
        },
        |history| builds(history, 20, 20),
    )
}

/// Paths with slashes and dots.
fn paths_are_joined() -> Scenario<Address> {
    Scenario::new(
        "paths_are_joined",
        "paths contain slashes, dots and characters that are escaped",
        |world| {
            let builder = Shared::new(world);
            for base in 0..2 {
                for parts in
                    [&["/healthz/"][..], &["/"], &["/a", "b/"], &[], &["..", "x"], &["a//./b/.."]]
                {
                    let path = Call::AbsPath(texts(parts));
                    builder.build(base, [path, Call::Resource(text("pods"))]);
                    let suffix = [Call::Resource(text("pods")), Call::Suffix(texts(parts))];
                    builder.build(base, suffix);
                }
                builder.build(base, [Call::Suffix(texts(&["..", "..", "..", "..", "..", "x"]))]);
                builder
                    .build(base, [Call::Suffix(texts(&["{n}", "x y", "b:@", "\u{fc}", "100%"]))]);
                builder.build(base, [Call::Uri(&URIS[2]), Call::Uri(&URIS[3])]);
            }
        },
        |history| builds(history, 50, 0),
    )
}

/// Parameters from all sources.
fn parameters_come_together() -> Scenario<Address> {
    Scenario::new(
        "parameters_come_together",
        "parameters are set one by one, by a URI and by the time-out",
        |world| {
            let builder = Shared::new(world);
            let some =
                [param("z", "2"), param("b c", "x y"), param("z", "1"), param("timeout", "9s")];
            for timeout in &TIMEOUTS {
                builder.build(0, some.iter().cloned().chain([Call::Timeout(timeout)]));
                builder.build(
                    1,
                    [Call::Timeout(timeout), param("a", "1"), param("timeout", "\u{fc}&=")],
                );
            }
            for uri in &URIS[..4] {
                builder.build(1, some.iter().cloned().chain([Call::Uri(uri), param("k", "")]));
            }
        },
        |history| builds(history, 50, 0),
    )
}

/// Paths of shapes that a template knows, and other paths.
fn paths_of_all_shapes() -> Scenario<Address> {
    Scenario::new(
        "paths_of_all_shapes",
        "paths of every shape that a template knows, and of some that it does not",
        |world| {
            let builder = Shared::new(world);
            let paths = [
                "/",
                "/healthz",
                "/api",
                "/apis",
                "/other/v1/x",
                "/api/v1",
                "/api/v1/nodes",
                "/api/v1/nodes/n",
                "/api/v1/nodes/n/status",
                "/api/v1/nodes/n/finalize",
                "/api/v1/namespaces/a/pods",
                "/api/v1/namespaces/a/status",
                "/apis/g/v1/x/n",
                "/apis/g/v1/namespaces/a/x/n",
                "/api/v1/namespaces/a/pods/p/log",
                "/apis/g/v1/namespaces/a/x/status",
                "/apis/g/v1/namespaces/a/x/n/status",
            ];
            for path in paths {
                let with =
                    |value| [Call::AbsPath(texts(&[path])), param("a", value), param("a", "2")];
                builder.build(0, with("1"));
                builder.build(1, with("0"));
            }
            builder.build(2, [Call::Namespace(text("n")), Call::Resource(text("pods"))]);
        },
        |history| builds(history, 100, 0),
    )
}

/// Empty namespaces, for every verb.
fn namespaces_are_empty() -> Scenario<Address> {
    Scenario::new(
        "namespaces_are_empty",
        "the namespace is set but empty, with and without a name, for every verb",
        |world| {
            let builder = Shared::new(world);
            for verb in VERBS {
                builder.call(Call::Begin(0, verb));
                for call in [
                    Call::Resource(text("pods")),
                    Call::Namespace(text("")),
                    Call::Name(text("web")),
                ] {
                    builder.call(call);
                }
            }
        },
        |history| {
            let refused = |event: &super::Event| Some(event.returned()?.1.refused.is_some());
            history.events.iter().filter(|event| refused(event) == Some(true)).count() == 5
        },
    )
}

/// Two threads set parts of one request.
fn two_threads_build() -> Scenario<Address> {
    Scenario::new(
        "two_threads_build",
        "two threads set parts of one request, and both set the name",
        |world| {
            let builder = Shared::new(world);
            let other = caller(world, "other", &builder, |builder| {
                builder.call(Call::Name(text("web")));
                builder.call(param("b", "2"));
            });
            builder.call(Call::Resource(text("Pods")));
            builder.call(param("a", "1"));
            builder.call(Call::Name(text("db")));
            world.join(other);
            builder.call(Call::Suffix(texts(&["log"])));
        },
        in_turns,
    )
}
