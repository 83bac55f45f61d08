//! Puts symbols in the place of the values that a server chose.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use crate::apiserver::read_token;

/// The values that the server chose, and the symbol of each.
#[derive(Debug, Default)]
struct Chosen {
    versions: BTreeSet<u64>,
    uids: BTreeSet<String>,
    tokens: BTreeMap<String, String>,
    /// Longer names first, so that none is taken for the beginning of another.
    names: Vec<(String, String)>,
    /// Uids in the order of their appearance, requests included.
    order: Vec<String>,
}

/// The treatment of the managed fields of an object.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Managers {
    Dropped,
    Kept,
    /// They are written as a text that can be compared.
    Compared,
}

/// Replaces versions, uids, generated names and tokens, and drops the fields that are never
/// compared; managed fields are dropped as well unless `with_managers`. Returns how many there are
/// of each, for the head of the trace.
pub(super) fn normalise(steps: &mut [Value], with_managers: bool) -> Value {
    let mut chosen = Chosen::default();
    for step in &*steps {
        chosen.learn_answer(&step["response"]["body"]);
        chosen.learn_answer(&step["events"]);
        chosen.learn_name(step);
    }
    chosen.names.sort_by_key(|(name, _)| std::cmp::Reverse(name.len()));
    for step in &mut *steps {
        let is_apply = step["request"]["headers"]["Content-Type"] == "application/apply-patch+yaml";
        let sent = if is_apply || with_managers { Managers::Kept } else { Managers::Dropped };
        chosen.request(&mut step["request"], sent);
        let given = if with_managers { Managers::Compared } else { Managers::Dropped };
        for part in ["response", "events"] {
            if let Some(part) = step.get_mut(part) {
                chosen.value(part, "", given);
            }
        }
        if let Some(fields) = step.as_object_mut() {
            fields.retain(|_, value| !value.is_null());
        }
    }
    json!({
        "namespaces": 0, "rvs": chosen.versions.len(), "uids": chosen.order.len(),
        "continue_tokens": chosen.tokens_as_json(),
    })
}

impl Chosen {
    fn learn_answer(&mut self, value: &Value) {
        match value {
            Value::Object(fields) => {
                for (key, value) in fields {
                    match (key.as_str(), value.as_str()) {
                        ("resourceVersion", Some(text)) => {
                            self.versions.extend(text.parse::<u64>().ok().filter(|it| *it > 0));
                        }
                        ("uid", Some(text)) if text.len() == 36 => {
                            self.uids.insert(text.to_owned());
                        }
                        ("continue", Some(text)) if !text.is_empty() => {
                            let symbol = format!("cont-{}", self.tokens.len() + 1);
                            self.tokens.entry(text.to_owned()).or_insert(symbol);
                        }
                        _ => self.learn_answer(value),
                    }
                }
            }
            Value::Array(items) => items.iter().for_each(|item| self.learn_answer(item)),
            _ => {}
        }
    }

    /// A name that was made up by this step.
    fn learn_name(&mut self, step: &Value) {
        let (asked, answer) = (&step["request"]["body"]["metadata"], &step["response"]["body"]);
        // A failure names it as well.
        let is_failure = answer["metadata"]["name"].is_null();
        let given = if is_failure { &answer["details"] } else { &answer["metadata"] };
        let (Some(begin), Some(name)) = (asked["generateName"].as_str(), given["name"].as_str())
        else {
            return;
        };
        let has_none = asked["name"].as_str().unwrap_or("").is_empty();
        if has_none && name.strip_prefix(begin).is_some_and(|suffix| suffix.len() == 5) {
            let symbol = format!("{begin}{{gen-{}}}", self.names.len() + 1);
            self.names.push((name.to_owned(), symbol));
        }
    }

    fn version(&self, text: &str) -> String {
        match text.parse() {
            Ok(version) if self.versions.contains(&version) => {
                format!("rv-{}", self.versions.range(..=version).count())
            }
            _ => text.to_owned(),
        }
    }

    /// A text with symbols for the uids, names and tokens in it.
    fn text(&mut self, text: &str) -> String {
        let mut text = text.to_owned();
        if text.len() >= 36 {
            for uid in self.uids.iter().filter(|uid| text.contains(uid.as_str())) {
                if !self.order.contains(uid) {
                    self.order.push(uid.clone());
                }
            }
            for (index, uid) in self.order.iter().enumerate() {
                text = text.replace(uid, &format!("uid-{}", index + 1));
            }
        }
        for (token, symbol) in &self.tokens {
            if text == *token {
                text.clone_from(symbol);
            }
        }
        for (name, symbol) in &self.names {
            text = text.replace(name, symbol);
        }
        text
    }

    fn request(&mut self, request: &mut Value, managers: Managers) {
        for part in ["path", "raw_body"] {
            if let Some(text) = request[part].as_str() {
                request[part] = self.text(text).into();
            }
        }
        for pair in request["query"].as_array_mut().into_iter().flatten() {
            let value = pair[1].as_str().unwrap_or("").to_owned();
            pair[1] = match pair[0].as_str() {
                Some("resourceVersion") => self.version(&value).into(),
                _ => self.text(&value).into(),
            };
        }
        if let Some(body) = request.get_mut("body") {
            self.value(body, "", managers);
        }
        if let Some(fields) = request.as_object_mut() {
            fields.retain(|key, value| key == "body" || !value.is_null());
        }
    }

    fn value(&mut self, value: &mut Value, key: &str, managers: Managers) {
        match value {
            Value::String(text) => {
                *value = match key {
                    "resourceVersion" => self.version(text).into(),
                    "deletionTimestamp" => "<present>".into(),
                    "lastTransitionTime" => "<time>".into(),
                    _ => self.text(text).into(),
                };
            }
            Value::Array(items) => {
                items.iter_mut().for_each(|item| self.value(item, key, managers));
            }
            Value::Object(fields) => {
                if key == "metadata" {
                    fields.remove("creationTimestamp");
                    match (managers, fields.get_mut("managedFields")) {
                        (Managers::Compared, Some(all)) => {
                            *all = comparable(all).to_string().into();
                        }
                        (Managers::Dropped, Some(_)) => drop(fields.remove("managedFields")),
                        _ => {}
                    }
                }
                // A JSON patch says of its value in another field what it is.
                let names = fields.get("path").and_then(Value::as_str).map(str::to_owned);
                let named = names.as_deref().and_then(|path| path.rsplit('/').next());
                for (key, value) in fields.iter_mut() {
                    let key = if key == "value" { named.unwrap_or(key) } else { key };
                    self.value(value, key, managers);
                }
            }
            _ => {}
        }
    }

    fn tokens_as_json(&self) -> Value {
        let tokens = self.tokens.iter().map(|(token, symbol)| {
            let (revision, start) = read_token(token).unwrap_or_default();
            let revision = revision.map_or(json!(-1), |it| self.version(&it.to_string()).into());
            (symbol.clone(), json!({"v": "meta.k8s.io/v1", "rv": revision, "start": start}))
        });
        tokens.collect::<serde_json::Map<_, _>>().into()
    }
}

/// Managed fields as two servers must agree on them: without times, and in an order of ours.
pub(super) fn comparable(managers: &Value) -> Value {
    let mut all = managers.as_array().cloned().unwrap_or_default();
    for one in &mut all {
        if let Some(fields) = one.as_object_mut() {
            fields.remove("time");
        }
    }
    let part = |one: &Value, part: &str| one[part].as_str().unwrap_or("").to_owned();
    all.sort_by_cached_key(|it| {
        ["manager", "operation", "subresource", "apiVersion"].map(|key| part(it, key))
    });
    all.into()
}
