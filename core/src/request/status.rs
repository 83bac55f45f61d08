//! Refusals of a server.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Why a server refused (`election:RQ-87`).
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
#[non_exhaustive]
pub enum Reason {
    /// The server gave no reason.
    #[default]
    Unknown,
    /// The client is not authenticated.
    Unauthorized,
    /// The client is not allowed to do that.
    Forbidden,
    /// The object or the resource does not exist.
    NotFound,
    /// An object with that name exists already.
    AlreadyExists,
    /// The object was changed meanwhile, or a precondition does not hold.
    Conflict,
    /// The resource or the object is gone for good.
    Gone,
    /// The object is invalid for its kind.
    Invalid,
    /// The version or the page is too old: list again.
    Expired,
    /// The server cannot do it now; try again later.
    ServerTimeout,
    /// The server cannot read its own stored data.
    StoreReadError,
    /// It took too long.
    Timeout,
    /// The client sends too many requests.
    TooManyRequests,
    /// The request makes no sense.
    BadRequest,
    /// The resource does not support that verb.
    MethodNotAllowed,
    /// The server cannot produce a format that the client accepts.
    NotAcceptable,
    /// The request is too large.
    RequestEntityTooLarge,
    /// The server does not accept the format of the body.
    UnsupportedMediaType,
    /// The server has an internal error.
    InternalError,
    /// The server is not available at the moment.
    ServiceUnavailable,
    /// Any other reason.
    Other(String),
}

/// Lists the reasons once, for the conversions both ways.
macro_rules! reasons {
    ($($name:ident),+ $(,)?) => {
        impl From<String> for Reason {
            fn from(name: String) -> Self {
                match name.as_str() {
                    "" | "Unknown" => Self::Unknown,
                    $(stringify!($name) => Self::$name,)+
                    _ => Self::Other(name),
                }
            }
        }

        impl Reason {
            /// Returns the name that goes over the wire; empty if the server did not say.
            #[must_use]
            pub fn as_str(&self) -> &str {
                match self {
                    Self::Unknown => "",
                    $(Self::$name => stringify!($name),)+
                    Self::Other(name) => name,
                }
            }
        }
    };
}

reasons! {
    Unauthorized, Forbidden, NotFound, AlreadyExists, Conflict, Gone, Invalid, Expired,
    ServerTimeout, StoreReadError, Timeout, TooManyRequests, BadRequest, MethodNotAllowed,
    NotAcceptable, RequestEntityTooLarge, UnsupportedMediaType, InternalError, ServiceUnavailable,
}

impl From<Reason> for String {
    fn from(reason: Reason) -> Self {
        match reason {
            Reason::Other(name) => name,
            known => known.as_str().to_owned(),
        }
    }
}

/// The answer of a server that refused a request, in the API's own form.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
#[non_exhaustive]
pub struct Status {
    /// `Failure`, or `Success` after a deletion.
    pub status: String,
    /// For people.
    pub message: String,
    /// For programs.
    pub reason: Reason,
    /// The object that the request was about.
    #[serde(deserialize_with = "or_default")]
    pub details: Details,
    /// The status code of the answer.
    pub code: u16,
}

/// The object that a [`Status`] is about, and details of the refusal.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
#[non_exhaustive]
pub struct Details {
    /// The object.
    pub name: String,
    /// The group of its kind.
    pub group: String,
    /// Its kind or resource.
    pub kind: String,
    /// Its identity.
    pub uid: String,
    /// The single errors.
    #[serde(deserialize_with = "or_default")]
    pub causes: Vec<Cause>,
    /// After how many seconds to try again; zero if the server did not say.
    pub retry_after_seconds: u32,
}

/// A single error in an object.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct Cause {
    /// For programs.
    pub reason: String,
    /// For people.
    pub message: String,
    /// The field.
    pub field: String,
}

/// Decodes `null`, which servers write for a missing value, as the default.
pub(super) fn or_default<'de, D, T>(deserializer: D) -> Result<T, D::Error>
where
    D: serde::Deserializer<'de>,
    T: Default + Deserialize<'de>,
{
    Ok(Option::deserialize(deserializer)?.unwrap_or_default())
}

