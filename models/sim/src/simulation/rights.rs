//! The rights of a controller: what its roles grant, what it needs, and the smallest role that suffices.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;

use serde_json::{Value, json};

use super::Simulation;
use crate::apiserver::{Attributes, Key, Noted, Policy, Rule, User, cluster_role};

/// The name of the controller's service account, and of the roles that are printed.
const NAME: &str = "controller";
const RBAC: &str = "rbac.authorization.k8s.io";

/// What a controller may do and what it does, over all plans that were tried.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rights {
    /// What it needs and may not do, each with the request that needed it.
    pub missing: Vec<String>,
    /// What it may do and never does, such as `delete pods`.
    pub unused: Vec<String>,
    /// The smallest roles that suffice, in YAML. What everybody may do is left out.
    pub smallest: String,
}

impl fmt::Display for Rights {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.missing.iter().try_for_each(|line| writeln!(f, "missing right: {line}"))?;
        self.unused.iter().try_for_each(|line| writeln!(f, "never used: {line}"))?;
        write!(f, "the smallest role that suffices:\n{}", self.smallest.trim_end())
    }
}

impl Simulation {
    /// The controller has the rights of these roles (YAML, with `Role`s and `ClusterRole`s, each in a
    /// document) and no others, under every plan. A `Role` holds in its namespace and a `ClusterRole`
    /// everywhere, unless bindings among the documents say otherwise; whom they bind is no matter. They may
    /// also name a `ClusterRole` that every cluster has, such as `view`. A request
    /// without the right is answered all the same, so that one check tells of every right that is missing:
    /// also of one that is needed only after a crash. The report also tells which rights are never used, and
    /// the smallest roles that suffice.
    ///
    /// # Panics
    ///
    /// The text is no YAML, or has no role.
    #[must_use]
    pub fn role(mut self, yaml: &str) -> Self {
        let granted = Granted::read(yaml).unwrap_or_else(|why| panic!("the role: {why}"));
        self.setup.granted = Some(Arc::new(granted));
        self
    }
}

/// What a controller has needed: the first request for each right, and the place of the role that grants
/// it. None: no role does.
pub(crate) type Needs = BTreeMap<Attributes, Need>;

#[derive(Clone, Debug)]
pub(crate) struct Need {
    /// Empty: the whole cluster.
    scope: Option<String>,
    request: String,
}

/// What the roles of a controller grant.
#[derive(Debug)]
pub(crate) struct Granted {
    pub(crate) policy: Policy,
    pub(crate) user: Arc<User>,
    /// The roles, each with where it holds: in a namespace, or everywhere.
    roles: BTreeMap<Key, (BTreeSet<String>, Vec<Rule>)>,
    /// Those of them that every cluster has: nobody can make them smaller.
    given: BTreeSet<Key>,
}

