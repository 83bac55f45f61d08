//! The rules of a schema that are expressions (`x-kubernetes-validations`), compiled once.

use std::sync::Arc;

use serde_json::Value;

use super::Structural;
use crate::apiserver::bounds::At;
use crate::apiserver::cause::{Cause, Causes};
use crate::cel::{self, CANCELLED, Decl, Program, Type};

/// What one rule may cost, and all of one request.
const PER_RULE: u64 = 1_000_000;
const PER_REQUEST: u64 = 10_000_000;
/// How long a computed message may be.
const LONGEST: usize = 5 * 1024;

/// The rules of one node, and how they read its values.
#[derive(Clone, Debug)]
pub(super) struct Rules {
    decl: Arc<Decl>,
    rules: Vec<Rule>,
}

/// One rule.
#[derive(Clone, Debug)]
pub(super) struct Rule {
    program: Program,
    pub(super) uses_old: bool,
    takes_none: bool,
    /// What it is called in messages.
    name: String,
    message: String,
    computed: Option<Program>,
    reason: &'static str,
    field: String,
}

/// Why a rule is refused: the field, and the text.
pub(super) type Refusal = (&'static str, String);

impl Rule {
    /// How much memory its expressions take.
    pub(super) fn weight(&self) -> u64 {
        self.program.weight + self.computed.as_ref().map_or(0, |it| it.weight)
    }

    /// Compiles a rule over the values of a type.
    pub(super) fn compile(rule: &Value, decl: &Arc<Decl>) -> Result<Self, Refusal> {
        let text = |key: &str| rule[key].as_str().unwrap_or("").trim().to_owned();
        let takes_none = rule["optionalOldSelf"] == true;
        let of = decl.as_type();
        let old = if takes_none { cel::optional(of.clone()) } else { of.clone() };
        let variables = [("self", of), ("oldSelf", old)];
        let source = rule["rule"].as_str().unwrap_or("");
        let program = Program::compile(source, &variables)
            .map_err(|why| ("rule", format!("compilation failed: {why}")))?;
        if !matches!(program.result, Type::Bool) {
            return Err(("rule", "cel expression must evaluate to a bool".to_owned()));
        }
        let computed = match rule["messageExpression"].as_str() {
            None | Some("") => None,
            Some(source) => {
                let place = "messageExpression";
                let computed = Program::compile(source, &variables)
                    .map_err(|why| (place, format!("{place} compilation failed: {why}")))?;
                if !matches!(computed.result, Type::Text) {
                    return Err((place, format!("{place} must evaluate to a string")));
                }
                Some(computed)
            }
        };
        let message = text("message");
        let name = if message.is_empty() { text("rule") } else { message.clone() };
        Ok(Self {
            uses_old: program.uses.iter().any(|it| it == "oldSelf"),
            message: if message.is_empty() { format!("failed rule: {name}") } else { message },
            name,
            program,
            takes_none,
            computed,
            reason: match rule["reason"].as_str() {
                Some("FieldValueForbidden") => "FieldValueForbidden",
                Some("FieldValueRequired") => "FieldValueRequired",
                Some("FieldValueDuplicate") => "FieldValueDuplicate",
                _ => "FieldValueInvalid",
            },
            field: text("fieldPath"),
        })
    }
}

impl Rules {
    /// The rules of a schema. Those that do not compile were refused with their definition.
    pub(super) fn of(schema: &Value, is_resource: bool) -> Option<Arc<Self>> {
        let rules = schema["x-kubernetes-validations"].as_array()?;
        let decl = Decl::of(schema, is_resource)?;
        let rules: Vec<_> = rules.iter().filter_map(|it| Rule::compile(it, &decl).ok()).collect();
        (!rules.is_empty()).then(|| Arc::new(Self { decl, rules }))
    }
}

/// A judgement on its way: what was found, and what it may still cost.
struct Judgement<'a> {
    causes: &'a mut Causes,
    /// What is wrong and was so before.
    warnings: Vec<String>,
    left: u64,
    is_over: bool,
}

/// A value, and what it was before: what a rule sees as `oldSelf`, and what decides whether a violation is new.
#[derive(Clone, Copy)]
struct Change<'a> {
    value: &'a Value,
    old: Option<&'a Value>,
    /// The nearest value around it that has an older state, and that state.
    anchor: Option<(&'a Value, &'a Value)>,
}

impl<'a> Change<'a> {
    fn inner(self, value: &'a Value, old: Option<&'a Value>, same: Option<&'a Value>) -> Self {
        let anchor = same.map(|old| (value, old)).or(self.anchor);
        Self { value, old: old.filter(|it| !it.is_null()), anchor }
    }
}

impl Structural {
    pub(crate) fn has_rules(&self) -> bool {
        self.has_rules
    }

    /// Names the rules that an object breaks, and says which it broke before too.
    pub(crate) fn judge(
        &self,
        object: &Value,
        old: Option<&Value>,
        causes: &mut Causes,
    ) -> Vec<String> {
        let mut judgement =
            Judgement { causes, warnings: Vec::new(), left: PER_REQUEST, is_over: false };
        let change = Change { value: object, old, anchor: old.map(|old| (object, old)) };
        self.judge_below(change, &At::Root, &mut judgement);
        judgement.warnings
    }