impl Status {
    /// Tells whether it has this reason. If the server gave no known reason, the code decides.
    #[must_use]
    pub fn is(&self, reason: &Reason) -> bool {
        if matches!(self.reason, Reason::Unknown | Reason::Other(_)) {
            return reason_of(self.code).as_ref() == Some(reason) || self.reason == *reason;
        }
        self.reason == *reason
    }

    /// Returns after how many seconds the server asks to try again, if it does.
    #[must_use]
    pub fn suggests_delay(&self) -> Option<u32> {
        let told = self.details.retry_after_seconds;
        (told > 0 || self.is(&Reason::ServerTimeout)).then_some(told)
    }

    /// Makes a status from an answer in an unknown form (`election:RQ-84`).
    pub(super) fn unstructured(about: &About<'_>, code: u16, text: &str) -> Self {
        let reason = match (code, about.creates) {
            (409, true) => Reason::AlreadyExists,
            (500.., _) => reason_of(code).unwrap_or(Reason::InternalError),
            _ => reason_of(code).unwrap_or_default(),
        };
        let text = if text.is_empty() { "unknown" } else { text };
        let mut message = match (code, &reason) {
            (403 | 406 | 415, _) => text.to_owned(),
            (500.., Reason::InternalError) => {
                format!(
                    "an error on the server ({text:?}) has prevented the request from succeeding"
                )
            }
            (_, Reason::Unknown) => format!("the server responded with the status code {code}"),
            _ => fixed(&reason).to_owned(),
        };
        let subject = [about.resource, about.name].join(" ");
        if !subject.trim().is_empty() {
            let verb = about.verb.to_ascii_lowercase();
            message = format!("{message} ({verb} {})", subject.trim());
        }
        let cause = Cause {
            reason: "UnexpectedServerResponse".to_owned(),
            message: text.to_owned(),
            field: String::new(),
        };
        let details = Details {
            name: about.name.to_owned(),
            kind: about.resource.to_owned(),
            causes: vec![cause],
            retry_after_seconds: about.retry_after,
            ..Details::default()
        };
        Self { status: "Failure".to_owned(), message, reason, details, code }
    }
}

/// The request that an answer in an unknown form belongs to.
pub(super) struct About<'a> {
    pub(super) verb: &'a str,
    pub(super) creates: bool,
    pub(super) resource: &'a str,
    pub(super) name: &'a str,
    pub(super) retry_after: u32,
}

/// Returns the reason that a code stands for.
const fn reason_of(code: u16) -> Option<Reason> {
    Some(match code {
        400 => Reason::BadRequest,
        401 => Reason::Unauthorized,
        403 => Reason::Forbidden,
        404 => Reason::NotFound,
        405 => Reason::MethodNotAllowed,
        406 => Reason::NotAcceptable,
        409 => Reason::Conflict,
        410 => Reason::Gone,
        413 => Reason::RequestEntityTooLarge,
        415 => Reason::UnsupportedMediaType,
        422 => Reason::Invalid,
        429 => Reason::TooManyRequests,
        500 => Reason::InternalError,
        503 => Reason::ServiceUnavailable,
        504 => Reason::Timeout,
        _ => return None,
    })
}

/// Returns the message for a reason, for answers in an unknown form.
const fn fixed(reason: &Reason) -> &'static str {
    match reason {
        Reason::AlreadyExists => "the server reports an object of that name",
        Reason::Conflict => "the server reports a conflict",
        Reason::NotFound => "the server could not find the requested resource",
        Reason::BadRequest => "the server rejected our request for an unknown reason",
        Reason::Unauthorized => "the server has asked for the client to provide credentials",
        Reason::MethodNotAllowed => {
            "the server does not allow this method on the requested resource"
        }
        Reason::Invalid => "the server rejected our request due to an error in our request",
        Reason::TooManyRequests => {
            "the server has received too many requests and asks to try later"
        }
        Reason::ServiceUnavailable => "the server is currently unable to handle the request",
        Reason::Timeout => "the server was unable to return a response in time",
        _ => "the server refused the request",
    }
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.message.as_str(), self.reason.as_str()) {
            ("", "") => write!(f, "the server answered with status {}", self.code),
            ("", reason) => write!(f, "the server answered {reason} (status {})", self.code),
            (message, _) => f.write_str(message),
        }
    }
}

impl std::error::Error for Status {}
