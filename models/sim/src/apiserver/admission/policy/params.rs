//! The parameters of a binding.

use std::sync::Arc;

use serde_json::Value;

use super::super::super::access::{Attributes, User};
use super::super::super::cause::Cause;
use super::super::super::label::Labels;
use super::super::super::status::{Failure, Outcome};
use super::super::super::store::Key;
use super::super::super::{Call, Resource, Server, metadata};
use super::super::GROUP;
use super::{BINDINGS, Binding, Policy, is_exempt};

impl Server {
    /// The resource of the parameters of a policy.
    pub(super) fn params_resource(&self, params: &(String, String)) -> Option<&Arc<Resource>> {
        let (version, kind) = params;
        self.registry.iter().find(|it| it.kind == *kind && it.api_version() == *version)
    }

    /// Who writes a policy or a binding may read the parameters that it names.
    pub(in super::super) fn check_params(
        &mut self,
        call: &Call<'_>,
        object: &Value,
        old: Option<&Value>,
    ) -> Outcome<()> {
        let (Some(user), Some(_)) = (call.user.clone(), &self.access) else { return Ok(()) };
        let resource = call.target.resource.clone();
        let is_binding = BINDINGS.contains(&resource.plural.as_str());
        let field = if is_binding { "paramRef" } else { "paramKind" };
        let named = &object["spec"][field];
        let is_kept = |old: &Value| {
            let of = |it: &Value| it["spec"]["policyName"].clone();
            old["spec"][field] == *named && of(old) == of(object)
        };
        if !is_exempt(&resource) || user.is_master() || named.is_null() || old.is_some_and(is_kept)
        {
            return Ok(());
        }
        let kind = if is_binding { self.kind_of(&resource, object) } else { Some(named.clone()) };
        let part = |of: &str| kind.as_ref().and_then(|it| it[of].as_str()).unwrap_or("").to_owned();
        let (version, kind) = (part("apiVersion"), part("kind"));
        let group = version.split_once('/').map_or("", |it| it.0).to_owned();
        let found = self.params_resource(&(version.clone(), kind.clone()));
        let plural = found.map_or("*", |it| it.plural.as_str()).to_owned();
        let text = |of: &str| named[of].as_str().unwrap_or("").to_owned();
        let mut asked =
            Attributes { verb: "get".to_owned(), group, resource: plural, ..Attributes::default() };
        if is_binding {
            (asked.name, asked.namespace) = (text("name"), text("namespace"));
            asked.verb = if asked.name.is_empty() { "list" } else { "get" }.to_owned();
            asked.group = if version.is_empty() { "*".to_owned() } else { asked.group };
        } else {
            (asked.name, asked.namespace) = ("*".to_owned(), "*".to_owned());
        }
        let verb = asked.verb.clone();
        if self.check(&user, asked).is_ok() {
            return Ok(());
        }
        let User { name, uid, groups, .. } = &*user;
        let shown = format!("user &{{{name} {uid} [{}] map[]}}", groups.join(" "));
        let why = match is_binding {
            true => format!(
                "{shown} does not have {verb:?} permission on the object referenced by paramRef"
            ),
            false => format!(
                "{shown} must have \"get\" permission on all objects of the referenced paramKind (kind={kind}, apiVersion={version})"
            ),
        };
        let causes = [Cause::forbidden(format!("spec.{field}"), &why)];
        Err(Failure::invalid(
            &resource.group,
            &resource.kind,
            metadata::text(object, "name"),
            &causes,
        ))
    }

    /// The kind of the parameters of the policy that a binding names.
    fn kind_of(&self, resource: &Resource, binding: &Value) -> Option<Value> {
        let policies = resource.plural.replace("policybindings", "policies");
        let name = binding["spec"]["policyName"].as_str().unwrap_or("");
        let stored = self.store.get(&format!("{policies}.{GROUP}"), &Key::new("", name))?;
        Some(stored.object["spec"]["paramKind"].clone())
    }

    /// What is wrong with the parameters of a policy, whatever its bindings say.
    pub(super) fn params_wrong(&self, policy: &Policy) -> Option<String> {
        let params = policy.params.as_ref()?;
        if self.params_resource(params).is_some() {
            return None;
        }
        let (version, kind) = params;
        let slash = if version.contains('/') { "" } else { "/" };
        Some(format!(
            "failed to find resource referenced by paramKind: '{slash}{version}, Kind={kind}'"
        ))
    }

    /// All parameters of a binding: one judgement for each. None stands for a policy without any.
    pub(super) fn params_of(
        &self,
        policy: &Policy,
        binding: &Binding,
        namespace: &str,
    ) -> Result<Vec<Option<Arc<Value>>>, String> {
        let reference = &binding.reference;
        let resource = policy.params.as_ref().and_then(|it| self.params_resource(it));
        let Some(resource) = resource.filter(|_| reference.is_object()) else {
            return Ok(vec![None]);
        };
        let part = |field: &str| reference[field].as_str().unwrap_or("");
        let place = match part("namespace") {
            "" if !resource.is_namespaced => "",
            _ if !resource.is_namespaced => {
                return Err(
                    "paramRef.namespace must not be provided for a cluster-scoped `paramKind`"
                        .to_owned(),
                );
            }
            "" if namespace.is_empty() => {
                return Err("cannot use namespaced paramRef in policy binding that matches cluster-scoped resources".to_owned());
            }
            "" => namespace,
            own => own,
        };
        let table = resource.table();
        let found: Vec<Arc<Value>> = match part("name") {
            "" => {
                let labels = Labels::of(&reference["selector"]).unwrap_or_default();
                let all = match place {
                    "" => self.store.objects(&table).iter().map(|it| it.1.object.clone()).collect(),
                    place => self.of_namespace(&table, place),
                };
                all.into_iter().filter(|it| labels.matches(it)).collect()
            }
            name => {
                let stored = self.stored(resource, &Key::new(place, name));
                stored.map(|it| it.object.clone()).into_iter().collect()
            }
        };
        if found.is_empty() && part("parameterNotFoundAction") == "Deny" {
            return Err(
                "no params found for policy binding with `Deny` parameterNotFoundAction".to_owned()
            );
        }
        Ok(found.into_iter().map(Some).collect())
    }
}
