//! The body of a request.

use std::fmt;
use std::sync::Arc;

/// Makes the bytes of a body; called for every attempt.
type Make = dyn Fn() -> std::io::Result<Vec<u8>> + Send + Sync;

/// The body of a request. Each attempt sends all of it, so a request with a body may be repeated
/// (`election:RQ-28`).
#[derive(Clone, Default)]
pub(super) enum Body {
    /// None.
    #[default]
    None,
    /// These bytes.
    Bytes(Arc<[u8]>),
    /// Bytes from a function of the caller.
    Made(Arc<Make>),
}

impl Body {
    /// The bytes for one attempt.
    pub(super) fn bytes(&self) -> std::io::Result<Option<Arc<[u8]>>> {
        match self {
            Self::None => Ok(None),
            Self::Bytes(bytes) => Ok(Some(Arc::clone(bytes))),
            Self::Made(make) => make().map(|bytes| Some(bytes.into())),
        }
    }
}

impl fmt::Debug for Body {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::None => f.write_str("no body"),
            Self::Bytes(bytes) => write!(f, "{} bytes", bytes.len()),
            Self::Made(_) => f.write_str("a body that is made for every attempt"),
        }
    }
}
