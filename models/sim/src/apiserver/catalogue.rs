//! The built-in resources.

use std::sync::OnceLock;

use super::builtin as of;
use super::event;
use super::kinds::{self, anything, nothing, whole};
use super::names::Naming;
use super::resource::{Registry, Resource, Shape};
use super::rules::{self, Rules};
use super::scale::Scale;
use super::stored;
use super::table;
use super::typed;
use super::types::Type;
use crate::patch::Types;

/// A resource with the properties that most resources have.
pub(super) fn resource(group: &str, kind: &str, plural: &str, of: &'static Type) -> Resource {
    Resource {
        group: group.to_owned(),
        version: "v1".to_owned(),
        kind: kind.to_owned(),
        plural: plural.to_owned(),
        singular: kind.to_lowercase(),
        short_names: short_names(plural).iter().map(|&name| name.to_owned()).collect(),
        list_kind: format!("{kind}List"),
        is_namespaced: true,
        is_custom: false,
        has_status: false,
        scale: None,
        allows_unconditional: true,
        creates_on_update: false,
        counts_generation: false,
        returns_deleted: matches!(
            kind,
            "PersistentVolume" | "PersistentVolumeClaim" | "Pod" | "Service" | "ServiceAccount"
        ),
        revalidates: false,
        naming: Naming::Subdomain,
        fields: &[],
        shape: Shape::Struct(of),
        rules: None,
        types: Types::built_in(group, "v1", kind)
            .unwrap_or_else(|| Types::from_schema(&serde_json::json!({}))),
        storage: None,
        categories: Vec::new(),
        selectable: Vec::new(),
        columns: table::built_in(kind),
        complete: whole,
        prepare: nothing,
        validate: anything,
    }
}

/// A resource whose fields, defaults and checks are data.
pub(super) fn known(group: &str, version: &str, kind: &str, plural: &str) -> Resource {
    let slash = if group.is_empty() { "" } else { "/" };
    let api_version = format!("{group}{slash}{version}");
    let resource = resource(group, kind, plural, typed::kind(&api_version, kind));
    let types = Types::built_in(group, version, kind).unwrap_or(resource.types);
    let rules = Rules::of(&api_version, kind);
    Resource { version: version.to_owned(), rules, types, ..resource }
}

fn short_names(plural: &str) -> &'static [&'static str] {
    match plural {
        "configmaps" => &["cm"],
        "customresourcedefinitions" => &["crd", "crds"],
        "deployments" => &["deploy"],
        "events" => &["ev"],
        "namespaces" => &["ns"],
        "nodes" => &["no"],
        "persistentvolumeclaims" => &["pvc"],
        "persistentvolumes" => &["pv"],
        "pods" => &["po"],
        "replicasets" => &["rs"],
        "serviceaccounts" => &["sa"],
        "services" => &["svc"],
        "statefulsets" => &["sts"],
        "certificatesigningrequests" => &["csr"],
        "cronjobs" => &["cj"],
        "daemonsets" => &["ds"],
        "endpoints" => &["ep"],
        "horizontalpodautoscalers" => &["hpa"],
        "ingresses" => &["ing"],
        "limitranges" => &["limits"],
        "networkpolicies" => &["netpol"],
        "poddisruptionbudgets" => &["pdb"],
        "priorityclasses" => &["pc"],
        "resourcequotas" => &["quota"],
        "storageclasses" => &["sc"],
        _ => &[],
    }
}

fn workload(group: &str, kind: &str, plural: &str) -> Resource {
    Resource {
        has_status: true,
        scale: Some(Scale::built_in()),
        counts_generation: true,
        ..known(group, "v1", kind, plural)
    }
}

/// All of them. They are made once: a simulation makes thousands of servers.
pub(crate) fn registry() -> Registry {
    static ALL: OnceLock<Registry> = OnceLock::new();
    let all = ALL.get_or_init(|| {
        let mut registry = Registry::default();
        core(&mut |resource| registry.put(resource));
        groups(&mut |resource| registry.put(resource));
        events(&mut |resource| registry.put(resource));
        stored::all(&mut |resource| registry.put(resource));
        super::access::resources(&mut |resource| registry.put(resource));
        registry
    });
    all.clone()
}