impl Granted {
    /// Reads roles from YAML documents. A role holds where its bindings among them say, or else a
    /// `ClusterRole` everywhere, and a `Role` in its namespace. Documents of other kinds say nothing.
    pub(crate) fn read(yaml: &str) -> Result<Self, String> {
        let documents: Vec<Value> =
            serde_saphyr::from_multiple(yaml).map_err(|error| format!("no YAML: {error}"))?;
        let of = |kinds: [&'static str; 2]| {
            documents.iter().filter(move |it| kinds.iter().any(|kind| it["kind"] == *kind))
        };
        let name = |it: &Value| it["metadata"]["name"].as_str().unwrap_or(NAME).to_owned();
        let namespace = |it: &Value| match it["kind"].as_str() {
            Some("ClusterRole" | "ClusterRoleBinding") => String::new(),
            _ => it["metadata"]["namespace"].as_str().unwrap_or("default").to_owned(),
        };
        let mut roles: BTreeMap<Key, (BTreeSet<String>, Vec<Rule>)> = BTreeMap::new();
        let mut policy = Policy::default();
        for role in of(["Role", "ClusterRole"]) {
            let key = Key::new(&namespace(role), &name(role));
            let plural = if role["kind"] == "Role" { "roles" } else { "clusterroles" };
            policy.absorb(plural, &key, None, Some(role));
            roles.entry(key).or_default().1.extend(Rule::all(role));
        }
        let mut given = BTreeSet::new();
        for binding in of(["RoleBinding", "ClusterRoleBinding"]) {
            let (role, place) = (&binding["roleRef"], namespace(binding));
            let own = if role["kind"] == "Role" { place.as_str() } else { "" };
            let key = Key::new(own, role["name"].as_str().unwrap_or(""));
            if own.is_empty()
                && !roles.contains_key(&key)
                && let Some(role) = cluster_role(&key.0)
            {
                policy.absorb("clusterroles", &key, None, Some(&role));
                roles.insert(key.clone(), (BTreeSet::new(), Rule::all(&role)));
                given.insert(key.clone());
            }
            if let Some((places, _)) = roles.get_mut(&key) {
                places.insert(place);
            }
        }
        if roles.is_empty() {
            return Err("there is no Role and no ClusterRole in it".to_owned());
        }
        for (key, (places, _)) in &mut roles {
            if places.is_empty() {
                places.insert(key.0.split_once('/').map_or("", |it| it.0).to_owned());
            }
        }
        let user = User::service_account("default", NAME);
        for (index, (key, (places, _))) in roles.iter().enumerate() {
            let (kind, of) = match key.0.split_once('/') {
                Some((_, of)) => ("Role", of),
                None => ("ClusterRole", &*key.0),
            };
            for place in places {
                let metadata = json!({"name": format!("{NAME}-{index}"), "namespace": place});
                let subject =
                    json!({"kind": "ServiceAccount", "name": NAME, "namespace": "default"});
                let binding = json!({
                    "metadata": metadata, "subjects": [subject],
                    "roleRef": {"kind": kind, "name": of},
                });
                policy.absorb("rolebindings", key, None, Some(&binding));
            }
        }
        Ok(Self { policy, user: Arc::new(user), roles, given })
    }

    /// Takes in what a request was found to need. What everybody may do is no matter.
    pub(crate) fn learn(&self, needs: &mut Needs, noted: Vec<Noted>, request: &str) {
        for Noted { mut asked, decision } in noted {
            let by = decision.by.as_ref().map(|(key, rule)| (self.roles.get(key), *rule));
            let scope = match by {
                None => None,
                Some((None, _)) => continue, // a role of the cluster
                Some((Some((places, rules)), rule)) => {
                    if rules.get(rule).is_none_or(|it| it.names.is_empty()) {
                        asked.name.clear();
                    }
                    let is_wide = places.contains("") || !asked.path.is_empty();
                    Some(if is_wide { String::new() } else { asked.namespace.clone() })
                }
            };
            if scope.is_none() {
                asked.name.clear();
            }
            needs.entry(asked).or_insert_with(|| Need { scope, request: request.to_owned() });
        }
    }

    /// Where something that is missing is to be granted: everywhere, if another role is.
    fn scope(&self, asked: &Attributes, need: &Need) -> String {
        let is_wide = self.roles.values().any(|(places, _)| places.contains(""));
        let missing = if is_wide { "" } else { &asked.namespace };
        need.scope.clone().unwrap_or_else(|| missing.to_owned())
    }

    /// What is missing: the rights, and the lines about them.
    pub(crate) fn missing(&self, needs: &Needs) -> Vec<(Attributes, String)> {
        let missing = needs.iter().filter(|(_, need)| need.scope.is_none());
        let line = |(asked, need): (&Attributes, &Need)| {
            let place = match asked.namespace.as_str() {
                _ if !asked.path.is_empty() => String::new(),
                "" => " in all namespaces, or of the cluster".to_owned(),
                namespace => format!(" in {namespace}"),
            };
            (asked.clone(), format!("{}{place}, for: {}", text(asked), need.request))
        };
        missing.map(line).collect()
    }

