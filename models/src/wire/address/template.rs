//! The template of an address (`election:RQ-95`).

use super::spec::Spec;
use super::texts::{escaped, join};

impl Spec {
    /// The address without names.
    pub(super) fn template(&self) -> String {
        let (path, has_query) = self.template_path();
        let value = if self.mistake == "values_stay" { None } else { Some("{value}") };
        let query = if has_query { self.query(value) } else { String::new() };
        format!("https://h:6443{}{query}", escaped(&path, "-_.~$&+,/:;=@"))
    }

    fn template_path(&self) -> (String, bool) {
        let path = self.path();
        let (inner, base) = match path.strip_prefix(self.base) {
            Some(inner) if self.mistake != "base_is_counted" => (inner, self.base),
            _ => (&*path, ""),
        };
        let mut parts: Vec<&str> = inner.split('/').filter(|part| !part.is_empty()).collect();
        let unknown = ("/{prefix}".to_owned(), self.mistake == "unknown_keeps_its_query");
        let first = match parts.first() {
            None | Some(_) if parts.len() < 2 && self.mistake != "short_is_a_prefix" => {
                return (path.clone(), true);
            }
            Some(&"api") => 2,
            Some(&"apis") => 3,
            _ => return unknown,
        };
        // What stands behind a proxy is one placeholder.
        let behind = if parts.get(first) == Some(&"namespaces") { 5 } else { 3 } + first;
        let is_proxied = parts.len() > behind && parts[behind - 1] == "proxy";
        if is_proxied {
            parts.truncate(behind);
            parts.push("{path}");
        }
        if let Some(parts) = parts.get_mut(first..) {
            self.replace(parts, is_proxied && behind == first + 3);
        }
        let base = if self.mistake == "base_is_lost" { "" } else { base };
        (join(&[&["/", base], &parts[..]].concat()), true)
    }

    /// Puts placeholders into the part of a path that begins with the resource.
    fn replace(&self, parts: &mut [&str], is_proxied: bool) {
        let is_part = |part: &str| matches!(part, "status" | "finalize");
        let is_object = match parts.len() {
            2 => true,
            3 if self.mistake == "three_is_an_object" => true,
            3 => is_part(parts[2]) && self.mistake != "three_is_none",
            _ => is_proxied,
        };
        let known = parts.len();
        if known > 1 && (is_object || self.mistake != "namespace_stays") {
            parts[1] = if is_object { "{name}" } else { "{namespace}" };
        }
        if is_proxied {
            return;
        }
        if known > 3
            && self.mistake != "name_stays"
            && (!is_part(parts[3]) || self.mistake == "status_is_a_name")
        {
            parts[3] = "{name}";
        }
    }
}
