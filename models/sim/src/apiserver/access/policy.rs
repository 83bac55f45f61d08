//! Roles and bindings, by whom they are for, and the decision over a request.

use std::sync::Arc;

use serde_json::Value;

use super::super::metadata::text;
use super::super::mistake::Slip;
use super::super::store::Key;
use super::asked::Attributes;
use super::rule::Rule;
use super::user::{User, account};
use crate::map::Map;

/// The group of roles and bindings.
pub(crate) const GROUP: &str = "rbac.authorization.k8s.io";

/// A decision over a request.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Decision {
    /// It may be made.
    pub allowed: bool,
    /// Which binding allows it, or which role is missing. Empty: no role says anything about it, or the
    /// user is a member of `system:masters`.
    pub reason: String,
    /// How many rules were looked at: those of the user's own bindings.
    pub looked_at: usize,
    /// The role that allows it, and which of its rules.
    pub(crate) by: Option<(Key, usize)>,
}

/// The place of a subject in a binding: whether it is a group, its name, the namespace and the name of the
/// binding, and which of its subjects it is. All of somebody's bindings in a namespace are neighbours.
type Place = (bool, Arc<str>, Arc<str>, Arc<str>, u32);

#[derive(Debug)]
struct Bound {
    role: Key,
    /// As decisions name it.
    text: String,
    missing: String,
}

/// Everything that was granted. A copy shares its content.
#[derive(Clone, Debug, Default)]
pub(crate) struct Policy {
    /// By namespace and name; those of the cluster by name alone.
    roles: Map<Key, Arc<Vec<Rule>>>,
    bindings: Map<Place, Arc<Bound>>,
}

impl Policy {
    #[cfg_attr(not(feature = "ordered"), allow(dead_code, reason = "simulations ask"))]
    pub(super) fn has(&self, role: &Key) -> bool {
        self.roles.get(role).is_some()
    }

    /// Takes in a write of a role or of a binding.
    pub(crate) fn absorb(
        &mut self,
        resource: &str,
        key: &Key,
        old: Option<&Value>,
        new: Option<&Value>,
    ) {
        if matches!(resource, "roles" | "clusterroles") {
            match new {
                Some(role) => self.roles.insert(key.clone(), Arc::new(Rule::all(role))),
                None => self.roles.remove(key),
            };
            return;
        }
        for (place, _) in old.map(bound).into_iter().flatten() {
            self.bindings.remove(&place);
        }
        for (place, bound) in new.map(bound).into_iter().flatten() {
            self.bindings.insert(place, Arc::new(bound));
        }
    }

    /// The rules of a role that a binding names.
    pub(crate) fn role(&self, key: &Key) -> Option<&[Rule]> {
        self.roles.get(key).map(|it| &it[..])
    }

    /// Decides. Only the rules of the user's own bindings are looked at, those of the cluster first.
    pub(crate) fn decide(&self, user: &User, asked: &Attributes, slip: Option<Slip>) -> Decision {
        if user.is_master() {
            return Decision { allowed: true, ..Decision::default() };
        }
        let (mut decision, mut missing) = (Decision::default(), Vec::new());
        for bound in self.bound(user, &asked.namespace, slip) {
            let Some(rules) = self.roles.get(&bound.role) else {
                missing.push(bound.missing.as_str());
                continue;
            };
            for (index, rule) in rules.iter().enumerate() {
                decision.looked_at += 1;
                if allows(rule, asked, slip) {
                    decision.allowed = true;
                    decision.reason = format!("RBAC: allowed by {}", bound.text);
                    decision.by = Some((bound.role.clone(), index));
                    return decision;
                }
            }
        }
        decision.reason = match missing[..] {
            [] => String::new(),
            [one] => format!("RBAC: {one}"),
            _ => {
                missing.dedup();
                format!("RBAC: [{}]", missing.join(", "))
            }
        };
        decision
    }

