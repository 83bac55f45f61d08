//! Built-in kinds on which no controller acts: they are stored as they are sent, with the fields of their
//! kind, and, but for roles and bindings, without the defaults and the rules of a real server.

use super::access;
use super::admission;
use super::builtin::{ANY, LIST, MANY, META, OPEN_SPEC, TEXT, TEXTS, object, open};
use super::catalogue::resource;
use super::kinds;
use super::names::Naming;
use super::resource::Resource;
use super::types::{Type, keep, omit, write};
use crate::patch::Types;

static ROLE: Type = object!("Role", write("rules", &MANY));
static CLUSTER_ROLE: Type =
    object!("ClusterRole", write("rules", &MANY), keep("aggregationRule", &ANY));
static BINDING: Type =
    object!("RoleBinding", omit("subjects", &MANY), write("roleRef", &OPEN_SPEC));
static WEBHOOKS: Type = object!("WebhookConfiguration", omit("webhooks", &MANY));
static WITHOUT_STATUS: Type = object!("Object", write("spec", &OPEN_SPEC));
static WITH_STATUS: Type = open!("Object");
static STORAGE_CLASS: Type = object!(
    "StorageClass",
    write("provisioner", &TEXT),
    omit("parameters", &TEXTS),
    keep("reclaimPolicy", &TEXT),
    omit("mountOptions", &LIST),
    keep("allowVolumeExpansion", &Type::Bool),
    keep("volumeBindingMode", &TEXT),
    omit("allowedTopologies", &MANY),
);
static PRIORITY_CLASS: Type = object!(
    "PriorityClass",
    write("value", &Type::Int32),
    omit("globalDefault", &Type::Bool),
    omit("description", &TEXT),
    keep("preemptionPolicy", &TEXT),
);
static ENDPOINT_SLICE: Type = object!(
    "EndpointSlice",
    write("addressType", &TEXT),
    write("endpoints", &MANY),
    write("ports", &MANY),
);
static ENDPOINTS: Type = object!("Endpoints", omit("subsets", &MANY));

/// Hands out all of them.
pub(super) fn all(put: &mut dyn FnMut(Resource)) {
    for (kind, plural, of) in [("Role", "roles", &ROLE), ("RoleBinding", "rolebindings", &BINDING)]
    {
        put(roles(kind, plural, of));
    }
    for (kind, plural, of) in [
        ("ClusterRole", "clusterroles", &CLUSTER_ROLE),
        ("ClusterRoleBinding", "clusterrolebindings", &BINDING),
    ] {
        put(Resource { is_namespaced: false, ..roles(kind, plural, of) });
    }
    for (group, kind, plural, of) in [
        (admission::GROUP, "MutatingWebhookConfiguration", admission::MUTATING, &WEBHOOKS),
        (admission::GROUP, "ValidatingWebhookConfiguration", admission::VALIDATING, &WEBHOOKS),
        ("networking.k8s.io", "IngressClass", "ingressclasses", &WITHOUT_STATUS),
    ] {
        let resource = resource(group, kind, plural, of);
        let resource = Resource { is_namespaced: false, counts_generation: true, ..resource };
        put(if group == admission::GROUP { admission::configuration(resource) } else { resource });
    }
    for (group, kind, plural, of) in [
        ("scheduling.k8s.io", "PriorityClass", "priorityclasses", &PRIORITY_CLASS),
        ("storage.k8s.io", "StorageClass", "storageclasses", &STORAGE_CLASS),
    ] {
        put(Resource { is_namespaced: false, ..resource(group, kind, plural, of) });
    }
    put(resource("", "Endpoints", "endpoints", &ENDPOINTS));
    put(admission::limit_ranges(resource("", "LimitRange", "limitranges", &WITHOUT_STATUS)));
    put(resource("discovery.k8s.io", "EndpointSlice", "endpointslices", &ENDPOINT_SLICE));
    let policies =
        resource("networking.k8s.io", "NetworkPolicy", "networkpolicies", &WITHOUT_STATUS);
    put(Resource { counts_generation: true, ..policies });
    for (group, kind, plural) in [
        ("apps", "DaemonSet", "daemonsets"),
        ("batch", "CronJob", "cronjobs"),
        ("networking.k8s.io", "Ingress", "ingresses"),
        ("policy", "PodDisruptionBudget", "poddisruptionbudgets"),
    ] {
        put(Resource { counts_generation: true, ..with_status(group, kind, plural) });
    }
    let requests = "certificatesigningrequests";
    let requests = with_status("certificates.k8s.io", "CertificateSigningRequest", requests);
    put(Resource { is_namespaced: false, ..requests });
    put(with_status("", "ResourceQuota", "resourcequotas"));
    let (group, kind) = ("autoscaling", "HorizontalPodAutoscaler");
    let scalers = with_status(group, kind, "horizontalpodautoscalers");
    let types = Types::built_in(group, "v2", kind).unwrap_or(scalers.types);
    put(Resource { version: "v2".to_owned(), types, ..scalers });
}

/// A resource whose status is written apart, and begins empty.
fn with_status(group: &str, kind: &str, plural: &str) -> Resource {
    let prepare = kinds::prepare_workload;
    Resource { has_status: true, prepare, ..resource(group, kind, plural, &WITH_STATUS) }
}

/// A resource of permissions; its objects may have almost any name.
fn roles(kind: &str, plural: &str, of: &'static Type) -> Resource {
    let naming = Naming::Segment;
    let role = Resource {
        naming,
        validate: access::role,
        ..resource("rbac.authorization.k8s.io", kind, plural, of)
    };
    if kind.ends_with("Role") {
        return role;
    }
    Resource { validate: access::binding, complete: access::complete_binding, ..role }
}

/// Whether the conditions of its objects are also written through `approval`.
pub(super) fn has_approval(resource: &Resource) -> bool {
    resource.plural == "certificatesigningrequests" && !resource.is_custom
}
