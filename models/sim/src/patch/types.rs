//! How the fields of a kind are merged and owned.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::Value;

use super::built_in::{self, built_in};
use super::schema;
use super::set::FieldSet;

/// How the fields of a kind are merged by a strategic patch and by an apply.
///
/// It is made of named parts, and the built-in ones are shared: a copy costs next to nothing.
#[derive(Debug, Clone)]
pub struct Types {
    own: Arc<Vec<Kind>>,
    root: Id,
    /// By subresource ("" for the object itself): the fields that a write there cannot change.
    reset: Arc<BTreeMap<String, FieldSet>>,
}

/// A kind among the built-in ones, or above them among one's own.
pub(crate) type Id = usize;

/// The kind of a field.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Kind {
    /// One value.
    Scalar(Scalar),
    /// The value decides: a scalar, a list that is owned as a whole, a map of such.
    Any,
    /// A map, or a struct with named fields, or both.
    Map {
        fields: BTreeMap<String, Field>,
        /// The kind of the members that are not named fields; without it there are no such members.
        rest: Option<Id>,
        atomic: bool,
    },
    List {
        items: Id,
        how: ListKind,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Scalar {
    String,
    Number,
    Boolean,
    Any,
}

/// How the items of a list are identified.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ListKind {
    /// Not at all: the list is one value.
    Atomic,
    /// By their value.
    Set,
    /// By some of their fields.
    Map(Vec<String>),
}

/// A named field of a struct.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Field {
    pub(crate) kind: Id,
    /// The value of a key field that is left out.
    pub(crate) default: Option<Value>,
    pub(crate) strategy: Strategy,
}

/// How a strategic patch treats a field.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Strategy {
    /// Whether a list is merged; if its items are objects, by which field.
    pub(crate) merge: Option<Option<String>>,
}

impl Types {
    /// The types of a kind that the server always has; none if it is not one of them.
    pub fn built_in(group: &str, version: &str, kind: &str) -> Option<Self> {
        let known = [
            ("", "v1", "ConfigMap Secret Pod Service Event Node Namespace ServiceAccount"),
            ("", "v1", "Endpoints LimitRange PersistentVolumeClaim ResourceQuota"),
            ("apps", "v1", "DaemonSet Deployment ReplicaSet StatefulSet"),
            ("autoscaling", "v2", "HorizontalPodAutoscaler"),
            ("batch", "v1", "CronJob Job"),
            ("coordination.k8s.io", "v1", "Lease"),
            ("events.k8s.io", "v1", "Event"),
            ("apiextensions.k8s.io", "v1", "CustomResourceDefinition"),
            (
                "admissionregistration.k8s.io",
                "v1",
                "MutatingWebhookConfiguration ValidatingWebhookConfiguration",
            ),
            (
                "admissionregistration.k8s.io",
                "v1",
                "MutatingAdmissionPolicy MutatingAdmissionPolicyBinding",
            ),
            (
                "admissionregistration.k8s.io",
                "v1",
                "ValidatingAdmissionPolicy ValidatingAdmissionPolicyBinding",
            ),
            ("certificates.k8s.io", "v1", "CertificateSigningRequest"),
            ("discovery.k8s.io", "v1", "EndpointSlice"),
            ("networking.k8s.io", "v1", "Ingress IngressClass NetworkPolicy"),
            ("policy", "v1", "PodDisruptionBudget"),
            ("rbac.authorization.k8s.io", "v1", "ClusterRole ClusterRoleBinding Role RoleBinding"),
            ("scheduling.k8s.io", "v1", "PriorityClass"),
            ("storage.k8s.io", "v1", "StorageClass"),
        ];
        let is_known = known.iter().any(|(known_group, known_version, kinds)| {
            *known_group == group
                && *known_version == version
                && kinds.split(' ').any(|known_kind| known_kind == kind)
        });
        if !is_known {
            return None;
        }
        // This group has a kind that is called as one of the core group.
        let name = if group == "events.k8s.io" { "events.k8s.io/Event" } else { kind };
        let root = *built_in().names.get(name)?;
        Some(Self { own: Arc::default(), root, reset: Arc::new(built_in::reset(kind)) })
    }

    /// The types that a structural schema (`openAPIV3Schema`) of a custom resource gives.
    pub fn from_schema(schema: &Value) -> Self {
        let (own, root) = schema::kinds(schema);
        Self { own: Arc::new(own), root, reset: Arc::default() }
    }

    /// The same for a resource with the subresource `status`: a write to the object cannot change the
    /// status, and a write to the status nothing else.
    #[must_use]
    pub fn with_status(mut self) -> Self {
        self.reset = Arc::new(BTreeMap::from([
            (String::new(), FieldSet::of(&[&["status"]])),
            ("status".to_owned(), FieldSet::of(&[&["metadata"], &["spec"]])),
        ]));
        self
    }

    pub(crate) fn root(&self) -> Id {
        self.root
    }

    /// The fields that a write to the object or to one of its subresources cannot change.
    pub(crate) fn reset(&self, subresource: &str) -> Option<&FieldSet> {
        self.reset.get(subresource)
    }

    pub(crate) fn kind(&self, id: Id) -> &Kind {
        let shared = &built_in().kinds;
        shared.get(id).or_else(|| self.own.get(id - shared.len())).unwrap_or(&Kind::Any)
    }

    /// The field of a struct, if the kind is one and has it.
    pub(crate) fn field(&self, id: Id, name: &str) -> Option<&Field> {
        match self.kind(id) {
            Kind::Map { fields, .. } => fields.get(name),
            _ => None,
        }
    }

    /// The kind of a member, named or not; unknown members are anything.
    pub(crate) fn member(&self, id: Id, name: &str) -> Id {
        match self.kind(id) {
            Kind::Map { fields, rest, .. } => {
                fields.get(name).map_or(rest.unwrap_or(built_in::ANY), |field| field.kind)
            }
            _ => built_in::ANY,
        }
    }
}
