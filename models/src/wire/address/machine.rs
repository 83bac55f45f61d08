//! The builder of addresses as a machine: each call sets a part, and returns everything that
//! follows.

use std::sync::Arc;

use seatrial_core::machine::{Cx, Machine, Step};
use seatrial_core::request::{Base, Request, Verb};

use super::words::{Timeout, Uri};

/// The paths at which the servers' addresses begin.
pub const BASES: [&str; 3] = ["/", "/base/", "/a/api/"];
/// The path below which requests begin.
pub const API: &str = "/apis/apps/v1";

/// A call of the builder.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Call {
    /// Begins another request: the number of its base, and its verb.
    Begin(u8, &'static str),
    /// The namespace.
    Namespace(String),
    /// The namespace, if objects of the resource have one.
    Scoped(String, bool),
    /// The resource.
    Resource(String),
    /// The name of an object.
    Name(String),
    /// The subresource.
    SubResource(Vec<String>),
    /// More of the path, before namespace and resource.
    Prefix(Vec<String>),
    /// More of the path, after all other parts.
    Suffix(Vec<String>),
    /// A path that replaces the prefix.
    AbsPath(Vec<String>),
    /// Path and parameters.
    Uri(&'static Uri),
    /// A value of a parameter.
    Param(String, String),
    /// The time-out.
    Timeout(&'static Timeout),
}

/// Everything that follows from the calls up to now.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Said {
    /// The address, or the first mistake.
    pub url: Result<String, String>,
    /// The template of the address, or the first mistake.
    pub template: Result<String, String>,
    /// Why the request may not be sent.
    pub refused: Option<String>,
    /// Whether the address is still the same after all of this was read.
    pub stays: bool,
}

/// The builder that ships.
#[derive(Debug)]
pub struct Ships(Request);

impl Ships {
    pub(super) fn new(base: u8, verb: &str) -> Self {
        let path = BASES[usize::from(base) % BASES.len()];
        let server = Base::parse(&format!("https://h:6443{path}")).expect("an address");
        Self(Request::new(&Arc::new(server), Verb::from(verb), API))
    }

    fn said(&self) -> Said {
        let url = self.0.url().map_err(|mistake| mistake.to_string());
        let template = self.0.template().map_err(|mistake| mistake.to_string());
        let refused = self.0.preflight().err().map(|mistake| mistake.to_string());
        let stays = self.0.url().map_err(|mistake| mistake.to_string()) == url;
        Said { url, template, refused, stays }
    }
}

fn set(request: Request, call: &Call) -> Request {
    let with = |parts: &[String], set: fn(Request, &[&str]) -> Request, request| {
        set(request, &parts.iter().map(String::as_str).collect::<Vec<_>>())
    };
    match call {
        Call::Begin(base, verb) => Ships::new(*base, verb).0,
        Call::Namespace(text) => request.namespace(text),
        Call::Scoped(text, scoped) => request.namespace_if_scoped(text, *scoped),
        Call::Resource(text) => request.resource(text),
        Call::Name(text) => request.name(text),
        Call::SubResource(parts) => with(parts, |it, parts| it.sub_resource(parts), request),
        Call::Prefix(parts) => with(parts, |it, parts| it.prefix(parts), request),
        Call::Suffix(parts) => with(parts, |it, parts| it.suffix(parts), request),
        Call::AbsPath(parts) => with(parts, |it, parts| it.abs_path(parts), request),
        Call::Uri(uri) => request.request_uri(uri.text),
        Call::Param(key, value) => request.param(key, value),
        Call::Timeout(timeout) => request.timeout_nanos(timeout.nanos),
    }
}

impl Machine for Ships {
    type Op = Call;
    type Ret = Said;

    fn step(&mut self, call: &mut Call, _: &mut Cx<'_>) -> Step<Said> {
        self.0 = set(self.0.clone(), call);
        Step::Done(self.said())
    }
}
