//! Built-in kinds on which no controller acts: they are stored as they are sent, with the fields and the
//! defaults of their kind.

use super::catalogue::known;
use super::kinds;
use super::names::Naming;
use super::resource::Resource;
use super::{access, admission};

/// Hands out all of them.
pub(super) fn all(put: &mut dyn FnMut(Resource)) {
    for (kind, plural) in [("Role", "roles"), ("RoleBinding", "rolebindings")] {
        put(roles(kind, plural));
    }
    for (kind, plural) in
        [("ClusterRole", "clusterroles"), ("ClusterRoleBinding", "clusterrolebindings")]
    {
        put(Resource { is_namespaced: false, ..roles(kind, plural) });
    }
    for (group, kind, plural) in [
        (admission::GROUP, "MutatingWebhookConfiguration", admission::MUTATING),
        (admission::GROUP, "ValidatingWebhookConfiguration", admission::VALIDATING),
        ("networking.k8s.io", "IngressClass", "ingressclasses"),
        ("scheduling.k8s.io", "PriorityClass", "priorityclasses"),
    ] {
        let resource = known(group, "v1", kind, plural);
        let resource = Resource { is_namespaced: false, counts_generation: true, ..resource };
        put(if group == admission::GROUP { admission::configuration(resource) } else { resource });
    }
    for (kind, plural) in admission::POLICIES {
        put(admission::policy(known(admission::GROUP, "v1", kind, plural)));
    }
    let classes = known("storage.k8s.io", "v1", "StorageClass", "storageclasses");
    put(Resource { is_namespaced: false, ..classes });
    put(known("", "v1", "Endpoints", "endpoints"));
    put(admission::limit_ranges(known("", "v1", "LimitRange", "limitranges")));
    let policies = known("networking.k8s.io", "v1", "NetworkPolicy", "networkpolicies");
    put(Resource { counts_generation: true, ..policies });
    let slices = known("discovery.k8s.io", "v1", "EndpointSlice", "endpointslices");
    put(Resource { counts_generation: true, ..slices });
    for (group, kind, plural) in
        [("batch", "CronJob", "cronjobs"), ("networking.k8s.io", "Ingress", "ingresses")]
    {
        put(Resource { counts_generation: true, ..with_status(group, "v1", kind, plural) });
    }
    let budgets = with_status("policy", "v1", "PodDisruptionBudget", "poddisruptionbudgets");
    put(Resource { counts_generation: true, allows_unconditional: false, ..budgets });
    let daemons = with_status("apps", "v1", "DaemonSet", "daemonsets");
    put(Resource {
        counts_generation: true,
        complete: kinds::complete_daemons,
        prepare: kinds::prepare_daemons,
        ..daemons
    });
    let requests = "certificatesigningrequests";
    let requests = with_status("certificates.k8s.io", "v1", "CertificateSigningRequest", requests);
    put(Resource { is_namespaced: false, ..requests });
    put(with_status("", "v1", "ResourceQuota", "resourcequotas"));
    let (group, kind) = ("autoscaling", "HorizontalPodAutoscaler");
    put(with_status(group, "v2", kind, "horizontalpodautoscalers"));
}

/// A resource whose status is written apart.
fn with_status(group: &str, version: &str, kind: &str, plural: &str) -> Resource {
    Resource { has_status: true, ..known(group, version, kind, plural) }
}

/// A resource of permissions; its objects may have almost any name.
fn roles(kind: &str, plural: &str) -> Resource {
    let naming = Naming::Segment;
    let role = Resource {
        naming,
        validate: access::role,
        ..known("rbac.authorization.k8s.io", "v1", kind, plural)
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
