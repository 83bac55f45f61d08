//! Schemas that are made of others, and what a text must look like.

use serde_json::Value;

use super::{Structural, format};
use crate::apiserver::bounds::At;
use crate::apiserver::cause::{Cause, Causes};
use crate::cel::pattern;

/// `allOf`, `anyOf`, `oneOf` and `not`, and the expression of `pattern`.
#[derive(Clone, Debug, Default)]
pub(super) struct Choices {
    all: Vec<Structural>,
    any: Vec<Structural>,
    one: Vec<Structural>,
    not: Option<Box<Structural>>,
    pattern: Option<(String, regex::Regex)>,
}

impl Choices {
    pub(super) fn parse(schema: &Value) -> Self {
        let list = |key: &str| {
            let parts = schema[key].as_array().into_iter().flatten();
            parts.map(|it| Structural::parse_at(it, false)).collect()
        };
        let text = schema["pattern"].as_str();
        let text = text.and_then(|it| Some((it.to_owned(), pattern::compile(it).ok()?)));
        let not = &schema["not"];
        let not = not.is_object().then(|| Box::new(Structural::parse_at(not, false)));
        Self { all: list("allOf"), any: list("anyOf"), one: list("oneOf"), not, pattern: text }
    }

    /// Names what is wrong with a value.
    pub(super) fn check(&self, format: &str, value: &Value, path: &At<'_>, causes: &mut Causes) {
        let judged = |schema: &Structural| {
            let mut causes = Causes::default();
            schema.validate(value, None, path, &mut causes);
            causes
        };
        let tell = |causes: &mut Causes, why: &str| {
            let said = format_args!("Invalid value: \"\": \"{path}\" must {why}");
            causes.push(Cause::new("<nil>", "FieldValueInvalid", said));
        };
        if !self.any.is_empty() {
            let found: Vec<_> = self.any.iter().map(judged).collect();
            if !found.iter().any(|it| it.is_empty()) {
                tell(causes, "validate at least one schema (anyOf)");
                causes.extend(found.into_iter().next().into_iter().flatten());
            }
        }
        if !self.one.is_empty() {
            let mut found: Vec<_> = self.one.iter().map(judged).collect();
            match found.iter().filter(|it| it.is_empty()).count() {
                1 => {}
                0 => {
                    tell(causes, "validate one and only one schema (oneOf). Found none valid");
                    causes.extend(found.swap_remove(0));
                }
                more => {
                    let why = format!(
                        "validate one and only one schema (oneOf). Found {more} valid alternatives"
                    );
                    tell(causes, &why);
                }
            }
        }
        let found: Vec<_> = self.all.iter().map(judged).collect();
        let wrong = found.iter().filter(|it| !it.is_empty()).count();
        let none = if wrong == self.all.len() { ". None validated" } else { "" };
        found.into_iter().for_each(|it| causes.extend(it));
        if wrong > 0 {
            tell(causes, &format!("validate all the schemas (allOf){none}"));
        }
        if self.not.as_ref().is_some_and(|it| judged(it).is_empty()) {
            tell(causes, "not validate the schema (not)");
        }
        let Some(text) = value.as_str() else { return };
        if let Some((source, pattern)) = &self.pattern
            && !pattern.is_match(text)
        {
            let why = format_args!("{path} in body should match '{source}'");
            causes.push(Cause::invalid(path, value, why));
        }
        if !format.is_empty() && !format::fits(format, text) {
            let why = format_args!(
                "Invalid value: {value}: {path} in body must be of type {format}: {value}"
            );
            causes.push(Cause::new(path, "FieldValueTypeInvalid", why));
        }
    }
}
