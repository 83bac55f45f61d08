//! The roles and bindings that every cluster begins with, and roles that are put together from others.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::super::{Labels, Options, Server};
use super::{GROUP, Key, Rule};

/// A role begins with its name, its labels and what it gathers follow, then its rules:
/// `VERBS GROUP RESOURCES`. `R` reads, `W` writes, `core` is the group without a name, `url` none.
const ROLES: &str = include_str!("defaults.txt");

const ROLES_AT: &str = "/apis/rbac.authorization.k8s.io/v1/clusterroles";
const BINDINGS_AT: &str = "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings";
/// The beginning of a label that says into which role another one goes.
const GOES_TO: &str = "rbac.authorization.k8s.io/aggregate-to-";

/// Which roles everybody has, by their groups.
const BINDINGS: [(&str, &[&str]); 4] = [
    ("cluster-admin", &["system:masters"]),
    ("system:basic-user", &["system:authenticated"]),
    ("system:discovery", &["system:authenticated"]),
    ("system:public-info-viewer", &["system:authenticated", "system:unauthenticated"]),
];

/// How many roles are looked at after one write, to put others together. A chain of roles that gather
/// each other must end.
const LOOKS: usize = 200_000;
/// How many rules a role gathers.
const GATHERED: usize = 10_000;

/// The objects, each with the path to which it is posted.
pub(super) fn objects() -> Vec<(&'static str, Value)> {
    let mut objects: Vec<_> = roles().into_iter().map(|role| (ROLES_AT, role)).collect();
    for (name, groups) in BINDINGS {
        let subjects =
            groups.iter().map(|it| json!({"apiGroup": GROUP, "kind": "Group", "name": it}));
        let body = json!({
            "metadata": metadata(name), "subjects": subjects.collect::<Vec<_>>(),
            "roleRef": {"apiGroup": GROUP, "kind": "ClusterRole", "name": name},
        });
        objects.push((BINDINGS_AT, body));
    }
    objects
}

/// The role of this name that every cluster begins with, with what it gathers from others.
#[cfg_attr(not(feature = "ordered"), allow(dead_code, reason = "simulations ask"))]
pub(crate) fn cluster_role(name: &str) -> Option<Value> {
    let mut server = Server::new(&Options::default());
    server.authorize([]);
    let role = server.store.get(&format!("clusterroles.{GROUP}"), &Key::new("", name))?;
    Some(Value::clone(&role.object))
}

fn metadata(name: &str) -> Value {
    json!({
        "name": name, "labels": {"kubernetes.io/bootstrapping": "rbac-defaults"},
        "annotations": {"rbac.authorization.kubernetes.io/autoupdate": "true"},
    })
}

fn roles() -> Vec<Value> {
    let mut roles: Vec<Value> = Vec::new();
    for line in ROLES.lines().filter(|line| !line.is_empty()) {
        let words: Vec<&str> = line.split_whitespace().collect();
        match (words[..].split_first(), roles.last_mut()) {
            (Some((&"role", [name, marks @ ..])), _) => {
                let mut role = json!({"metadata": metadata(name), "rules": []});
                for mark in marks {
                    let (what, of) = mark.split_once(':').unwrap_or((mark, ""));
                    let label = format!("{GOES_TO}{of}");
                    if what == "gathers" {
                        let wanted = json!([{"matchLabels": {label: "true"}}]);
                        role["aggregationRule"] = json!({"clusterRoleSelectors": wanted});
                    } else {
                        role["metadata"]["labels"][label] = "true".into();
                    }
                }
                roles.push(role);
            }
            (Some((verbs, [group, of])), Some(role)) => {
                let verbs: Vec<&str> = verbs.split(',').flat_map(verbs_of).collect();
                let of: Vec<&str> = of.split(',').collect();
                let group = if *group == "core" { "" } else { group };
                let rule = match group {
                    "url" => json!({"nonResourceURLs": of, "verbs": verbs}),
                    _ => json!({"apiGroups": [group], "resources": of, "verbs": verbs}),
                };
                if let Some(rules) = role["rules"].as_array_mut() {
                    rules.push(rule);
                }
            }
            _ => {}
        }
    }
    roles
}

fn verbs_of(word: &str) -> Vec<&str> {
    match word {
        "R" => vec!["get", "list", "watch"],
        "W" => vec!["create", "delete", "deletecollection", "patch", "update"],
        _ => vec![word],
    }
}

/// The selectors of a role that is put together from others; none if it is not.
pub(super) fn selectors(role: &Value) -> Option<Vec<Labels>> {
    let selectors = role["aggregationRule"]["clusterRoleSelectors"].as_array()?;
    // One that cannot be read selects nothing.
    Some(selectors.iter().filter_map(|it| Labels::of(it).ok()).collect())
}

fn selects(selectors: &[Labels], role: &Value) -> bool {
    selectors.iter().any(|it| it.matches(role))
}

impl Server {
    /// Puts the rules of roles together that gather others: after a write of one of them, or at first all.
    /// On a real cluster a controller does that a moment later.
    pub(super) fn aggregate(&mut self, written: Option<[Option<&Value>; 2]>) {
        let Some(roles) = self.registry.get(GROUP, "v1", "clusterroles").cloned() else { return };
        let mut changed: Option<Vec<Value>> =
            written.map(|both| both.into_iter().flatten().cloned().collect());
        let mut looks = 0;
        while looks < LOOKS && changed.as_ref().is_none_or(|it| !it.is_empty()) {
            let Some(access) = &self.access else { return };
            let is_due = |key: &Key, selectors: &[Labels]| {
                let Some(changed) = &changed else { return true };
                let is_own = |it: &Value| it["metadata"]["name"] == *key.0;
                changed.iter().any(|it| is_own(it) || selects(selectors, it))
            };
            let due = access.aggregated.iter().filter(|(key, selectors)| is_due(key, selectors));
            let due: Vec<_> = due.map(|(key, it)| (key.clone(), it.clone())).collect();
            let mut next = Vec::new();
            for (key, selectors) in due {
                let (rules, looked) = self.gathered(&key, &selectors);
                looks += looked.max(1);
                let Some(old) = self.stored(&roles, &key).map(|it| it.object.clone()) else {
                    continue;
                };
                if old["rules"] != rules && looks < LOOKS {
                    let mut new = Value::clone(&old);
                    new["rules"] = rules;
                    let new = self.store.put(&roles.qualified(), key.clone(), new, false);
                    if let Some(access) = &mut self.access {
                        access.take("clusterroles", &key, Some(&old), Some(&new));
                    }
                    // Only what gathers it is looked at again.
                    next.push(Value::clone(&new));
                }
            }
            changed = Some(next);
        }
    }

    /// The rules of the roles that are selected, each once, and how many roles were looked at.
    fn gathered(&self, own: &Key, selectors: &[Labels]) -> (Value, usize) {
        let (mut rules, mut known, mut looks) = (Vec::new(), BTreeSet::new(), 0);
        let all = self.store.objects(&format!("clusterroles.{GROUP}"));
        for (key, stored) in all.iter() {
            looks += 1;
            if key == own || !selects(selectors, &stored.object) {
                continue;
            }
            for rule in stored.object["rules"].as_array().into_iter().flatten() {
                if known.insert(Rule::read(rule)) && rules.len() < GATHERED {
                    rules.push(rule.clone());
                }
            }
        }
        (rules.into(), looks)
    }
}
