//! `GET` of one object.

use super::http::Response;
use super::options;
use super::status::{Failure, Outcome};
use super::{Call, Server};

impl Server {
    pub(super) fn get(&self, call: &Call<'_>) -> Outcome<Response> {
        let version = call.request.parameter("resourceVersion").unwrap_or("");
        if !version.is_empty() {
            let version = options::version(version).ok_or_else(|| bad_version(version))?;
            if version > self.store.revision {
                return Err(Failure::too_large(version, self.store.revision));
            }
        }
        match self.stored(call.resource(), &call.key()) {
            Some(stored) => Ok(Response::of(200, stored.object.clone())),
            None => Err(Failure::not_found(call.resource(), call.name())),
        }
    }
}

/// A version that is not a number.
pub(super) fn bad_version(text: &str) -> Box<Failure> {
    Failure::internal(format!(
        "resourceVersion: Invalid value: {text:?}: strconv.ParseUint: parsing {text:?}: invalid syntax"
    ))
}
