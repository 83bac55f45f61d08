//! The metadata of objects.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::request::status::or_default;
use crate::store::Metadata;

/// The metadata of an object. Fields that it does not name are kept and sent back.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
#[non_exhaustive]
pub struct ObjectMeta {
    /// The name.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// The namespace; empty if the kind has none.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub namespace: String,
    /// The identity, which the server gives.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub uid: String,
    /// The version, which the server gives.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub resource_version: String,
    /// The labels.
    #[serde(skip_serializing_if = "BTreeMap::is_empty", deserialize_with = "or_default")]
    pub labels: BTreeMap<String, String>,
    /// The annotations.
    #[serde(skip_serializing_if = "BTreeMap::is_empty", deserialize_with = "or_default")]
    pub annotations: BTreeMap<String, String>,
    /// All other fields.
    #[serde(flatten)]
    pub rest: Map<String, Value>,
}

impl ObjectMeta {
    /// The metadata of a new object.
    pub fn new(name: impl Into<String>) -> Self {
        Self { name: name.into(), ..Self::default() }
    }

    /// Returns what stores and informers need of it
    /// ([`Described::metadata`](crate::store::Described::metadata)).
    #[must_use]
    pub fn described(&self) -> Metadata<'_> {
        Metadata {
            namespace: &self.namespace,
            name: &self.name,
            uid: &self.uid,
            resource_version: &self.resource_version,
        }
    }
}