    /// Everything that a report says.
    pub(crate) fn rights(&self, needs: &Needs) -> Rights {
        let mut unused = BTreeSet::new();
        let own = self.roles.iter().filter(|(key, _)| !self.given.contains(*key));
        for (places, rules) in own.map(|(_, role)| role) {
            for rule in rules {
                let Some(parts) = rule.parts() else {
                    unused.insert(
                        "what of a rule with too many combinations cannot be told".to_owned(),
                    );
                    continue;
                };
                let reaches =
                    |it: &Attributes| places.contains("") || places.contains(&it.namespace);
                let is_used = |part: &Rule| needs.keys().any(|it| reaches(it) && part.allows(it));
                let unused_parts = parts.iter().filter(|it| !is_used(it));
                unused.extend(unused_parts.map(|part| text(&attributes(part))));
            }
        }
        let missing = self.missing(needs).into_iter().map(|(_, line)| line).collect();
        Rights { missing, unused: unused.into_iter().collect(), smallest: self.smallest(needs) }
    }

    fn smallest(&self, needs: &Needs) -> String {
        let mut verbs: BTreeMap<[String; 5], BTreeSet<String>> = BTreeMap::new();
        for (asked, need) in needs {
            let Attributes { group, name, path, .. } = asked.clone();
            let place = [self.scope(asked, need), group, asked.combined(), name, path];
            verbs.entry(place).or_default().insert(asked.verb.clone());
        }
        // Resources of a group with the same verbs share a rule, and so do names of a resource.
        let mut names: BTreeMap<_, BTreeSet<String>> = BTreeMap::new();
        for ([scope, group, resource, name, path], verbs) in verbs {
            let own = names.entry((scope, group, path, resource, verbs, name.is_empty()));
            own.or_default().extend(Some(name).filter(|it| !it.is_empty()));
        }
        let mut rules: BTreeMap<String, BTreeMap<_, BTreeSet<String>>> = BTreeMap::new();
        for ((scope, group, path, resource, verbs, _), names) in names {
            let of = rules.entry(scope).or_default().entry((group, path, names, verbs));
            of.or_default().insert(resource);
        }
        let mut yaml = String::new();
        for (scope, rules) in rules {
            let (kind, place) = match scope.as_str() {
                "" => ("ClusterRole", String::new()),
                scope => ("Role", format!("  namespace: {}\n", Value::from(scope))),
            };
            let line = if yaml.is_empty() { "" } else { "---\n" };
            yaml.push_str(&format!(
                "{line}apiVersion: {RBAC}/v1\nkind: {kind}\nmetadata:\n  name: {NAME}\n{place}rules:\n"
            ));
            for ((group, path, names, verbs), resources) in rules {
                if path.is_empty() {
                    yaml.push_str(&format!("- apiGroups: {}\n", json!([group])));
                    yaml.push_str(&format!("  resources: {}\n", json!(resources)));
                    if !names.is_empty() {
                        yaml.push_str(&format!("  resourceNames: {}\n", json!(names)));
                    }
                } else {
                    yaml.push_str(&format!("- nonResourceURLs: {}\n", json!([path])));
                }
                yaml.push_str(&format!("  verbs: {}\n", json!(verbs)));
            }
        }
        yaml
    }
}

/// A right as a person would call it: `get pods/status a`.
fn text(asked: &Attributes) -> String {
    if !asked.path.is_empty() {
        return format!("{} {}", asked.verb, asked.path);
    }
    let group = if asked.group.is_empty() { "" } else { "." };
    let blank = if asked.name.is_empty() { "" } else { " " };
    let (verb, group_name, name) = (&asked.verb, &asked.group, &asked.name);
    format!("{verb} {}{group}{group_name}{blank}{name}", asked.combined())
}

/// What a rule of single parts grants.
fn attributes(part: &Rule) -> Attributes {
    let one = |list: &[String]| list.first().cloned().unwrap_or_default();
    let resource = one(&part.resources);
    let (resource, subresource) = resource.split_once('/').unwrap_or((&resource, ""));
    Attributes {
        verb: one(&part.verbs),
        group: one(&part.groups),
        resource: resource.to_owned(),
        subresource: subresource.to_owned(),
        namespace: String::new(),
        name: one(&part.names),
        path: one(&part.urls),
    }
}
