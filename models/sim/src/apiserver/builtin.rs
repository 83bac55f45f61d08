//! The kinds that a server has from the start, as data.

use super::types::{Type, keep, omit, write};

pub(super) const TEXT: Type = Type::Text;
pub(super) const TEXTS: Type = Type::Map(&TEXT);
pub(super) const LIST: Type = Type::List(&TEXT);
pub(super) const ANY: Type = Type::Any;
pub(super) const MANY: Type = Type::List(&ANY);

const OWNER: Type = Type::Struct(
    "OwnerReference",
    &[
        write("apiVersion", &TEXT),
        write("kind", &TEXT),
        write("name", &TEXT),
        write("uid", &TEXT),
        keep("controller", &Type::Bool),
        keep("blockOwnerDeletion", &Type::Bool),
    ],
);

const MANAGED: Type = Type::Struct(
    "ManagedFieldsEntry",
    &[
        omit("manager", &TEXT),
        omit("operation", &TEXT),
        omit("apiVersion", &TEXT),
        keep("time", &Type::Time),
        omit("fieldsType", &TEXT),
        keep("fieldsV1", &ANY),
        omit("subresource", &TEXT),
    ],
);

/// The metadata of every object, built in or not.
pub(crate) static META: Type = Type::Struct(
    "ObjectMeta",
    &[
        omit("name", &TEXT),
        omit("generateName", &TEXT),
        omit("namespace", &TEXT),
        omit("selfLink", &TEXT),
        omit("uid", &TEXT),
        omit("resourceVersion", &TEXT),
        omit("generation", &Type::Int64),
        omit("creationTimestamp", &Type::Time),
        keep("deletionTimestamp", &Type::Time),
        keep("deletionGracePeriodSeconds", &Type::Int64),
        omit("labels", &TEXTS),
        omit("annotations", &TEXTS),
        omit("ownerReferences", &Type::List(&OWNER)),
        omit("finalizers", &LIST),
        // An empty list says that no field has an owner.
        keep("managedFields", &Type::List(&MANAGED)),
    ],
);

macro_rules! object {
    ($name:literal, $($field:expr),* $(,)?) => {
        Type::Struct(
            $name,
            &[omit("kind", &TEXT), omit("apiVersion", &TEXT), write("metadata", &META), $($field),*],
        )
    };
}
pub(super) use object;

pub(crate) static CONFIG_MAP: Type = object!(
    "ConfigMap",
    omit("data", &TEXTS),
    omit("binaryData", &Type::Map(&Type::Bytes)),
    keep("immutable", &Type::Bool),
);

pub(crate) static SECRET: Type = object!(
    "Secret",
    omit("data", &Type::Map(&Type::Bytes)),
    omit("stringData", &TEXTS),
    omit("type", &TEXT),
    keep("immutable", &Type::Bool),
);

pub(crate) static LEASE: Type = object!("Lease", write("spec", &LEASE_SPEC));

const LEASE_SPEC: Type = Type::Struct(
    "LeaseSpec",
    &[
        keep("holderIdentity", &TEXT),
        keep("leaseDurationSeconds", &Type::Int32),
        keep("acquireTime", &Type::MicroTime),
        keep("renewTime", &Type::MicroTime),
        keep("leaseTransitions", &Type::Int32),
        keep("strategy", &TEXT),
        keep("preferredHolder", &TEXT),
    ],
);

pub(crate) static NAMESPACE: Type = object!(
    "Namespace",
    write("spec", &Type::Struct("NamespaceSpec", &[omit("finalizers", &LIST)])),
    write(
        "status",
        &Type::Struct("NamespaceStatus", &[omit("phase", &TEXT), omit("conditions", &MANY)])
    ),
);

pub(crate) static SERVICE_ACCOUNT: Type = object!(
    "ServiceAccount",
    omit("secrets", &Type::List(&OBJECT_REFERENCE)),
    omit(
        "imagePullSecrets",
        &Type::List(&Type::Struct("LocalObjectReference", &[omit("name", &TEXT)])),
    ),
    keep("automountServiceAccountToken", &Type::Bool),
);

const EVENT_SOURCE: Type =
    Type::Struct("EventSource", &[omit("component", &TEXT), omit("host", &TEXT)]);

pub(crate) static EVENT: Type = object!(
    "Event",
    write("involvedObject", &OBJECT_REFERENCE),
    omit("reason", &TEXT),
    omit("message", &TEXT),
    write("source", &EVENT_SOURCE),
    write("firstTimestamp", &Type::Time),
    write("lastTimestamp", &Type::Time),
    omit("count", &Type::Int32),
    omit("type", &TEXT),
    write("eventTime", &Type::MicroTime),
    keep(
        "series",
        &Type::Struct(
            "EventSeries",
            &[omit("count", &Type::Int32), write("lastObservedTime", &Type::MicroTime)],
        ),
    ),
    omit("action", &TEXT),
    keep("related", &OBJECT_REFERENCE),
    write("reportingComponent", &TEXT),
    write("reportingInstance", &TEXT),
);

/// The same as `events.k8s.io` has it.
pub(crate) static NEW_EVENT: Type = object!(
    "Event",
    write("eventTime", &Type::MicroTime),
    keep(
        "series",
        &Type::Struct(
            "EventSeries",
            &[write("count", &Type::Int32), write("lastObservedTime", &Type::MicroTime)],
        ),
    ),
    omit("reportingController", &TEXT),
    omit("reportingInstance", &TEXT),
    omit("action", &TEXT),
    omit("reason", &TEXT),
    write("regarding", &OBJECT_REFERENCE),
    keep("related", &OBJECT_REFERENCE),
    omit("note", &TEXT),
    omit("type", &TEXT),
    write("deprecatedSource", &EVENT_SOURCE),
    write("deprecatedFirstTimestamp", &Type::Time),
    write("deprecatedLastTimestamp", &Type::Time),
    omit("deprecatedCount", &Type::Int32),
);

const OBJECT_REFERENCE: Type = Type::Struct(
    "ObjectReference",
    &[
        omit("kind", &TEXT),
        omit("namespace", &TEXT),
        omit("name", &TEXT),
        omit("uid", &TEXT),
        omit("apiVersion", &TEXT),
        omit("resourceVersion", &TEXT),
        omit("fieldPath", &TEXT),
    ],
);

/// The `spec` and `status` of these are taken as they are: their inner fields are not checked.
pub(super) const OPEN_SPEC: Type = Type::Map(&ANY);

macro_rules! open {
    ($name:literal) => {
        object!($name, write("spec", &OPEN_SPEC), write("status", &OPEN_SPEC))
    };
}
pub(super) use open;

pub(crate) static CRD: Type = open!("CustomResourceDefinition");
