//! `GET` of one object.

use super::http::Response;
use super::options;
use super::resource::Resource;
use super::status::{Failure, Outcome};
use super::store::{Key, Stored};
use super::{Call, Server};

impl Server {
    /// How many objects of a resource there are; a resource of a group has that after a dot.
    pub(crate) fn count(&self, resource: &str) -> usize {
        self.store.table(resource).map_or(0, |table| table.objects.len())
    }

    /// The object under a key of a resource.
    pub(super) fn stored(&self, resource: &Resource, key: &Key) -> Option<&Stored> {
        self.store.get(&resource.table(), key)
    }

    pub(super) fn get(&mut self, call: &Call<'_>) -> Outcome<Response> {
        let version = call.request.parameter("resourceVersion").unwrap_or("");
        if !version.is_empty() {
            let version = options::version(version).ok_or_else(|| bad_version(version))?;
            if version > self.store.revision {
                return Err(Failure::too_large(version, self.store.revision));
            }
        }
        let resource = call.target.resource.clone();
        // A real server looks into its cache if any version will do.
        let found = match self.stored(&resource, &call.key()).cloned() {
            Some(stored) if !version.is_empty() => {
                Some(self.shown(&resource, &stored, true)?.into_owned())
            }
            _ => self.read(&resource, &call.key())?,
        };
        let found = found.ok_or_else(|| Failure::not_found(&resource, call.name()))?;
        Ok(Response::of(200, found.object))
    }
}

/// A version that is not a number.
pub(super) fn bad_version(text: &str) -> Box<Failure> {
    Failure::internal(format!(
        "resourceVersion: Invalid value: {text:?}: strconv.ParseUint: parsing {text:?}: invalid syntax"
    ))
}
