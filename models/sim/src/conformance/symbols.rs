//! The table from recorded symbols to our own values.

use std::collections::BTreeMap;

use serde_json::Value;

const KINDS: [&str; 4] = ["rv-", "uid-", "cont-", "ns-"];

/// The table.
#[derive(Clone, Debug, Default)]
pub(super) struct Symbols {
    table: BTreeMap<String, String>,
    /// When objects began to be deleted, by our uid.
    deleted: BTreeMap<String, String>,
}

/// A part of a text.
enum Part<'a> {
    Plain(&'a str),
    Symbol(&'a str),
}

impl Symbols {
    pub(super) fn bind(&mut self, symbol: &str, value: &str) {
        self.table.insert(symbol.to_owned(), value.to_owned());
    }

    pub(super) fn get(&self, symbol: &str) -> Option<&str> {
        self.table.get(symbol).map(String::as_str)
    }

    pub(super) fn mark_deleted(&mut self, uid: &str, time: &str) {
        self.deleted.insert(uid.to_owned(), time.to_owned());
    }

    /// The text with our values for the symbols that have one.
    pub(super) fn text(&self, text: &str) -> String {
        let parts = split(text).into_iter().map(|part| match part {
            Part::Plain(text) => text,
            Part::Symbol(symbol) => self.get(symbol).unwrap_or(symbol),
        });
        parts.collect()
    }

    /// The same for a request: an unknown uid becomes one that no object has.
    fn sent(&mut self, text: &str) -> String {
        for part in split(text) {
            if let Part::Symbol(symbol) = part
                && let Some(number) = symbol.strip_prefix("uid-")
                && self.get(symbol).is_none()
            {
                self.bind(symbol, &format!("00000000-0000-4000-8000-{number:0>12}"));
            }
        }
        self.text(text)
    }

    /// A body with our values.
    pub(super) fn body(&mut self, body: &Value) -> Value {
        match body {
            Value::Object(fields) => {
                let uid = fields.get("uid").and_then(Value::as_str).and_then(|uid| self.get(uid));
                let deleted = uid.and_then(|uid| self.deleted.get(uid)).cloned();
                let deleted = deleted.unwrap_or_else(|| "2030-01-01T00:00:00Z".to_owned());
                let fields = fields.iter().map(|(key, value)| {
                    let is_time = key == "deletionTimestamp" && value == "<present>";
                    let value = if is_time { deleted.as_str().into() } else { self.body(value) };
                    (key.clone(), value)
                });
                Value::Object(fields.collect())
            }
            Value::Array(items) => items.iter().map(|item| self.body(item)).collect(),
            Value::String(text) => self.sent(text).into(),
            other => other.clone(),
        }
    }

    /// Versions in the order of their symbols must grow; the first that do not.
    pub(super) fn disorder(&self) -> Option<(String, String)> {
        let versions = self.table.iter().filter_map(|(symbol, value)| {
            let rank: u64 = symbol.strip_prefix("rv-")?.parse().ok()?;
            Some((rank, value.parse::<u64>().unwrap_or(0)))
        });
        let mut versions: Vec<_> = versions.collect();
        versions.sort_unstable();
        let wrong = versions.windows(2).find(|pair| pair[0].1 >= pair[1].1)?;
        let (low, high) = (wrong[0], wrong[1]);
        let recorded = format!("rv-{} < rv-{}", low.0, high.0);
        Some((recorded, format!("{} >= {}", low.1, high.1)))
    }
}

/// Tells whether a text is one symbol for a value that the server chose.
pub(super) fn is_symbol(text: &str) -> bool {
    !text.starts_with("ns-")
        && matches!(split(text)[..], [Part::Symbol(it)] if !it.starts_with('{'))
}

/// Splits a name that ends with a generated part: the text before that part, and its symbol.
pub(super) fn generated(text: &str) -> Option<(&str, &str)> {
    let (before, symbol) = text.split_at(text.find("{gen-")?);
    // Anything behind the symbol must be compared like other texts.
    (symbol.find('}')? + 1 == symbol.len()).then_some((before, symbol))
}

#[test]
fn a_generated_name_ends_with_what_was_made_up() {
    assert_eq!(generated("g0-{gen-1}"), Some(("g0-", "{gen-1}")));
    assert_eq!(generated("g0-{gen-1}~"), None);
    assert_eq!(generated("g0-"), None);
}

fn split(text: &str) -> Vec<Part<'_>> {
    let (mut parts, mut from, mut at) = (Vec::new(), 0, 0);
    while at < text.len() {
        let Some(length) = symbol_at(text, at) else {
            at += text[at..].chars().next().map_or(1, char::len_utf8);
            continue;
        };
        if from < at {
            parts.push(Part::Plain(&text[from..at]));
        }
        parts.push(Part::Symbol(&text[at..at + length]));
        at += length;
        from = at;
    }
    if from < at {
        parts.push(Part::Plain(&text[from..]));
    }
    parts
}

/// The length of the symbol that starts here.
fn symbol_at(text: &str, at: usize) -> Option<usize> {
    let rest = &text[at..];
    let digits = |text: &str| text.bytes().take_while(u8::is_ascii_digit).count();
    if let Some(inner) = rest.strip_prefix("{gen-") {
        let count = digits(inner);
        return (count > 0 && inner[count..].starts_with('}')).then_some(6 + count);
    }
    let prefix = KINDS.iter().find(|prefix| rest.starts_with(**prefix))?;
    let count = digits(&rest[prefix.len()..]);
    (count > 0).then_some(prefix.len() + count)
}