    /// Everything that somebody may do in a namespace, and which roles are missing.
    pub(crate) fn rules(&self, user: &User, namespace: &str) -> (Vec<&Rule>, Vec<&str>) {
        let (mut rules, mut missing) = (Vec::new(), Vec::new());
        for bound in self.bound(user, namespace, None) {
            match self.roles.get(&bound.role) {
                Some(own) => rules.extend(own.iter()),
                None => missing.push(bound.missing.as_str()),
            }
        }
        (rules, missing)
    }

    /// The bindings of a user, those of the cluster and those of a namespace.
    fn bound(&self, user: &User, namespace: &str, slip: Option<Slip>) -> Vec<&Bound> {
        let mut found = Vec::new();
        let mut add = |is_group: bool, name: &str, namespace: &str| {
            let first: Place = (is_group, name.into(), namespace.into(), "".into(), 0);
            let everywhere = slip == Some(Slip::RolesReachEverywhere);
            let is_own = |it: &Place| {
                (it.0, &it.1) == (first.0, &first.1) && (it.2 == first.2 || everywhere)
            };
            let own = self.bindings.after(&first).take_while(|(place, _)| is_own(place));
            found.extend(own.map(|(_, bound)| &**bound));
        };
        let namespaces = [Some(""), Some(namespace).filter(|it| !it.is_empty())];
        for namespace in namespaces.into_iter().flatten() {
            add(false, &user.name, namespace);
            user.groups.iter().for_each(|group| add(true, group, namespace));
        }
        found
    }
}

/// Whether a rule allows what is asked for; a wrong server thinks so more often.
fn allows(rule: &Rule, asked: &Attributes, slip: Option<Slip>) -> bool {
    match slip {
        Some(Slip::NamesAreIgnored) if asked.path.is_empty() => {
            Rule { names: Vec::new(), ..rule.clone() }.allows(asked)
        }
        Some(Slip::PartsGoWithTheWhole) if !asked.subresource.is_empty() => {
            let whole = Attributes { subresource: String::new(), ..asked.clone() };
            rule.allows(asked) || rule.allows(&whole)
        }
        _ => rule.allows(asked),
    }
}

/// The subjects of a binding, each with its place.
fn bound(binding: &Value) -> Vec<(Place, Bound)> {
    let (namespace, name) = (text(binding, "namespace"), text(binding, "name"));
    let role = &binding["roleRef"];
    let part = |of: &Value, field: &str| of[field].as_str().unwrap_or("").to_owned();
    let (kind, of) = (part(role, "kind"), part(role, "name"));
    let key = match kind.as_str() {
        "Role" => Key::new(namespace, &of),
        _ => Key::new("", &of),
    };
    let (own, whole) = match namespace {
        "" => ("ClusterRoleBinding", name.to_owned()),
        _ => ("RoleBinding", format!("{name}/{namespace}")),
    };
    let subjects = binding["subjects"].as_array().into_iter().flatten();
    let bound = subjects.zip(0_u32..).filter_map(|(subject, index)| {
        let (is, who) = (part(subject, "kind"), part(subject, "name"));
        let (is_group, user, shown) = match is.as_str() {
            "User" => (false, who.clone(), who),
            "Group" => (true, who.clone(), who),
            "ServiceAccount" => {
                let place = subject["namespace"].as_str().filter(|it| !it.is_empty());
                let place = place.or(Some(namespace).filter(|it| !it.is_empty()))?;
                (false, account(place, &who), format!("{who}/{place}"))
            }
            _ => return None,
        };
        let place: Place = (is_group, user.into(), namespace.into(), name.into(), index);
        let text = format!("{own} {whole:?} of {kind} {of:?} to {is} {shown:?}");
        let missing = format!("{}.{GROUP} {of:?} not found", kind.to_lowercase());
        Some((place, Bound { role: key.clone(), text, missing }))
    });
    bound.collect()
}
