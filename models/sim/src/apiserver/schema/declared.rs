//! What is wrong with the rules and the patterns of the schema of a definition.

use std::cell::Cell;
use std::sync::Arc;

use serde_json::Value;

use super::rules::Rule;
use crate::apiserver::cause::{Cause, Causes};
use crate::cel::{Decl, pattern};

/// How large the rules and patterns of a definition may be together, as [`Rule::weight`] and [`pattern::weight`]
/// count: each part takes some hundred bytes of memory.
const HEAVIEST: u64 = 200_000;

/// What the rules and patterns of all versions of a definition may still weigh, and whether it was told that they
/// are too large.
pub(crate) struct Budget {
    left: Cell<u64>,
    is_told: Cell<bool>,
}

impl Default for Budget {
    fn default() -> Self {
        Self { left: Cell::new(HEAVIEST), is_told: Cell::new(false) }
    }
}

/// Where a schema lies within a definition.
struct Place<'a> {
    path: String,
    budget: &'a Budget,
    is_resource: bool,
    /// The nearest list around it whose items have no older state.
    apart: Option<&'a str>,
}

/// Names the rules that do not compile, and what else is wrong with them.
pub(crate) fn check(schema: &Value, path: &str, budget: &Budget, causes: &mut Causes) {
    walk(schema, &Place { path: path.to_owned(), budget, is_resource: true, apart: None }, causes);
}

impl Place<'_> {
    /// Whether all schemas have been light enough so far, with something of this weight.
    fn carries(&self, weight: u64, causes: &mut Causes) -> bool {
        let Budget { left, is_told } = self.budget;
        if let Some(rest) = left.get().checked_sub(weight).filter(|_| !is_told.get()) {
            left.set(rest);
            return true;
        }
        // What comes after it is not looked at, so it must be told, and once is enough.
        if !is_told.replace(true) {
            let why = "the rules and patterns of the definition are too large together";
            causes.push(Cause::forbidden(&self.path, why));
        }
        false
    }
}

fn walk(schema: &Value, at: &Place<'_>, causes: &mut Causes) {
    let path = &at.path;
    let below = |path: String, apart| Place { path, budget: at.budget, is_resource: false, apart };
    let before = causes.len();
    if causes.is_full() || !at.carries(0, causes) {
        return;
    }
    if let Some(text) = schema["pattern"].as_str()
        && at.carries(pattern::weight(text).unwrap_or(0), causes)
        && let Err(why) = pattern::compile(text)
    {
        let why = format!("must be a valid regular expression, but isn't: {why}");
        causes.push(Cause::invalid(format!("{path}.pattern"), &schema["pattern"], why));
    }
    if schema["uniqueItems"] == true {
        causes.push(Cause::forbidden(
            format!("{path}.uniqueItems"),
            "uniqueItems cannot be set to true since the runtime complexity becomes quadratic",
        ));
    }
    if schema["additionalProperties"].is_object() {
        let path = format!("{path}.additionalProperties");
        walk(&schema["additionalProperties"], &below(path, at.apart), causes);
    }
    for (name, inner) in schema["properties"].as_object().into_iter().flatten() {
        walk(inner, &below(format!("{path}.properties[{name}]"), at.apart), causes);
    }
    if schema["items"].is_object() {
        let is_map = schema["x-kubernetes-list-type"] == "map";
        let apart = if is_map { at.apart } else { at.apart.or(Some(path)) };
        walk(&schema["items"], &below(format!("{path}.items"), apart), causes);
    }
    for key in ["allOf", "anyOf", "oneOf"] {
        for (index, inner) in schema[key].as_array().into_iter().flatten().enumerate() {
            walk(inner, &below(format!("{path}.{key}[{index}]"), at.apart), causes);
        }
    }
    if schema["not"].is_object() {
        walk(&schema["not"], &below(format!("{path}.not"), at.apart), causes);
    }
    let rules = schema["x-kubernetes-validations"].as_array().map_or(&[][..], Vec::as_slice);
    for (index, rule) in rules.iter().enumerate() {
        shape(rule, schema, &format!("{path}.x-kubernetes-validations[{index}]"), causes);
    }
    // A schema that is wrong may have no types.
    if rules.is_empty() || causes.len() > before {
        return;
    }
    let Some(decl) = Decl::of(schema, at.is_resource) else { return };
    for (index, rule) in rules.iter().enumerate() {
        compile(rule, &decl, &format!("{path}.x-kubernetes-validations[{index}]"), at, causes);
    }
}

