use serde_json::{Value, json};

/// Why a patch is refused, in the terms of the `Status` that a client gets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PatchError {
    /// The HTTP status code.
    pub status: u16,
    /// The machine-readable reason, as in `Status.reason`.
    pub reason: Option<&'static str>,
    /// The message, for people.
    pub message: String,
    /// `Status.details`, where there are any.
    pub details: Option<Value>,
}

impl PatchError {
    /// A body that cannot be read as what it should be: 400.
    pub(crate) fn bad_request(message: impl Into<String>) -> Self {
        Self { status: 400, reason: Some("BadRequest"), message: message.into(), details: None }
    }

    /// A patch that is well formed and cannot be applied: 422 with empty details.
    pub(crate) fn rejected() -> Self {
        Self {
            status: 422,
            reason: Some("Invalid"),
            message: "the server rejected our request due to an error in our request".to_owned(),
            details: Some(json!({})),
        }
    }

    /// More of something than the server accepts: 413.
    pub(crate) fn too_large(message: &str) -> Self {
        Self {
            status: 413,
            reason: Some("RequestEntityTooLarge"),
            message: format!("Request entity is too large: {message}"),
            details: Some(json!({})),
        }
    }

    /// An object that does not fit its own type: 500 without a reason.
    pub(crate) fn internal(message: impl Into<String>) -> Self {
        Self { status: 500, reason: None, message: message.into(), details: None }
    }
}

impl std::fmt::Display for PatchError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {}: {}", self.status, self.reason.unwrap_or("(no reason)"), self.message)
    }
}

impl std::error::Error for PatchError {}
