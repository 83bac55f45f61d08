//! The builder of addresses as a short sequential object, optionally with a mistake.

use seatrial_core::machine::{Cx, Machine, Step};

use super::machine::{API, BASES, Call, Said};
use super::texts::{escaped, form, join, joined, refusal};
use crate::shared::Mistake;

/// The parts of a request that its address depends on.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Spec {
    pub(super) mistake: Mistake,
    pub(super) base: &'static str,
    verb: &'static str,
    prefix: String,
    namespace: Option<String>,
    resource: String,
    name: String,
    sub_resource: String,
    suffix: String,
    query: Vec<(String, String)>,
    timeout: &'static str,
    wrong: Option<String>,
}

impl Default for Spec {
    fn default() -> Self {
        Self::new(0, "GET")
    }
}

type Checked = Result<(), String>;

fn already(part: &str, old: &str, new: &str) -> Checked {
    Err(format!("{part} already set to {old:?}, cannot change to {new:?}"))
}

impl Spec {
    /// An empty request.
    pub fn new(base: u8, verb: &'static str) -> Self {
        Self::with("", base, verb)
    }

    pub(super) fn with(mistake: Mistake, base: u8, verb: &'static str) -> Self {
        let base = BASES[usize::from(base) % BASES.len()];
        let none = String::new;
        Self {
            mistake,
            base,
            verb,
            prefix: join(&["/", base, API]),
            namespace: None,
            resource: none(),
            name: none(),
            sub_resource: none(),
            suffix: none(),
            query: Vec::new(),
            timeout: "",
            wrong: None,
        }
    }

    /// Makes a call, and returns everything that follows.
    pub fn call(&mut self, call: &Call) -> Said {
        if let Call::Begin(base, verb) = call {
            *self = Self::with(self.mistake, *base, verb);
        } else if self.wrong.is_none() {
            self.wrong = self.set(call).err();
        } else if self.mistake == "last_mistake_counts" {
            self.wrong = self.clone().set(call).err().or_else(|| self.wrong.clone());
        }
        let or_wrong = |text: String| self.wrong.clone().map_or(Ok(text), Err);
        let (url, template) = (or_wrong(self.url()), or_wrong(self.template()));
        let refused = self.wrong.clone().or_else(|| self.refused());
        let mut stays = true;
        if self.mistake == "changes_the_request" && url.is_ok() {
            self.query.iter_mut().for_each(|(_, value)| *value = "{value}".to_owned());
            stays = url.as_ref().is_ok_and(|url| *url == self.url());
        }
        Said { url, template, refused, stays }
    }

    /// Sets a part that may be set once.
    fn once(&mut self, part: &str, new: &str, segments: &[String]) -> Checked {
        let resource = self.resource.clone();
        let (mistake, is_sub) = (self.mistake, part == "subresource");
        let old = match part {
            "resource" => &mut self.resource,
            "resource name" => &mut self.name,
            _ => &mut self.sub_resource,
        };
        if !old.is_empty() && mistake != "second_counts" {
            let (part, old) = match mistake {
                "tells_the_resource" if is_sub => ("resource", &resource),
                _ => (part, &*old),
            };
            return already(part, old, new);
        }
        if !(is_sub && mistake == "sub_resource_passes") {
            segments.iter().try_for_each(|segment| refusal(mistake, part, segment))?;
        }
        new.clone_into(old);
        Ok(())
    }

    fn set(&mut self, call: &Call) -> Checked {
        let one = std::slice::from_ref;
        match call {
            Call::Begin(..) => {}
            Call::Scoped(_, false) if self.mistake != "all_are_scoped" => {}
            Call::Namespace(text) | Call::Scoped(text, _) => return self.set_namespace(text),
            Call::Resource(text) => return self.once("resource", text, one(text)),
            Call::Name(text) if text.is_empty() && self.mistake != "empty_names" => {
                return Err("resource name may not be empty".to_owned());
            }
            Call::Name(text) => return self.once("resource name", text, one(text)),
            Call::SubResource(parts) => {
                return self.once("subresource", &joined("", parts), parts);
            }
            Call::Prefix(parts) => {
                let old = if self.mistake == "prefix_is_replaced" { "/" } else { &self.prefix };
                self.prefix = joined(old, parts);
            }
            Call::Suffix(parts) => {
                let old = if self.mistake == "suffix_is_replaced" { "" } else { &self.suffix };
                self.suffix = joined(old, parts);
            }
            Call::AbsPath(parts) => self.abs_path(parts),
            Call::Uri(uri) => {
                let (path, query) = uri.means?;
                self.abs_path(&[path.to_owned()]);
                if self.mistake != "uri_adds" {
                    self.query.clear();
                }
                let owned = |(key, value): &(&str, &str)| ((*key).to_owned(), (*value).to_owned());
                self.query.extend(query.iter().map(owned));
            }
            Call::Param(key, value) => self.query.push((key.clone(), value.clone())),
            Call::Timeout(timeout) => self.timeout = timeout.text,
        }
        Ok(())
    }