fn compile(rule: &Value, decl: &Arc<Decl>, path: &str, at: &Place<'_>, causes: &mut Causes) {
    if !at.carries(0, causes) {
        return;
    }
    let compiled = match Rule::compile(rule, decl) {
        Ok(compiled) if at.carries(compiled.weight(), causes) => compiled,
        Ok(_) => return,
        Err((part, why)) => {
            let why = format!("Invalid value: {}: {why}", written(rule));
            causes.push(Cause::new(format!("{path}.{part}"), "FieldValueInvalid", why));
            at.carries(rule[part].as_str().map_or(0, str::len) as u64, causes);
            return;
        }
    };
    if let Some(apart) = at.apart.filter(|_| compiled.uses_old) {
        let why = format!(
            "oldSelf cannot be used on the uncorrelatable portion of the schema within {apart}"
        );
        causes.push(Cause::invalid(format!("{path}.rule"), &rule["rule"], why));
    }
    if !compiled.uses_old && !rule["optionalOldSelf"].is_null() {
        let why = "may not be set if oldSelf is not used in rule";
        causes.push(Cause::invalid(
            format!("{path}.optionalOldSelf"),
            &rule["optionalOldSelf"],
            why,
        ));
    }
}

/// The parts of a rule beside its expression.
fn shape(rule: &Value, schema: &Value, path: &str, causes: &mut Causes) {
    let text = |key: &str| rule[key].as_str().unwrap_or("");
    let (source, message) = (text("rule").trim(), text("message"));
    let at = |field: &str| format!("{path}.{field}");
    if source.is_empty() {
        causes.push(Cause::required(at("rule"), "rule is not specified"));
    } else if !message.is_empty() && message.trim().is_empty() {
        causes.push(Cause::invalid(
            at("message"),
            &rule["message"],
            "must be non-empty if specified",
        ));
    } else if message.trim().contains('\n') {
        causes.push(Cause::invalid(
            at("message"),
            &rule["message"],
            "must not contain line breaks",
        ));
    } else if source.contains('\n') && message.is_empty() {
        let why = "message must be specified if rule contains line breaks";
        causes.push(Cause::required(at("message"), why));
    }
    const REASONS: [&str; 4] =
        ["FieldValueDuplicate", "FieldValueForbidden", "FieldValueInvalid", "FieldValueRequired"];
    if rule["reason"].as_str().is_some_and(|it| !REASONS.contains(&it)) {
        causes.push(Cause::unsupported(at("reason"), &rule["reason"], &REASONS));
    }
    let field = text("fieldPath");
    if !field.is_empty() && !leads(field, schema) {
        causes.push(Cause::invalid(at("fieldPath"), &rule["fieldPath"], "must be a valid path"));
    }
}

/// Whether a path such as `.a.b` or `.a['b']` leads to a field of the schema.
fn leads(path: &str, schema: &Value) -> bool {
    let (mut schema, mut rest) = (schema, path);
    while !rest.is_empty() {
        let name = if let Some(after) = rest.strip_prefix("['") {
            let Some((name, after)) = after.split_once("']") else { return false };
            rest = after;
            name
        } else if let Some(after) = rest.strip_prefix('.') {
            let length = after.find(['.', '[']).unwrap_or(after.len());
            rest = &after[length..];
            &after[..length]
        } else {
            return false;
        };
        let inner = match &schema["properties"] {
            Value::Object(fields) => fields.get(name),
            _ => schema.get("additionalProperties").filter(|it| it.is_object()),
        };
        let Some(inner) = inner else { return false };
        schema = inner;
    }
    true
}

/// A rule as the real server writes it.
fn written(rule: &Value) -> String {
    let text = |key: &str| Value::from(rule[key].as_str().unwrap_or("")).to_string();
    let whole = format!(
        "{{\"Rule\":{},\"Message\":{},\"MessageExpression\":{},\"Reason\":{},\"FieldPath\":{},\"OptionalOldSelf\":{}}}",
        text("rule"),
        text("message"),
        text("messageExpression"),
        rule["reason"],
        text("fieldPath"),
        rule["optionalOldSelf"],
    );
    whole.replace('<', "\\u003c").replace('>', "\\u003e").replace('&', "\\u0026")
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{Budget, HEAVIEST, check};
    use crate::apiserver::cause::Causes;
    use crate::cel::pattern;

    fn found(parts: &[Value]) -> usize {
        let (budget, mut causes) = (Budget::default(), Causes::default());
        check(&json!({"type": "object", "anyOf": parts}), "spec", &budget, &mut causes);
        causes.len()
    }

    #[test]
    fn what_comes_after_all_that_may_be_is_refused_too() {
        let heavy = |weight: u64| json!({"pattern": "a".repeat((weight - 50) as usize)});
        assert_eq!(pattern::weight("a"), Ok(51));
        let full = vec![heavy(HEAVIEST / 40); 40];
        assert_eq!(found(&full), 0);
        // Neither a pattern nor a rule passes by being looked at when nothing is left.
        for more in [
            json!({"pattern": "("}),
            json!({"x-kubernetes-validations": [{"rule": "true"}],
            "type": "object"}),
        ] {
            assert_eq!(found(&[&full[..], &[more]].concat()), 1);
        }
        // What is too large is told once.
        assert_eq!(found(&vec![heavy(HEAVIEST / 30); 90]), 1);
    }
}
