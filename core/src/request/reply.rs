//! The whole answer to a call.

use std::fmt;
use std::task::Poll;

use serde::de::DeserializeOwned;
use serde_json::value::RawValue;

use super::build::Request;
use super::failure::RequestError;
use super::headers::Headers;
use super::json::{JsonError, read, read_part};
use super::status::{About, Status, or_default};
use super::veil::Veil;
use super::verb::Verb;

/// How many bytes of a list are decoded before other tasks of the thread have a turn.
const TURN: usize = 256 << 10;

/// How many bytes of an answer in an unknown form are kept for the message.
const TOLD: usize = 2048;

/// The whole answer to a successful call.
#[derive(Clone)]
#[non_exhaustive]
pub struct Reply {
    /// The status code.
    pub status: u16,
    /// The headers.
    pub headers: Headers,
    /// The body.
    pub body: Vec<u8>,
    /// The secrets that are removed from error messages.
    pub(super) veil: Veil,
}

impl Reply {
    /// Tells whether something was created.
    #[must_use]
    pub const fn was_created(&self) -> bool {
        self.status == 201
    }

    /// Reads the body as JSON.
    ///
    /// # Errors
    /// It is not JSON of that form, or it is a `Status` that reports a failure (`election:RQ-86`).
    pub fn json<T: DeserializeOwned>(&self) -> Result<T, RequestError> {
        match failure(&self.body) {
            Some(status) => Err(RequestError::Status(Box::new(self.veil.status(status)))),
            None => read(&self.body).map_err(|why| self.undecodable(why)),
        }
    }

    /// Returns the error for a body that cannot be decoded. It names the content type if that is
    /// not JSON.
    pub(super) fn undecodable(&self, why: JsonError) -> RequestError {
        RequestError::Decode(why.veiled(&self.veil).foreign(foreign(&self.headers)))
    }
}

/// Lets the other tasks of the thread run.
async fn give_way() {
    let mut waited = false;
    std::future::poll_fn(|context| {
        if std::mem::replace(&mut waited, true) {
            return Poll::Ready(());
        }
        context.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}

/// Tells whether a status means success (`election:RQ-82`).
pub(super) const fn is_success(status: u16) -> bool {
    matches!(status, 101 | 200..=206)
}

/// Returns the content type of a body that is not JSON.
pub(super) fn foreign(headers: &Headers) -> Option<&str> {
    headers.get("Content-Type").filter(|kind| !kind.contains("json"))
}

impl Reply {
    /// Reads the items of a list one by one, and lets other tasks of its thread run in between. The
    /// second value is the head of the list.
    ///
    /// # Errors
    /// As [`json`](Self::json).
    pub(super) async fn items<O, H>(&self) -> Result<(Vec<O>, H), RequestError>
    where
        O: DeserializeOwned,
        H: DeserializeOwned,
    {
        #[derive(serde::Deserialize)]
        struct Parts<'b> {
            #[serde(borrow)]
            metadata: &'b RawValue,
            // A table, for example, has none, and is no list: it would empty a store (`cache:RE-13`).
            #[serde(borrow, deserialize_with = "or_default")]
            items: Vec<&'b RawValue>,
        }
        if let Some(status) = failure(&self.body) {
            return Err(RequestError::Status(Box::new(self.veil.status(status))));
        }
        let parts: Parts<'_> = serde_json::from_slice(&self.body)
            .map_err(|why| self.undecodable(JsonError::new(&why, "")))?;
        let bad = |why| self.undecodable(why);
        let metadata = parts.metadata.get();
        let head = read_part(&self.body, metadata, || "metadata".to_owned()).map_err(bad)?;
        let (mut items, mut left) = (Vec::with_capacity(parts.items.len()), TURN);
        for (number, item) in parts.items.into_iter().enumerate() {
            let path = || format!("items[{number}]");
            items.push(read_part(&self.body, item.get(), path).map_err(bad)?);
            match left.checked_sub(item.get().len()) {
                Some(less) => left = less,
                None => {
                    left = TURN;
                    give_way().await;
                }
            }
        }
        Ok((items, head))
    }
}

/// Returns the `Status` of a failure, if the body is one.
pub(super) fn failure(body: &[u8]) -> Option<Status> {
    #[derive(serde::Deserialize)]
    struct Kind {
        kind: String,
    }
    // If the object has another kind, only the kind is decoded.
    let kind: Kind = serde_json::from_slice(body).ok()?;
    if kind.kind != "Status" {
        return None;
    }
    let status: Status = serde_json::from_slice(body).ok()?;
    (status.status == "Failure").then_some(status)
}

pub(super) fn unstructured(request: &Request, code: u16, headers: &Headers, body: &[u8]) -> Status {
    let kind = headers.get("Content-Type").unwrap_or("text/plain");
    let text = String::from_utf8_lossy(&body[..body.len().min(TOLD)]);
    let text = if kind.trim_start().starts_with("text/") { text.trim() } else { "unknown" };
    let retry_after = headers.get("Retry-After").and_then(|text| text.trim().parse().ok());
    let about = About {
        verb: request.verb().as_str(),
        creates: *request.verb() == Verb::Post,
        resource: request.of_resource(),
        name: request.of_name(),
        retry_after: retry_after.unwrap_or(0),
    };
    Status::unstructured(&about, code, text)
}

/// The body may be a secret, so only its length is shown.
impl fmt::Debug for Reply {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reply")
            .field("status", &self.status)
            .field("headers", &self.headers)
            .field("body", &format_args!("{} bytes", self.body.len()))
            .finish()
    }
}