    fn set_namespace(&mut self, text: &str) -> Checked {
        match &self.namespace {
            Some(old) if old.is_empty() && self.mistake == "empty_was_not_set" => {}
            Some(old) if self.mistake != "second_counts" => return already("namespace", old, text),
            _ => {}
        }
        refusal(self.mistake, "namespace", text)?;
        self.namespace = Some(text.to_owned());
        Ok(())
    }

    fn abs_path(&mut self, parts: &[String]) {
        let base = if self.mistake == "forgets_the_base" { "/" } else { self.base };
        self.prefix = joined(base, parts);
        if let [only] = parts
            && only.ends_with('/')
            && (base.len() > 1 || only.len() > 1)
            && self.mistake != "loses_the_slash"
        {
            self.prefix.push('/');
        }
    }

    /// The path, without escapes (`election:RQ-21`).
    pub(super) fn path(&self) -> String {
        let mut path = self.prefix.clone();
        let slash = path.ends_with('/') && path.len() > 1;
        let (mut name, mut sub, mut suffix) = (&self.name, &self.sub_resource, &*self.suffix);
        match self.mistake {
            "name_comes_last" => (name, sub) = (sub, name),
            "suffix_comes_first" => path = join(&[&path, std::mem::take(&mut suffix)]),
            "no_climbing" => suffix = suffix.trim_start_matches("../"),
            _ => {}
        }
        if let Some(namespace) = self.namespace.as_deref().filter(|it| !it.is_empty()) {
            path = join(&[&path, "namespaces", namespace]);
        }
        if !self.resource.is_empty() {
            let lower = self.resource.to_lowercase();
            path =
                join(&[&path, if self.mistake == "keeps_case" { &self.resource } else { &lower }]);
        }
        if !(name.is_empty() && sub.is_empty() && suffix.is_empty()) {
            path = match self.mistake {
                "dots_stay" => [&path, &**name, sub, suffix].join("/"),
                _ => join(&[&path, name, sub, suffix]),
            };
        }
        if self.mistake == "keeps_the_slash" && slash && !path.ends_with('/') {
            path.push('/');
        }
        path
    }

    fn url(&self) -> String {
        let path = match self.mistake {
            "path_is_raw" => escaped(&self.path(), "-_.~$&+,/:;=@{}%"),
            "colons_are_escaped" => escaped(&self.path(), "-_.~$&+,/;=@"),
            _ => escaped(&self.path(), "-_.~$&+,/:;=@"),
        };
        format!("https://h:6443{path}{}", self.query(None))
    }

    /// The parameters (`election:RQ-23`). For a template, `value` replaces all values.
    pub(super) fn query(&self, value: Option<&str>) -> String {
        let mut pairs = self.query.clone();
        if let Some(value) = value {
            pairs.iter_mut().for_each(|pair| value.clone_into(&mut pair.1));
            pairs.sort();
            pairs.dedup();
        }
        let is_told = match self.timeout {
            "" => false,
            text if text.starts_with('-') => self.mistake != "negative_is_none",
            _ => {
                !(self.mistake == "parameter_counts"
                    && pairs.iter().any(|pair| pair.0 == "timeout"))
            }
        };
        if is_told {
            if self.mistake != "timeout_is_added" {
                pairs.retain(|pair| pair.0 != "timeout");
            }
            let text = if self.mistake == "seconds_alone" && self.timeout == "1m0s" {
                "60s"
            } else {
                self.timeout
            };
            pairs.push(("timeout".to_owned(), text.to_owned()));
        }
        match self.mistake {
            "unsorted" => {}
            "values_are_sorted" => pairs.sort(),
            _ => pairs.sort_by(|one, other| one.0.cmp(&other.0)),
        }
        if self.mistake == "last_value_counts" {
            let all = pairs.clone();
            let mut at = 0..;
            let last = |at: usize| all.get(at + 1).is_none_or(|next| next.0 != all[at].0);
            pairs.retain(|_| at.next().is_some_and(last));
        }
        let form = |text: &str| form(self.mistake, text);
        let pairs: Vec<_> =
            pairs.iter().map(|(key, value)| format!("{}={}", form(key), form(value))).collect();
        if pairs.is_empty() { String::new() } else { format!("?{}", pairs.join("&")) }
    }

    /// Why the request may not be sent (`election:RQ-40`).
    fn refused(&self) -> Option<String> {
        let is_empty = self.namespace.as_deref() == Some("") && self.mistake != "empty_passes";
        let has_name = !self.name.is_empty() || self.mistake == "empty_never_passes";
        let refused = match self.verb {
            "POST" => true,
            "GET" | "PUT" | "DELETE" => has_name,
            "PATCH" => has_name && self.mistake == "patch_is_refused",
            _ => false,
        };
        (is_empty && refused).then(|| {
            "an empty namespace may not be set when a resource name is provided".to_owned()
        })
    }
}

impl Machine for Spec {
    type Op = Call;
    type Ret = Said;

    fn step(&mut self, call: &mut Call, _: &mut Cx<'_>) -> Step<Said> {
        Step::Done(self.call(call))
    }
}
