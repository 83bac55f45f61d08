//! One rule of a role, as pure data: what it allows, and which other rules it covers.

use serde_json::{Value, json};

use super::super::metadata::strings;
use super::asked::Attributes;

/// A rule; the parts are texts as objects hold them.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Rule {
    pub(crate) groups: Vec<String>,
    pub(crate) resources: Vec<String>,
    pub(crate) names: Vec<String>,
    pub(crate) urls: Vec<String>,
    pub(crate) verbs: Vec<String>,
}

/// More parts than this are not told apart: a rule may name a thousand of each of three.
pub(super) const PARTS: usize = 20_000;

fn has(list: &[String], text: &str) -> bool {
    list.iter().any(|it| it == text)
}

/// Whether a list has a star or all of the others.
fn covers(list: &[String], others: &[String]) -> bool {
    has(list, "*") || others.iter().all(|it| has(list, it))
}

impl Rule {
    pub(crate) fn read(rule: &Value) -> Self {
        let list = |field: &str| strings(&rule[field]).into_iter().map(str::to_owned).collect();
        Self {
            groups: list("apiGroups"),
            resources: list("resources"),
            names: list("resourceNames"),
            urls: list("nonResourceURLs"),
            verbs: list("verbs"),
        }
    }

    /// The rules of a role.
    pub(crate) fn all(role: &Value) -> Vec<Self> {
        role["rules"].as_array().into_iter().flatten().map(Self::read).collect()
    }

    /// The rule as a review shows it: lists without content are left out.
    pub(crate) fn shown(&self) -> Value {
        let mut shown = json!({"verbs": self.verbs});
        for (field, list) in [
            ("apiGroups", &self.groups),
            ("resources", &self.resources),
            ("resourceNames", &self.names),
            ("nonResourceURLs", &self.urls),
        ] {
            if !list.is_empty() {
                shown[field] = json!(list);
            }
        }
        shown
    }

    pub(crate) fn allows(&self, asked: &Attributes) -> bool {
        let has_verb = has(&self.verbs, "*") || has(&self.verbs, &asked.verb);
        if !asked.path.is_empty() {
            return has_verb && self.urls.iter().any(|url| is_under(url, &asked.path));
        }
        has_verb
            && (has(&self.groups, "*") || has(&self.groups, &asked.group))
            && self.resources.iter().any(|it| names(it, &asked.resource, &asked.subresource))
            && (self.names.is_empty() || has(&self.names, &asked.name))
    }

    /// Whether everything that a rule of single parts allows is allowed by this one.
    pub(crate) fn covers(&self, other: &Self) -> bool {
        let within = |path: &String| {
            let (_, sub) = path.split_once('/').unwrap_or_default();
            has(&self.resources, path)
                || !sub.is_empty() && has(&self.resources, &format!("*/{sub}"))
        };
        covers(&self.verbs, &other.verbs)
            && covers(&self.groups, &other.groups)
            && (has(&self.resources, "*") || other.resources.iter().all(within))
            && other.urls.iter().all(|path| self.urls.iter().any(|url| is_under(url, path)))
            && (self.names.is_empty()
                || !other.names.is_empty() && other.names.iter().all(|it| has(&self.names, it)))
    }

    /// How many texts it has, and itself.
    pub(crate) fn texts(&self) -> usize {
        let parts = [&self.groups, &self.resources, &self.names, &self.urls, &self.verbs];
        1 + parts.iter().map(|it| it.len()).sum::<usize>()
    }

    /// The same as rules with one verb, group, resource and name each. None: they would be too many.
    pub(crate) fn parts(&self) -> Option<Vec<Self>> {
        let one = |list: &[String]| list.iter().map(|it| vec![it.clone()]).collect::<Vec<_>>();
        let names = if self.names.is_empty() { vec![Vec::new()] } else { one(&self.names) };
        let counts = [self.groups.len(), self.resources.len(), names.len(), self.verbs.len()];
        let count = counts.iter().try_fold(1_usize, |all, count| all.checked_mul(*count));
        if count.is_none_or(|it| it.saturating_add(self.urls.len() * self.verbs.len()) > PARTS) {
            return None;
        }
        let mut parts = Vec::new();
        for verbs in one(&self.verbs) {
            for groups in one(&self.groups) {
                for resources in one(&self.resources) {
                    parts.extend(names.iter().map(|names| Self {
                        groups: groups.clone(),
                        resources: resources.clone(),
                        names: names.clone(),
                        urls: Vec::new(),
                        verbs: verbs.clone(),
                    }));
                }
            }
            let urls = one(&self.urls).into_iter();
            parts.extend(urls.map(|urls| Self { urls, verbs: verbs.clone(), ..Self::default() }));
        }
        Some(parts)
    }

    /// The rule in one line, as a refusal names it.
    pub(crate) fn line(&self) -> String {
        let parts = [
            ("APIGroups", &self.groups),
            ("Resources", &self.resources),
            ("NonResourceURLs", &self.urls),
            ("ResourceNames", &self.names),
            ("Verbs", &self.verbs),
        ];
        let parts = parts.into_iter().filter(|(_, list)| !list.is_empty());
        let parts = parts.map(|(name, list)| format!("{name}:{}", quoted(list)));
        format!("{{{}}}", parts.collect::<Vec<_>>().join(", "))
    }
}

/// A list of texts as the reference prints it.
pub(crate) fn quoted(list: &[String]) -> String {
    let quoted = list.iter().map(|it| Value::from(it.as_str()).to_string());
    format!("[{}]", quoted.collect::<Vec<_>>().join(" "))
}

/// Whether a URL of a rule is a path, or stands for it by the star at its end.
fn is_under(url: &str, path: &str) -> bool {
    let begins = |url: &str| path.starts_with(url.trim_end_matches('*'));
    url == path || url.ends_with('*') && begins(url)
}

/// Whether a resource of a rule is this one: `*`, `pods`, `pods/status` or `*/status`. A subresource is
/// none of its resource.
fn names(rule: &str, resource: &str, subresource: &str) -> bool {
    if rule == "*" {
        return true;
    }
    match rule.split_once('/') {
        None => subresource.is_empty() && rule == resource,
        Some((of, sub)) => {
            !subresource.is_empty() && sub == subresource && (of == "*" || of == resource)
        }
    }
}

/// The rules with the verbs of those of one resource together.
pub(crate) fn compact(rules: Vec<Rule>) -> Vec<Rule> {
    let mut compacted: Vec<Rule> = Vec::new();
    let mut places = std::collections::BTreeMap::new();
    for rule in rules {
        if !rule.urls.is_empty() {
            compacted.push(rule);
            continue;
        }
        let place = (rule.groups.clone(), rule.resources.clone(), rule.names.clone());
        match places.get(&place).and_then(|at: &usize| compacted.get_mut(*at)) {
            Some(known) => known.verbs.extend(rule.verbs),
            None => {
                places.insert(place, compacted.len());
                compacted.push(rule);
            }
        }
    }
    compacted
}
