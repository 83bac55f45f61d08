//! The headers and the body of a request, and how often it may be repeated.

use std::path::Path;
use std::sync::Arc;

use serde::Serialize;

use super::body::Body;
use super::build::Request;
use super::error::BuildError;
use super::json::JsonError;

impl Request {
    /// Replaces all values of a header.
    pub fn header(mut self, name: &str, values: &[&str]) -> Self {
        self.headers.set(name, values);
        self
    }

    /// Sets the body to these bytes. A body that is set later replaces it.
    pub fn body(self, bytes: impl Into<Arc<[u8]>>) -> Self {
        self.set(|request| {
            request.body = Body::Bytes(bytes.into());
            Ok(())
        })
    }

    /// Sets the body to the present content of a file.
    pub fn body_file(self, path: impl AsRef<Path>) -> Self {
        self.set(|request| {
            let path = path.as_ref();
            let bytes = std::fs::read(path)
                .map_err(|why| BuildError::File(path.to_owned(), Arc::new(why)))?;
            request.body = Body::Bytes(bytes.into());
            Ok(())
        })
    }

    /// Sets a function that makes the body; it is called for every attempt.
    pub fn body_made(
        self,
        make: impl Fn() -> std::io::Result<Vec<u8>> + Send + Sync + 'static,
    ) -> Self {
        self.set(|request| {
            request.body = Body::Made(Arc::new(make));
            Ok(())
        })
    }

    /// Sets the body to an object as JSON, and replaces the `Content-Type` accordingly
    /// (`election:RQ-27`).
    pub fn body_json(self, object: &impl Serialize) -> Self {
        self.set(|request| {
            let bad = |why| BuildError::Encode(JsonError::new(&why, ""));
            let bytes = serde_json::to_vec(object).map_err(bad)?;
            request.body = Body::Bytes(bytes.into());
            request.headers.set("Content-Type", &["application/json"]);
            Ok(())
        })
    }

    /// Sets how often a failed attempt may be repeated; 10 times by default. Zero means never.
    pub fn max_retries(mut self, count: u32) -> Self {
        self.max_retries = count;
        self
    }
}
