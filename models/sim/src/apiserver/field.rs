//! Field selectors.

use serde_json::Value;

use super::resource::Resource;

/// One term of a field selector.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Term {
    path: String,
    value: String,
    is_negated: bool,
}

/// A conjunction of terms.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Fields(Vec<Term>);

impl Fields {
    /// Reads a selector; the error is the server's message.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let mut terms = Vec::new();
        for term in split(text).into_iter().filter(|term| !term.is_empty()) {
            let operator = term.char_indices().find_map(|(at, _)| {
                let rest = &term[at..];
                ["!=", "==", "="].into_iter().find(|it| rest.starts_with(it)).map(|it| (at, it))
            });
            let Some((at, operator)) = operator else {
                return Err(format!("invalid selector: '{text}'; can't understand '{term}'"));
            };
            terms.push(Term {
                path: term[..at].to_owned(),
                value: unescape(&term[at + operator.len()..])?,
                is_negated: operator == "!=",
            });
        }
        Ok(Self(terms))
    }

    /// The selector of one name.
    pub(crate) fn name(name: &str) -> Self {
        let (path, value) = ("metadata.name".to_owned(), name.to_owned());
        Self(vec![Term { path, value, is_negated: false }])
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Tells whether one name is asked for.
    pub(crate) fn is_one_name(&self) -> bool {
        self.exact_name().is_some()
    }

    /// The first name that is asked for.
    pub(crate) fn exact_name(&self) -> Option<&str> {
        let mut names =
            self.0.iter().filter(|term| term.path == "metadata.name" && !term.is_negated);
        names.next().map(|term| term.value.as_str())
    }

    pub(crate) fn and(mut self, other: Self) -> Self {
        self.0.extend(other.0);
        self
    }

    /// Refuses fields that the resource cannot be selected by.
    pub(crate) fn check(&self, resource: &Resource) -> Result<(), String> {
        let known = |path: &str| {
            path == "metadata.name"
                || (path == "metadata.namespace" && resource.is_namespaced)
                || resource.fields.contains(&path)
                || resource.selectable.iter().any(|it| it == path)
        };
        let Some(term) = self.0.iter().find(|term| !known(&term.path)) else { return Ok(()) };
        let path = &term.path;
        Err(if resource.is_custom || !resource.fields.is_empty() {
            format!("field label not supported: {path}")
        } else {
            format!(
                "{path:?} is not a known field selector: only \"metadata.name\", \"metadata.namespace\""
            )
        })
    }

    pub(crate) fn matches(&self, object: &Value) -> bool {
        self.0.iter().all(|term| {
            let value = match term.path.as_str() {
                "source" => source(object),
                path => path.split('.').fold(object, |value, part| &value[part]),
            };
            let is_equal = match value {
                Value::Number(_) | Value::Bool(_) => {
                    let shown = value.to_string();
                    shown == term.value
                }
                value => value.as_str().unwrap_or("") == term.value,
            };
            is_equal != term.is_negated
        })
    }
}

/// The source of an event: its source component, or else its reporting component.
fn source(event: &Value) -> &Value {
    match &event["source"]["component"] {
        Value::String(component) if !component.is_empty() => &event["source"]["component"],
        _ => &event["reportingComponent"],
    }
}

/// The terms between commas; a comma after a backslash is part of a term.
fn split(text: &str) -> Vec<String> {
    let (mut terms, mut escaped) = (vec![String::new()], false);
    for it in text.chars() {
        if it == ',' && !escaped {
            terms.push(String::new());
        } else if let Some(term) = terms.last_mut() {
            term.push(it);
        }
        escaped = it == '\\' && !escaped;
    }
    terms
}

fn unescape(text: &str) -> Result<String, String> {
    let (mut out, mut escaped) = (String::new(), false);
    for it in text.chars() {
        match (escaped, it) {
            (false, '\\') => {
                escaped = true;
                continue;
            }
            (true, '\\' | ',' | '=') => out.push(it),
            (true, other) => {
                return Err(format!("invalid field selector: invalid escape sequence: \\{other}"));
            }
            (false, ',' | '=') => {
                let code = u32::from(it);
                return Err(format!(
                    "invalid field selector: unescaped character in value: {code}"
                ));
            }
            (false, other) => out.push(other),
        }
        escaped = false;
    }
    Ok(out)
}
