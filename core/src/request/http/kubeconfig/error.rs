//! Why a kubeconfig cannot be used.

use std::error::Error;
use std::fmt;
use std::path::{Path, PathBuf};

/// Why a kubeconfig cannot be used. It tells the file, the context and the field, but no value that
/// may be a secret.
#[derive(Debug)]
pub struct KubeconfigError {
    file: PathBuf,
    at: String,
    why: String,
    cause: Option<Box<dyn Error + Send + Sync>>,
}

impl KubeconfigError {
    pub(super) fn new(file: impl Into<PathBuf>, at: String, why: impl Into<String>) -> Self {
        Self { file: file.into(), at, why: why.into(), cause: None }
    }

    pub(super) fn by(mut self, cause: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        self.cause = Some(cause.into());
        self
    }

    /// Returns the file.
    #[must_use]
    pub fn file(&self) -> &Path {
        &self.file
    }
}

impl fmt::Display for KubeconfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", self.file.display())?;
        if !self.at.is_empty() {
            write!(f, "{}: ", self.at)?;
        }
        f.write_str(&self.why)
    }
}

impl Error for KubeconfigError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.cause.as_deref().map(|cause| cause as _)
    }
}
