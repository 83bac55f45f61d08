//! Policies: expressions that judge or change what is about to be written.
//!
//! [`read`] compiles a policy and says what is wrong with it; [`judge`] asks the validating ones, [`mutate`]
//! lets the others change the object. No policy is asked about policies and their bindings.

mod check;
mod judge;
mod mutate;
mod params;
mod read;
pub(super) mod sight;

use std::collections::BTreeMap;
use std::sync::Arc;

pub(super) use judge::Seen;
pub(super) use mutate::Invoked;
use serde_json::Value;

use super::super::Server;
use super::super::cause::Causes;
use super::super::metadata::text;
use super::super::resource::Resource;
use super::super::rules::Rules;
use super::GROUP;
use super::conditions::Conditions;
use super::scope::Scope;
use crate::cel::Program;

const VALIDATING: &str = "validatingadmissionpolicies";
const MUTATING: &str = "mutatingadmissionpolicies";
const BINDINGS: [&str; 2] =
    ["validatingadmissionpolicybindings", "mutatingadmissionpolicybindings"];

/// The policies that have bindings, by name: those that validate, and those that mutate.
pub(super) type Policies = [Arc<Vec<(Arc<Policy>, Vec<Binding>)>>; 2];

/// A compiled policy.
#[derive(Debug)]
pub(crate) struct Policy {
    name: String,
    source: Arc<Value>,
    /// What cannot be told is as if there were no policy.
    may_fail: bool,
    scope: Scope,
    /// The version and the kind of its parameters.
    params: Option<(String, String)>,
    conditions: Conditions,
    named: Vec<(String, Program)>,
    validations: Vec<Validation>,
    annotations: Vec<(String, Program)>,
    mutations: Vec<Mutation>,
    /// It mutates again if the object has changed since.
    comes_again: bool,
}

#[derive(Debug)]
struct Validation {
    text: String,
    program: Program,
    message: String,
    computed: Option<(String, Program)>,
    reason: &'static str,
    code: u16,
}

#[derive(Debug)]
struct Mutation {
    text: String,
    program: Program,
    /// It evaluates to operations, and not to an object that is applied.
    is_patch: bool,
}

/// What makes a policy count.
#[derive(Clone, Debug)]
pub(super) struct Binding {
    name: String,
    scope: Option<Scope>,
    actions: Vec<String>,
    /// Where its parameters are.
    reference: Value,
}

impl Binding {
    fn new(binding: &Value) -> Self {
        let spec = &binding["spec"];
        let scope = spec["matchResources"].is_object().then(|| Scope::of(&spec["matchResources"]));
        Self {
            name: text(binding, "name").to_owned(),
            scope,
            actions: super::super::metadata::strings(&spec["validationActions"])
                .into_iter()
                .map(str::to_owned)
                .collect(),
            reference: spec["paramRef"].clone(),
        }
    }
}

/// A resource whose objects are policies or bindings.
pub(in super::super) fn resource(resource: Resource) -> Resource {
    let is_binding = BINDINGS.contains(&resource.plural.as_str());
    // All is checked in one order.
    let rules = resource.rules.map(|rules| Rules { checks: false, ..rules });
    let validate = if is_binding { check::binding } else { validate };
    Resource {
        is_namespaced: false,
        has_status: resource.plural == VALIDATING,
        counts_generation: true,
        allows_unconditional: false,
        complete,
        validate,
        rules,
        ..resource
    }
}

/// Fills in what a client may leave out; what it leaves empty is wrong.
fn complete(object: &mut Value) {
    let is_policy = object["kind"].as_str().is_some_and(|it| it.ends_with("Policy"));
    let Some(spec) = object.get_mut("spec").filter(|it| it.is_object()) else { return };
    if is_policy && spec["failurePolicy"].is_null() {
        spec["failurePolicy"] = "Fail".into();
    }
    for field in ["matchConstraints", "matchResources"] {
        let scope = spec.get_mut(field).filter(|it| it.is_object());
        if let Some(scope) = scope.filter(|it| it["matchPolicy"].is_null()) {
            scope["matchPolicy"] = "Equivalent".into();
        }
    }
}

fn validate(object: &Value, _: Option<&Value>) -> Causes {
    let mut causes = Causes::default();
    Policy::read(Arc::new(object.clone()), &mut causes);
    causes
}

/// The plurals of policies and bindings, with their kinds.
pub(in super::super) const KINDS: [(&str, &str); 4] = [
    ("ValidatingAdmissionPolicy", VALIDATING),
    ("ValidatingAdmissionPolicyBinding", BINDINGS[0]),
    ("MutatingAdmissionPolicy", MUTATING),
    ("MutatingAdmissionPolicyBinding", BINDINGS[1]),
];

fn is_exempt(resource: &Resource) -> bool {
    resource.group == GROUP && KINDS.iter().any(|(_, plural)| *plural == resource.plural)
}

impl Server {
    /// Reads policies and bindings anew. What has not changed stays compiled.
    pub(super) fn read_policies(&self, known: &Policies) -> Policies {
        let stored = |plural: &str| self.store.objects(&format!("{plural}.{GROUP}"));
        std::array::from_fn(|index| {
            let before = known[index].iter().map(|(policy, _)| (policy.name.as_str(), policy));
            let before: BTreeMap<&str, &Arc<Policy>> = before.collect();
            let mut bound: BTreeMap<String, Vec<Binding>> = BTreeMap::new();
            for (_, binding) in stored(BINDINGS[index]).iter() {
                let of = binding.object["spec"]["policyName"].as_str().unwrap_or("");
                bound.entry(of.to_owned()).or_default().push(Binding::new(&binding.object));
            }
            let mut all = Vec::new();
            for (_, policy) in stored([VALIDATING, MUTATING][index]).iter() {
                let (source, name) = (&policy.object, text(&policy.object, "name"));
                let Some(bindings) = bound.remove(name) else { continue };
                let same = before.get(name).filter(|it| Arc::ptr_eq(&it.source, source));
                let policy = same.map_or_else(
                    || Arc::new(Policy::read(source.clone(), &mut Causes::default())),
                    |it| Arc::clone(it),
                );
                all.push((policy, bindings));
            }
            Arc::new(all)
        })
    }
}
