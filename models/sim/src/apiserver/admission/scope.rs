//! Which requests a webhook, a policy or a binding is about.

use serde_json::Value;

use super::super::label::Labels;
use super::super::metadata::strings;
use super::super::resource::Resource;

/// Rules and selectors.
#[derive(Clone, Debug, Default)]
pub(super) struct Scope {
    rules: Vec<Rule>,
    /// No rule means any request.
    is_open: bool,
    excluded: Vec<Rule>,
    /// It is also about a resource that its rules name in another version.
    takes_equivalent: bool,
    pub(super) namespaces: Labels,
    pub(super) objects: Labels,
}

#[derive(Clone, Debug)]
struct Rule {
    operations: Vec<String>,
    groups: Vec<String>,
    versions: Vec<String>,
    /// Each with its part; empty for the object as a whole.
    resources: Vec<(String, String)>,
    scope: String,
    /// The names of the objects; none for any.
    names: Vec<String>,
}

/// What a request asks for, as far as rules look at it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wanted<'a> {
    pub(super) operation: &'a str,
    pub(super) resource: &'a Resource,
    pub(super) part: &'a str,
    pub(super) namespace: &'a str,
    pub(super) name: &'a str,
}

impl Rule {
    fn all(rules: &Value) -> Vec<Self> {
        rules.as_array().into_iter().flatten().map(Self::new).collect()
    }

    fn new(rule: &Value) -> Self {
        let texts = |field: &str| strings(&rule[field]).into_iter().map(str::to_owned).collect();
        let split = |it: &str| {
            let (resource, part) = it.split_once('/').unwrap_or((it, ""));
            (resource.to_owned(), part.to_owned())
        };
        Self {
            operations: texts("operations"),
            groups: texts("apiGroups"),
            versions: texts("apiVersions"),
            resources: strings(&rule["resources"]).into_iter().map(split).collect(),
            scope: rule["scope"].as_str().unwrap_or("*").to_owned(),
            names: texts("resourceNames"),
        }
    }

    fn covers(&self, wanted: &Wanted<'_>, version: &str) -> bool {
        let one = |all: &[String], it: &str| all.iter().any(|any| any == "*" || any == it);
        let Wanted { operation, resource, part, namespace, name } = *wanted;
        let is_namespace = resource.plural == "namespaces" && resource.group.is_empty();
        let lies_in_one = !is_namespace && !namespace.is_empty();
        let fits = match self.scope.as_str() {
            "Namespaced" => lies_in_one,
            "Cluster" => !lies_in_one,
            _ => true,
        };
        let named = |(of, sub): &(String, String)| {
            (of == "*" || *of == resource.plural) && (sub == "*" || sub == part)
        };
        fits && one(&self.operations, operation)
            && one(&self.groups, &resource.group)
            && one(&self.versions, version)
            && self.resources.iter().any(named)
            && (self.names.is_empty() || self.names.iter().any(|it| it == name))
    }
}

impl Scope {
    /// That of a webhook.
    pub(super) fn of_hook(hook: &Value) -> Self {
        Self { rules: Rule::all(&hook["rules"]), ..Self::selected(hook) }
    }

    /// That of a policy or of a binding.
    pub(super) fn of(resources: &Value) -> Self {
        let rules = Rule::all(&resources["resourceRules"]);
        Self {
            is_open: rules.is_empty(),
            rules,
            excluded: Rule::all(&resources["excludeResourceRules"]),
            ..Self::selected(resources)
        }
    }

    fn selected(it: &Value) -> Self {
        // A selector that is none was refused when it was written.
        let labels = |field: &str| Labels::of(&it[field]).unwrap_or_default();
        Self {
            takes_equivalent: it["matchPolicy"] != "Exact",
            namespaces: labels("namespaceSelector"),
            objects: labels("objectSelector"),
            ..Self::default()
        }
    }

    /// The version of the resource in which it is about a request; none if it is not. `others` are the
    /// versions in which the same objects are served as well.
    pub(super) fn covers<'a>(
        &self,
        wanted: &Wanted<'a>,
        others: &[&'a str],
        excludes: bool,
    ) -> Option<&'a str> {
        if excludes && self.found(&self.excluded, wanted, others).is_some() {
            return None;
        }
        let open = self.is_open.then_some(wanted.resource.version.as_str());
        open.or_else(|| self.found(&self.rules, wanted, others))
    }

    fn found<'a>(
        &self,
        rules: &[Rule],
        wanted: &Wanted<'a>,
        others: &[&'a str],
    ) -> Option<&'a str> {
        let own = wanted.resource.version.as_str();
        if rules.iter().any(|rule| rule.covers(wanted, own)) {
            return Some(own);
        }
        let others = if self.takes_equivalent { others } else { &[] };
        let of_rule = |rule: &Rule| others.iter().copied().find(|it| rule.covers(wanted, it));
        rules.iter().find_map(of_rule)
    }
}
