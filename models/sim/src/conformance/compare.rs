//! Holds an answer against the recorded one.

use serde_json::Value;

use super::Departure;
use super::normal;
use super::symbols::{Symbols, generated, is_symbol};

/// A comparison that is under way.
#[derive(Debug, Default)]
pub(super) struct Comparison {
    pub(super) symbols: Symbols,
    pub(super) departures: Vec<Departure>,
    /// How many texts for people differ.
    pub(super) loose: usize,
    /// Some of the texts that differ: the recorded one, and ours.
    pub(super) texts: Vec<(String, String)>,
    pub(super) step: usize,
    pub(super) rules: &'static str,
}

impl Comparison {
    pub(super) fn depart(&mut self, path: &str, recorded: impl ToString, ours: impl ToString) {
        let (recorded, ours) = (recorded.to_string(), ours.to_string());
        let path = path.to_owned();
        let (step, rules) = (self.step, self.rules);
        self.departures.push(Departure { step, rules, path, recorded, ours });
    }

    /// Texts for people: a difference is counted.
    pub(super) fn text(&mut self, recorded: &str, ours: &str) {
        let recorded = self.symbols.text(recorded);
        let fits = recorded == ours || fits_pattern(&recorded, ours);
        if !fits {
            self.loose += 1;
            self.texts.push((recorded, ours.to_owned()));
        }
    }

    /// `key` is the name of the field that holds the values.
    pub(super) fn value(&mut self, path: &str, key: &str, recorded: &Value, ours: &Value) {
        match (recorded, ours) {
            (Value::Object(_), Value::Object(_)) => self.object(path, key, recorded, ours),
            (Value::Array(theirs), Value::Array(own)) => {
                let (theirs, own) = match key {
                    "causes" => (sorted(theirs), sorted(own)),
                    _ => (theirs.clone(), own.clone()),
                };
                if theirs.len() != own.len() {
                    self.depart(&format!("{path}/#"), theirs.len(), own.len());
                }
                for (index, (recorded, ours)) in theirs.iter().zip(&own).enumerate() {
                    self.value(&format!("{path}/{index}"), "", recorded, ours);
                }
            }
            _ if key == "managedFields" => {} // compared where its object is
            (Value::String(recorded), Value::String(ours)) => {
                self.string(path, key, recorded, ours);
            }
            _ if recorded == ours => {}
            _ => self.depart(path, recorded, ours),
        }
    }

    fn object(&mut self, path: &str, key: &str, recorded: &Value, ours: &Value) {
        let mut ours = ours.clone();
        if key == "metadata"
            && let Some(fields) = ours.as_object_mut()
        {
            let managers = fields.remove("managedFields").unwrap_or_default();
            fields.remove("creationTimestamp");
            if let Some(known) = recorded.get("managedFields") {
                self.managers(path, known, &managers);
                fields.insert("managedFields".to_owned(), known.clone());
            }
            if let Some(time) = fields.insert("deletionTimestamp".to_owned(), "<present>".into()) {
                let (uid, time) = (fields["uid"].as_str(), time.as_str());
                self.symbols.mark_deleted(uid.unwrap_or(""), time.unwrap_or(""));
            } else {
                fields.remove("deletionTimestamp");
            }
        }
        let none = serde_json::Map::new();
        let theirs = recorded.as_object().unwrap_or(&none);
        let own = ours.as_object().unwrap_or(&none);
        for (key, recorded) in theirs {
            match own.get(key) {
                Some(ours) => self.value(&format!("{path}/{key}"), key, recorded, ours),
                None => self.depart(&format!("{path}/{key}"), recorded, "<absent>"),
            }
        }
        for (key, ours) in own.iter().filter(|(key, _)| !theirs.contains_key(*key)) {
            self.depart(&format!("{path}/{key}"), "<absent>", ours);
        }
    }

    /// Compares the owners of fields. They are recorded as a text, because uids are part of its
    /// keys.
    fn managers(&mut self, path: &str, recorded: &Value, ours: &Value) {
        let text = self.symbols.text(recorded.as_str().unwrap_or(""));
        let expected: Value = serde_json::from_str(&text).unwrap_or_default();
        let found = normal::comparable(ours);
        if found != expected {
            self.depart(&format!("{path}/managedFields"), expected, found);
        }
    }

    fn string(&mut self, path: &str, key: &str, recorded: &str, ours: &str) {
        if key == "message" || path == "/body" {
            self.text(recorded, ours);
        } else if recorded == "<time>" {
            // The clock is the server's own.
        } else if is_symbol(recorded) {
            match self.symbols.get(recorded).map(str::to_owned) {
                None => self.symbols.bind(recorded, ours),
                Some(bound) if bound != ours => {
                    self.depart(path, format!("{recorded}={bound}"), ours);
                }
                Some(_) => {}
            }
        } else if let Some((before, symbol)) = generated(recorded)
            && self.symbols.get(symbol).is_none()
        {
            match ours.strip_prefix(&*self.symbols.text(before)) {
                Some(suffix) if suffix.len() == 5 => self.symbols.bind(symbol, suffix),
                _ => self.depart(path, recorded, ours),
            }
        } else if self.symbols.text(recorded) != ours {
            self.depart(path, recorded, ours);
        }
    }
}

/// Causes have no order.
fn sorted(causes: &[Value]) -> Vec<Value> {
    let mut causes = causes.to_vec();
    let part = |cause: &Value, part: &str| cause[part].as_str().unwrap_or("").to_owned();
    causes.sort_by_cached_key(|it| (part(it, "field"), part(it, "reason"), part(it, "message")));
    causes
}

/// `<time>` and `rv-?` stand for any time and any number.
fn fits_pattern(recorded: &str, ours: &str) -> bool {
    let holes = ["<time>", "rv-?"];
    if !holes.iter().any(|hole| recorded.contains(hole)) {
        return false;
    }
    let pieces = recorded.split("<time>").flat_map(|piece| piece.split("rv-?"));
    let mut rest = ours;
    for (index, piece) in pieces.enumerate() {
        match rest.find(piece) {
            Some(0) => rest = &rest[piece.len()..],
            Some(at) if index > 0 && at <= 30 => rest = &rest[at + piece.len()..],
            _ => return false,
        }
    }
    rest.is_empty() || holes.iter().any(|hole| recorded.ends_with(hole))
}
