//! Parsing of paths into targets.

use std::borrow::Cow;
use std::sync::Arc;

use super::http::decode;
use super::pods;
use super::resource::{Registry, Resource};
use super::status::{Failure, Outcome};
use super::stored;

/// The target of a path.
#[derive(Clone, Debug)]
pub(crate) struct Target {
    pub(crate) resource: Arc<Resource>,
    /// Empty: none, or all of them.
    pub(crate) namespace: String,
    pub(crate) name: Option<String>,
    pub(crate) subresource: Option<String>,
    /// The path has the old prefix that makes every `GET` a watch.
    pub(crate) is_watch: bool,
}

impl Target {
    pub(crate) fn parse(registry: &Registry, path: &str) -> Outcome<Self> {
        let parts: Vec<Cow<'_, str>> = path.trim_matches('/').split('/').map(decode).collect();
        let parts: Vec<&str> = parts.iter().map(|part| &**part).collect();
        let (group, version, rest) = match &parts[..] {
            ["api", version, rest @ ..] => ("", *version, rest),
            ["apis", group, version, rest @ ..] => (*group, *version, rest),
            _ => return Err(Failure::no_page()),
        };
        if !registry.serves(group, version) {
            return Err(Failure::no_page());
        }
        let (is_watch, rest) = match rest {
            ["watch", rest @ ..] => (true, rest),
            rest => (false, rest),
        };
        let (namespace, rest) = match rest {
            ["namespaces", namespace, plural, rest @ ..]
                if registry.get("", "v1", "namespaces").is_none_or(|it| it.group != group)
                    || !matches!(*plural, "status" | "finalize") =>
            {
                (*namespace, [&[*plural], rest].concat())
            }
            rest => ("", rest.to_vec()),
        };
        let [plural, rest @ ..] = &rest[..] else { return Err(Failure::no_page()) };
        let missing = || {
            if registry.is_custom(group) { Failure::no_page() } else { Failure::no_resource() }
        };
        let resource = registry.get(group, version, plural).ok_or_else(missing)?;
        let (name, subresource) = match rest {
            [] => (None, None),
            [name] => (Some(*name), None),
            // For a custom resource, the rest of the path is ignored.
            [name, subresource] | [name, subresource, ..]
                if rest.len() == 2 || resource.is_custom =>
            {
                (Some(*name), Some((*subresource).to_owned()))
            }
            _ => return Err(Failure::no_resource()),
        };
        let is_served = match subresource.as_deref() {
            None => true,
            Some("status") => resource.has_status,
            Some("approval") => stored::has_approval(resource),
            Some("scale") => resource.scale.is_some(),
            Some("finalize") => resource.plural == "namespaces" && group.is_empty(),
            Some(other) => pods::posted(resource, other).is_some(),
        };
        // Objects in namespaces are reached through their namespace only.
        let lies = resource.is_namespaced || namespace.is_empty();
        let reached = name.is_none() || !resource.is_namespaced || !namespace.is_empty();
        if !is_served || !lies || !reached {
            return Err(match (resource.is_custom, is_served) {
                (true, true) => Failure::no_page(),
                (true, false) => Failure::not_found(resource, name.unwrap_or("")),
                _ => Failure::no_resource(),
            });
        }
        Ok(Self {
            resource: resource.clone(),
            namespace: namespace.to_owned(),
            name: name.map(str::to_owned),
            subresource,
            is_watch,
        })
    }
}
