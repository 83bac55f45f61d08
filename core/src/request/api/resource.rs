//! Kinds of objects, and where a server has them.

use serde::Serialize;
use serde::de::DeserializeOwned;

/// A kind of objects, and where a server has them.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub struct ApiResource {
    /// The group, such as `apps`; empty for the first kinds of Kubernetes.
    pub group: String,
    /// The version, such as `v1`.
    pub version: String,
    /// The kind, such as `Deployment`.
    pub kind: String,
    /// The name in addresses, such as `deployments`.
    pub plural: String,
    /// Whether its objects are in namespaces.
    pub namespaced: bool,
}

impl ApiResource {
    /// A kind whose objects are in namespaces.
    #[must_use]
    pub fn namespaced(group: &str, version: &str, kind: &str, plural: &str) -> Self {
        let [group, version, kind, plural] = [group, version, kind, plural].map(str::to_owned);
        Self { group, version, kind, plural, namespaced: true }
    }

    /// A kind whose objects belong to the whole cluster.
    #[must_use]
    pub fn cluster(group: &str, version: &str, kind: &str, plural: &str) -> Self {
        Self { namespaced: false, ..Self::namespaced(group, version, kind, plural) }
    }

    /// Returns group and version as objects write them, such as `apps/v1`.
    #[must_use]
    pub fn api_version(&self) -> String {
        match self.group.as_str() {
            "" => self.version.clone(),
            group => format!("{group}/{}", self.version),
        }
    }

    pub(super) fn path(&self) -> String {
        let root = if self.group.is_empty() { "/api" } else { "/apis" };
        format!("{root}/{}", self.api_version())
    }
}

/// A type of objects whose kind is known.
pub trait Resource: Serialize + DeserializeOwned {
    /// Returns the kind.
    fn api_resource() -> ApiResource;
}
