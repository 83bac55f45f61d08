//! `GET` of one object.

use super::http::Response;
use super::status::{Failure, Outcome};
use super::{Call, Server};

impl Server {
    pub(super) fn get(&self, call: &Call<'_>) -> Outcome<Response> {
        let version = call.request.parameter("resourceVersion").unwrap_or("");
        if !version.is_empty() {
            let version: u64 = version.parse().map_err(|_| bad_version(version))?;
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

/// A version that is no number.
pub(super) fn bad_version(text: &str) -> Box<Failure> {
    Failure::internal(format!(
        "resourceVersion: Invalid value: {text:?}: strconv.ParseUint: parsing {text:?}: invalid syntax"
    ))
}
