//! What the errors of a client of kube mean for an informer.

use std::io;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use kube::core::Status;
use seatrial_core::informer::{SourceError, SourceKind};

/// The last error of a source that has not been followed by a list or a watch.
#[derive(Clone, Debug, Default)]
pub(crate) struct LastError(Arc<Mutex<Option<SourceError>>>);

impl LastError {
    /// Passes a result on and keeps its error.
    pub(super) fn note<T>(&self, result: Result<T, SourceError>) -> Result<T, SourceError> {
        let mut last = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        *last = result.as_ref().err().cloned();
        result
    }

    pub(crate) fn get(&self) -> Option<SourceError> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// Says where an answer cannot be read, and not what stands there: it may be a secret.
pub(super) fn undecodable(error: &serde_json::Error) -> SourceError {
    let (line, column, why) = (error.line(), error.column(), error.classify());
    let text = format!("an answer cannot be read at line {line}, column {column}: {why:?}");
    SourceError::new(SourceKind::Other, text)
}

pub(super) fn source_error(error: kube::Error) -> SourceError {
    let (kind, after) = match &error {
        kube::Error::Api(status) => (kind_of(status), retry_after(status)),
        kube::Error::SerdeError(error) => return undecodable(error),
        other => (transport_kind(other), None),
    };
    let error = SourceError::new(kind, error);
    match after {
        Some(delay) => error.after(delay),
        None => error,
    }
}

fn kind_of(status: &Status) -> SourceKind {
    let details = status.details.as_ref();
    let too_large = |it: &kube::core::response::StatusCause| it.reason == "ResourceVersionTooLarge";
    match status.code {
        // The version or the page is too old, whether in an answer or within a watch.
        410 => SourceKind::Expired,
        429 => SourceKind::TooManyRequests,
        504 if details.is_some_and(|it| it.causes.iter().any(too_large)) => SourceKind::TooLarge,
        500 => SourceKind::Internal,
        400 | 422 => SourceKind::Invalid,
        _ => SourceKind::Other,
    }
}

fn retry_after(status: &Status) -> Option<Duration> {
    let seconds = status.details.as_ref()?.retry_after_seconds;
    (seconds > 0).then(|| Duration::from_secs(seconds.into()))
}

/// Searches the causes for an IO error.
fn transport_kind(error: &kube::Error) -> SourceKind {
    let mut cause: Option<&(dyn std::error::Error + 'static)> = Some(error);
    while let Some(error) = cause {
        match error.downcast_ref::<io::Error>().map(io::Error::kind) {
            Some(io::ErrorKind::ConnectionRefused) => return SourceKind::Refused,
            Some(io::ErrorKind::UnexpectedEof) => return SourceKind::Eof,
            _ => cause = error.source(),
        }
    }
    SourceKind::Other
}