    fn judge_below(&self, change: Change<'_>, path: &At<'_>, judgement: &mut Judgement<'_>) {
        if !self.has_rules || change.value.is_null() || judgement.is_over {
            return;
        }
        if let Some(rules) = &self.rules {
            rules.judge(self, change, path, judgement);
        }
        match change.value {
            Value::Object(fields) => {
                let before = change.old.and_then(Value::as_object);
                let same = change.anchor.filter(|it| std::ptr::eq(it.0, change.value));
                let same = same.and_then(|it| it.1.as_object());
                for (key, value) in fields {
                    let Some(schema) = self.property(key) else { continue };
                    let old = before.and_then(|it| it.get(key));
                    let change = change.inner(value, old, same.and_then(|it| it.get(key)));
                    let below = if self.properties.contains_key(key) {
                        At::Field(path, key)
                    } else {
                        At::Key(path, key)
                    };
                    schema.judge_below(change, &below, judgement);
                }
            }
            Value::Array(items) => {
                let Some(schema) = self.items.as_deref().filter(|it| it.has_rules) else { return };
                let before = change.old.and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
                let known = self.known_items(before);
                for (index, item) in items.iter().enumerate() {
                    let old = known.as_ref().and_then(|it| it.get(&self.item_key(item)).copied());
                    let change = change.inner(item, old, old);
                    schema.judge_below(change, &At::Item(path, index), judgement);
                }
            }
            _ => {}
        }
    }
}

impl Rules {
    fn judge(
        &self,
        schema: &Structural,
        change: Change<'_>,
        path: &At<'_>,
        judgement: &mut Judgement<'_>,
    ) {
        let kind = Value::from(schema.kind.as_str());
        for rule in &self.rules {
            if judgement.is_over || rule.uses_old && change.old.is_none() && !rule.takes_none {
                continue;
            }
            let (result, cost) = rule.run(&rule.program, &self.decl, change);
            let why = match result {
                _ if cost > judgement.left => {
                    judgement.is_over = true;
                    "validation failed due to running out of cost budget, no further validation rules will be run".to_owned()
                }
                Ok(cel::Value::Bool(true)) => {
                    judgement.left -= cost;
                    continue;
                }
                Ok(_) => {
                    judgement.left -= cost;
                    self.tell(rule, schema, change, path, judgement);
                    continue;
                }
                Err(why) if why == CANCELLED => {
                    judgement.is_over = true;
                    format!(
                        "'{why}': no further validation rules will be run due to call cost exceeds limit for rule: {}",
                        rule.name
                    )
                }
                Err(why) if why.starts_with("no such overload") => format!(
                    "'{why}': call arguments did not match a supported operator, function or macro signature for rule: {}",
                    rule.name
                ),
                Err(why) => format!("{why} evaluating rule: {}", rule.name),
            };
            judgement.left = judgement.left.saturating_sub(cost);
            judgement.causes.push(Cause::invalid(named(path), &kind, why));
        }
    }

    /// A rule is broken.
    fn tell(
        &self,
        rule: &Rule,
        schema: &Structural,
        change: Change<'_>,
        path: &At<'_>,
        judgement: &mut Judgement<'_>,
    ) {
        let mut message = rule.message.clone();
        if let Some(computed) = &rule.computed {
            let (result, cost) = rule.run(computed, &self.decl, change);
            judgement.left = judgement.left.saturating_sub(cost);
            if let Ok(cel::Value::Text(text)) = result {
                let text = text.trim();
                if !text.is_empty() && text.len() <= LONGEST && !text.contains('\n') {
                    text.clone_into(&mut message);
                }
            }
        }
        let value = match schema.kind.as_str() {
            "object" | "array" => String::new(),
            _ => format!("{}: ", crate::short::short(change.value)),
        };
        let text = match rule.reason {
            "FieldValueForbidden" => format!("Forbidden: {message}"),
            "FieldValueRequired" => format!("Required value: {message}"),
            "FieldValueDuplicate" => {
                format!(
                    "Duplicate value{}",
                    value.strip_suffix(": ").map_or_else(String::new, |it| format!(": {it}"))
                )
            }
            _ => format!("Invalid value: {value}{message}"),
        };
        let field = match (path, rule.field.as_str()) {
            (path, "") => named(path),
            (At::Root, field) => field.trim_start_matches('.').to_owned(),
            (path, field) => format!("{path}{field}"),
        };
        let is_old = change.anchor.is_some_and(|(value, old)| value == old);
        if is_old && !rule.uses_old {
            judgement.warnings.push(format!("{field}: {text}"));
            return;
        }
        judgement.causes.push(Cause::new(field, rule.reason, text));
    }
}

/// A path as causes name it.
fn named(path: &At<'_>) -> String {
    if matches!(path, At::Root) { "<nil>".to_owned() } else { path.to_string() }
}

impl Rule {
    fn run<'a>(
        &'a self,
        program: &'a Program,
        decl: &'a Decl,
        change: Change<'a>,
    ) -> (Result<cel::Value<'a>, String>, u64) {
        let read = |value| cel::Value::read(value, decl);
        let old = match change.old.map(read).transpose() {
            Ok(old) => old,
            Err(why) => return (Err(why), 0),
        };
        let mut variables = match read(change.value) {
            Ok(value) => vec![("self", value)],
            Err(why) => return (Err(why), 0),
        };
        if self.takes_none {
            variables.push(("oldSelf", cel::maybe(old)));
        } else {
            variables.extend(old.map(|old| ("oldSelf", old)));
        }
        program.run(variables, PER_RULE)
    }
}