/// The resources of the core group.
fn core(put: &mut dyn FnMut(Resource)) {
    put(Resource {
        revalidates: true,
        validate: kinds::config_map,
        ..resource("", "ConfigMap", "configmaps", &of::CONFIG_MAP)
    });
    put(Resource {
        revalidates: true,
        complete: kinds::complete_secret,
        validate: kinds::secret,
        fields: &["type"],
        ..resource("", "Secret", "secrets", &of::SECRET)
    });
    put(Resource {
        has_status: true,
        counts_generation: true,
        prepare: rules::prepare_pod,
        fields: &["spec.nodeName", "spec.restartPolicy", "spec.schedulerName", "status.phase"],
        ..known("", "v1", "Pod", "pods")
    });
    put(Resource {
        has_status: true,
        naming: Naming::Service,
        prepare: rules::prepare_service,
        ..known("", "v1", "Service", "services")
    });
    put(Resource { is_namespaced: false, has_status: true, ..known("", "v1", "Node", "nodes") });
    put(Resource {
        is_namespaced: false,
        has_status: true,
        naming: Naming::Label,
        prepare: kinds::prepare_namespace,
        fields: &["status.phase"],
        ..resource("", "Namespace", "namespaces", &of::NAMESPACE)
    });
    put(Resource {
        revalidates: true,
        prepare: kinds::prepare_account,
        ..resource("", "ServiceAccount", "serviceaccounts", &of::SERVICE_ACCOUNT)
    });
    put(Resource {
        has_status: true,
        prepare: kinds::prepare_claim,
        ..known("", "v1", "PersistentVolumeClaim", "persistentvolumeclaims")
    });
    put(Resource {
        is_namespaced: false,
        has_status: true,
        prepare: kinds::prepare_claim,
        ..known("", "v1", "PersistentVolume", "persistentvolumes")
    });
}

/// The resources of the other groups.
fn groups(put: &mut dyn FnMut(Resource)) {
    put(workload("apps", "Deployment", "deployments"));
    put(workload("apps", "ReplicaSet", "replicasets"));
    put(workload("apps", "StatefulSet", "statefulsets"));
    put(Resource { scale: None, prepare: rules::prepare_job, ..workload("batch", "Job", "jobs") });
    put(Resource {
        allows_unconditional: false,
        creates_on_update: true,
        prepare: kinds::prepare_lease,
        validate: kinds::lease,
        ..resource("coordination.k8s.io", "Lease", "leases", &of::LEASE)
    });
    put(super::crd::resource(resource(
        "apiextensions.k8s.io",
        "CustomResourceDefinition",
        "customresourcedefinitions",
        &of::CRD,
    )));
}

/// The two APIs of events.
fn events(put: &mut dyn FnMut(Resource)) {
    put(Resource {
        creates_on_update: true,
        naming: Naming::Segment,
        fields: &[
            "involvedObject.apiVersion",
            "involvedObject.fieldPath",
            "involvedObject.kind",
            "involvedObject.name",
            "involvedObject.namespace",
            "involvedObject.resourceVersion",
            "involvedObject.uid",
            "reason",
            "reportingComponent",
            "source",
            "type",
        ],
        validate: event::lax,
        ..resource("", "Event", "events", &of::EVENT)
    });
    put(Resource {
        creates_on_update: true,
        fields: &[
            "reason",
            "regarding.apiVersion",
            "regarding.fieldPath",
            "regarding.kind",
            "regarding.name",
            "regarding.namespace",
            "regarding.resourceVersion",
            "regarding.uid",
            "reportingController",
            "type",
        ],
        validate: event::strict,
        ..resource("events.k8s.io", "Event", "events", &of::NEW_EVENT)
    });
}
