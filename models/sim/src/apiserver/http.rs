//! Requests and answers, as data.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;

use super::access::User;
use crate::protobuf;

/// The letters that all warnings of an answer may have before they are cut.
const ALL_WARNINGS: usize = 4 * 1024;
/// The letters of a warning that is cut.
const ONE_WARNING: usize = 256;

/// A request as it comes off the wire.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Request {
    /// `GET`, `POST`, `PUT`, `PATCH` or `DELETE`; others are refused.
    pub method: String,
    /// The path, as it was sent: its segments may be percent-encoded.
    pub path: String,
    /// The query's parameters in their order, decoded.
    pub query: Vec<(String, String)>,
    /// The headers in their order; names compare without case.
    pub headers: Vec<(String, String)>,
    /// The body, byte for byte.
    pub body: Vec<u8>,
    /// Who makes it, if its connection has shown that. Else a token in the headers may say so.
    pub by: Option<Arc<User>>,
}

impl Request {
    /// A request without headers and body; `target` is the path, with the query if there is one.
    pub fn new(method: &str, target: &str) -> Self {
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        let query = query.split('&').filter(|pair| !pair.is_empty()).map(|pair| {
            let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
            let plain = |text: &str| decode(&text.replace('+', " ")).into_owned();
            (plain(key), plain(value))
        });
        let (method, path) = (method.to_owned(), path.to_owned());
        Self { method, path, query: query.collect(), ..Self::default() }
    }

    /// The same with a JSON body.
    #[must_use]
    pub fn json(self, body: &Value) -> Self {
        self.content("application/json", body.to_string())
    }

    /// The same with a body of the type.
    #[must_use]
    pub fn content(mut self, media_type: &str, body: impl Into<Vec<u8>>) -> Self {
        self.headers.push(("Content-Type".to_owned(), media_type.to_owned()));
        self.body = body.into();
        self
    }

    /// The same, made by this user.
    #[must_use]
    pub fn by(mut self, user: User) -> Self {
        self.by = Some(Arc::new(user));
        self
    }

    /// The same with a header.
    #[must_use]
    pub fn with_header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    /// The first header of the name.
    pub fn header(&self, name: &str) -> Option<&str> {
        let mut headers = self.headers.iter();
        headers.find(|(it, _)| it.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
    }

    /// The first parameter of the name.
    pub fn parameter(&self, name: &str) -> Option<&str> {
        self.query.iter().find(|(it, _)| it == name).map(|(_, value)| value.as_str())
    }
}

/// Undoes percent-encoding; invalid parts stay as they are.
pub(crate) fn decode(text: &str) -> Cow<'_, str> {
    if !text.contains('%') {
        return text.into();
    }
    let (bytes, mut out, mut at) = (text.as_bytes(), Vec::with_capacity(text.len()), 0);
    while at < bytes.len() {
        let pair = bytes.get(at + 1..at + 3).and_then(|pair| std::str::from_utf8(pair).ok());
        match pair.and_then(|pair| u8::from_str_radix(pair, 16).ok()) {
            Some(byte) if bytes[at] == b'%' => {
                out.push(byte);
                at += 3;
            }
            _ => {
                out.push(bytes[at]);
                at += 1;
            }
        }
    }
    String::from_utf8_lossy(&out).into_owned().into()
}

/// The answer to a request.
#[derive(Clone, Debug, PartialEq)]
pub enum Answer {
    /// Everything at once.
    Response(Response),
    /// The head of a stream; [`events`](super::Server::events) yields what it carries.
    Watch {
        /// The stream.
        id: WatchId,
        /// Its status and headers; the body is empty.
        head: Response,
    },
    /// The connection breaks before anything arrives: only a [fault](super::Fault) does so.
    Lost,
}

/// Names an open watch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct WatchId(pub u64);

/// A response.
#[derive(Clone, Debug, PartialEq)]
pub struct Response {
    /// The status code.
    pub status: u16,
    /// The headers, `Content-Type` first.
    pub headers: Vec<(&'static str, String)>,
    /// The body.
    pub body: Body,
    /// How long a real server would have waited before it answered.
    pub after: Duration,
}

impl Response {
    /// The first header of the name.
    pub fn header(&self, name: &str) -> Option<&str> {
        let mut headers = self.headers.iter();
        headers.find(|(it, _)| it.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
    }

    /// The body as JSON, also of one that is sent as protobuf; none if it is text or empty.
    pub fn json(&self) -> Option<&Value> {
        match &self.body {
            Body::Json(value) | Body::Protobuf(value) => Some(value),
            _ => None,
        }
    }

    /// Sends a body that is JSON as protobuf.
    pub(crate) fn into_protobuf(mut self) -> Self {
        if let Body::Json(value) = self.body {
            self.body = Body::Protobuf(value);
            self.headers[0].1 = protobuf::MEDIA_TYPE.to_owned();
        }
        self
    }

    pub(crate) fn of(status: u16, body: Arc<Value>) -> Self {
        let headers = vec![("Content-Type", "application/json".to_owned())];
        Self { status, headers, body: Body::Json(body), after: Duration::ZERO }
    }

    pub(crate) fn text(status: u16, text: &str) -> Self {
        let headers = vec![("Content-Type", "text/plain; charset=utf-8".to_owned())];
        Self { status, headers, body: Body::Text(text.to_owned()), after: Duration::ZERO }
    }

    /// Adds warnings. If they are long together, each is cut, and the last ones are left out, as a
    /// real server does.
    pub(crate) fn warn(&mut self, warnings: &[String]) {
        let length = |text: &str| text.chars().count();
        let is_long = warnings.iter().map(|it| length(it)).sum::<usize>() > ALL_WARNINGS;
        let (mut written, mut told) = (0, std::collections::BTreeSet::new());
        for warning in warnings {
            if !told.insert(warning) {
                continue; // once is enough
            }
            if warning.chars().any(char::is_control) {
                continue; // a header cannot hold it; a real server leaves it out as well
            }
            let most = if is_long { ONE_WARNING } else { usize::MAX };
            let text: String = warning.chars().take(most).collect();
            written += length(&text);
            if written > ALL_WARNINGS {
                return;
            }
            let quoted = Value::from(text).to_string();
            self.headers.push(("Warning", format!("299 - {quoted}")));
        }
    }
}

/// A body, rendered when it is asked for.
#[derive(Clone, Debug, PartialEq)]
pub enum Body {
    /// Nothing.
    Empty,
    /// JSON; the keys of objects are in alphabetical order.
    Json(Arc<Value>),
    /// The protobuf of that; its kind is one that has a message.
    Protobuf(Arc<Value>),
    /// Text.
    Text(String),
}

impl Body {
    /// The bytes to send.
    pub fn bytes(&self) -> Vec<u8> {
        match self {
            Self::Empty => Vec::new(),
            Self::Json(value) => {
                let mut bytes = value.to_string().into_bytes();
                bytes.push(b'\n');
                bytes
            }
            Self::Protobuf(value) => protobuf::encode(value).unwrap_or_default(),
            Self::Text(text) => text.clone().into_bytes(),
        }
    }
}
