//! What a request carries beside its address: headers, a body, how often it may be repeated.

use std::path::Path;
use std::sync::Arc;

use serde::Serialize;

use super::body::Body;
use super::build::Request;
use super::error::BuildError;

impl Request {
    /// Puts values in place of those that a header has.
    pub fn header(mut self, name: &str, values: &[&str]) -> Self {
        self.headers.set(name, values);
        self
    }

    /// Carries bytes. The last body that is set counts.
    pub fn body(self, bytes: impl Into<Arc<[u8]>>) -> Self {
        self.set(|request| {
            request.body = Body::Bytes(bytes.into());
            Ok(())
        })
    }

    /// Carries what a file holds now.
    pub fn body_file(self, path: impl AsRef<Path>) -> Self {
        self.set(|request| {
            let path = path.as_ref();
            let bytes = std::fs::read(path)
                .map_err(|why| BuildError::File(path.to_owned(), Arc::new(why)))?;
            request.body = Body::Bytes(bytes.into());
            Ok(())
        })
    }

    /// Carries what `make` gives, which is asked anew for every attempt.
    pub fn body_made(
        self,
        make: impl Fn() -> std::io::Result<Vec<u8>> + Send + Sync + 'static,
    ) -> Self {
        self.set(|request| {
            request.body = Body::Made(Arc::new(make));
            Ok(())
        })
    }

    /// Carries an object as JSON, and says so in `Content-Type`, in place of what that header had
    /// (`election:RQ-27`).
    pub fn body_json(self, object: &impl Serialize) -> Self {
        self.set(|request| {
            let bytes =
                serde_json::to_vec(object).map_err(|why| BuildError::Encode(Arc::new(why)))?;
            request.body = Body::Bytes(bytes.into());
            request.headers.set("Content-Type", &["application/json"]);
            Ok(())
        })
    }

    /// Says how often an attempt may be repeated; 10 times by default. Zero is never.
    pub fn max_retries(mut self, count: u32) -> Self {
        self.max_retries = count;
        self
    }
}
