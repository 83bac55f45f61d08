//! Reads a policy: compiles its expressions, and names what is wrong with it.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::{Value, json};

use super::super::super::cause::{Cause, Causes};
use super::super::super::metadata::text;
use super::super::conditions::{Conditions, Weight};
use super::super::scope::Scope;
use super::sight::Sight;
use super::{Mutation, Policy, Validation, check};
use crate::cel::{Program, Type};
use crate::names;
use crate::short::short;

/// How many annotations there may be, and how long an expression of one.
const ANNOTATIONS: usize = 20;
const LONGEST: usize = 5 * 1024;

/// A policy on its way.
struct Reader<'a> {
    sight: Sight,
    causes: &'a mut Causes,
    weight: Weight,
}

impl Reader<'_> {
    /// Compiles an expression; `shown` is what the message shows of it.
    fn compile(&mut self, at: &str, shown: &str, text: &str, wanted: &[Type]) -> Option<Program> {
        self.weight.compile((at, shown), (&self.sight, text, wanted), self.causes)
    }

    fn named(&mut self, spec: &Value) -> Vec<(String, Program)> {
        let mut programs: Vec<(String, Program)> = Vec::new();
        for (index, variable) in items(&spec["variables"]).enumerate() {
            let at = format!("spec.variables[{index}]");
            let (name, expression) = (part(variable, "name"), part(variable, "expression"));
            self.sight.open();
            if name.trim().is_empty() {
                let why = "name is not specified";
                self.causes.push(Cause::required(format!("{at}.name"), why));
            } else if !is_identifier(name) {
                let why = "must be a valid CEL identifier";
                self.causes.push(Cause::invalid(format!("{at}.name"), &name.into(), why));
            }
            let at = format!("{at}.expression");
            if expression.trim().is_empty() {
                self.causes.push(Cause::required(at, "expression is not specified"));
                continue;
            }
            let program = self.compile(&at, expression, expression, &[]);
            self.sight.name(name, program.as_ref().map(|it| &it.result));
            programs.extend(program.map(|it| (name.to_owned(), it)));
        }
        programs
    }

    fn validation(&mut self, at: &str, it: &Value) -> Option<Validation> {
        let (expression, message) = (part(it, "expression"), part(it, "message"));
        let mut program = None;
        if expression.trim().is_empty() {
            let why = "expression is not specified";
            self.causes.push(Cause::required(format!("{at}.expression"), why));
        } else {
            let at = format!("{at}.expression");
            program = self.compile(&at, expression, expression, &[Type::Bool]);
        }
        let (own, place) = (part(it, "messageExpression"), format!("{at}.messageExpression"));
        let empty = "must be non-empty if specified";
        let mut computed = None;
        if !own.is_empty() && own.trim().is_empty() {
            self.causes.push(Cause::invalid(place, &own.into(), empty));
        } else if !own.is_empty() {
            // Messages tell nobody what others may do.
            let authorizer = std::mem::take(&mut self.sight.authorizer);
            computed = self.compile(&place, own, own, &[Type::Text]);
            self.sight.authorizer = authorizer;
        }
        let place = format!("{at}.message");
        if !message.is_empty() && message.trim().is_empty() {
            self.causes.push(Cause::invalid(place, &message.into(), empty));
        } else if message.trim().contains(['\n', '\r']) {
            let why = "must not contain line breaks";
            self.causes.push(Cause::invalid(place, &message.into(), why));
        }
        let (reason, code) = match it["reason"].as_str() {
            None | Some("Invalid") => ("Invalid", 422),
            Some("Forbidden") => ("Forbidden", 403),
            Some("RequestEntityTooLarge") => ("RequestEntityTooLarge", 413),
            Some(_) => {
                let known = ["Forbidden", "Invalid", "RequestEntityTooLarge"];
                let place = format!("{at}.reason");
                self.causes.push(Cause::unsupported(place, &it["reason"], &known));
                ("Invalid", 422)
            }
        };
        let message = match message.trim() {
            "" => format!("failed expression: {}", expression.trim()),
            message => message.to_owned(),
        };
        let (text, computed) = (expression.to_owned(), computed.map(|it| (own.to_owned(), it)));
        Some(Validation { text, program: program?, message, computed, reason, code })
    }

    fn annotations(&mut self, policy: &str, spec: &Value) -> Vec<(String, Program)> {
        let (mut programs, mut keys) = (Vec::new(), BTreeSet::new());
        let all = &spec["auditAnnotations"];
        if items(all).count() > ANNOTATIONS {
            let shown = items(all)
                .map(|it| json!({"Key": it["key"], "ValueExpression": it["valueExpression"]}));
            let why = format!("must not have more than {ANNOTATIONS} auditAnnotations");
            let shown = Value::Array(shown.collect());
            self.causes.push(Cause::invalid("spec.auditAnnotations", &shown, why));
        }
        for (index, annotation) in items(all).enumerate() {
            let at = format!("spec.auditAnnotations[{index}]");
            let key = part(annotation, "key");
            let place = format!("{at}.key");
            if policy.is_empty() {
                let why = "requires metadata.name be non-empty";
                self.causes.push(Cause::invalid(&place, &key.into(), why));
            } else {
                let whole = format!("{policy}/{key}");
                for why in names::qualified(&whole) {
                    self.causes.push(Cause::invalid(&place, &whole.as_str().into(), why));
                }
            }
            let own = part(annotation, "valueExpression");
            let at = format!("{at}.valueExpression");
            match own.trim() {
                "" => {
                    self.causes.push(Cause::required(at, "valueExpression is not specified"));
                }
                text if text.len() > LONGEST => {
                    let why = format!("must not exceed {LONGEST} bytes in length");
                    self.causes.push(Cause::required(at, &why));
                }
                text => {
                    let program = self.compile(&at, own, text, &[Type::Text, Type::Null]);
                    programs.extend(program.map(|it| (own.to_owned(), it)));
                }
            }
            if !keys.insert(key) {
                let why = format!("Duplicate value: {:?}", short(key));
                self.causes.push(Cause::new(place, "FieldValueDuplicate", why));
            }
        }
        programs
    }

    fn mutation(&mut self, at: &str, it: &Value) -> Option<Mutation> {
        let of = part(it, "patchType");
        let known = [("ApplyConfiguration", "applyConfiguration"), ("JSONPatch", "jsonPatch")];
        let Some((_, own)) = known.iter().find(|(name, _)| *name == of) else {
            let at = format!("{at}.patchType");
            self.causes.push(match of {
                "" => Cause::required(at, ""),
                _ => Cause::unsupported(at, &it["patchType"], &known.map(|it| it.0)),
            });
            return None;
        };
        let is_patch = of == "JSONPatch";
        let mut program = None;
        let text = part(&it[*own], "expression");
        let place = format!("{at}.{own}.expression");
        if it[*own].is_null() {
            let why = format!("must be specified when patchType is {of}");
            self.causes.push(Cause::required(format!("{at}.{own}"), &why));
        } else if text.trim().is_empty() {
            self.causes.push(Cause::required(place, ""));
        } else {
            let wanted = if is_patch {
                Type::list(Type::Made("JSONPatch".into()))
            } else {
                Type::Made("Object".into())
            };
            program = self.compile(&place, text.trim(), text.trim(), &[wanted]);
        }
        let other = known[usize::from(!is_patch)].1;
        if !it[other].is_null() {
            let why = format!("must not be specified when patchType is {of}");
            let shown = format!("{{{other}}}").into();
            self.causes.push(Cause::invalid(format!("{at}.{other}"), &shown, why));
        }
        Some(Mutation { text: text.to_owned(), program: program?, is_patch })
    }
}

fn items(list: &Value) -> impl Iterator<Item = &Value> {
    list.as_array().into_iter().flatten()
}

fn part<'a>(of: &'a Value, field: &str) -> &'a str {
    of[field].as_str().unwrap_or("")
}

fn is_identifier(name: &str) -> bool {
    let is_inner = |it: char| it.is_ascii_alphanumeric() || it == '_';
    let starts = !name.starts_with(|it: char| it.is_ascii_digit());
    starts && name.chars().all(is_inner) && !crate::cel::is_reserved(name)
}

impl Policy {
    /// Reads a policy, and names what is wrong with it.
    pub(super) fn read(source: Arc<Value>, causes: &mut Causes) -> Self {
        let (name, spec) = (text(&source, "name").to_owned(), &source["spec"]);
        let mutates = source["kind"] == "MutatingAdmissionPolicy";
        let params = (!spec["paramKind"].is_null())
            .then(|| ["apiVersion", "kind"].map(|it| part(&spec["paramKind"], it).to_owned()));
        check::choice("spec", spec, "failurePolicy", &["Fail", "Ignore"], causes);
        if params.is_some() {
            check::param_kind(&spec["paramKind"], causes);
        }
        check::constraints(&spec["matchConstraints"], mutates, causes);
        let mut sight = Sight { params: params.is_some(), authorizer: true, ..Sight::default() };
        let mut weight = Weight::default();
        let conditions = Conditions::read("spec", spec, (&sight, &mut weight), causes);
        if mutates {
            sight.open();
        }
        let mut reader = Reader { sight, causes, weight };
        let named = reader.named(spec);
        let (mut validations, mut annotations, mut mutations) =
            (Vec::new(), Vec::new(), Vec::new());
        if mutates {
            reader.sight.patches = true;
            if items(&spec["mutations"]).next().is_none() {
                let why = "mutations must contain at least one item";
                reader.causes.push(Cause::required("spec.mutations", why));
            }
            for (index, it) in items(&spec["mutations"]).enumerate() {
                mutations.extend(reader.mutation(&format!("spec.mutations[{index}]"), it));
            }
            let of = "reinvocationPolicy";
            match part(spec, of) {
                "" => reader.causes.push(Cause::required(format!("spec.{of}"), "")),
                _ => check::choice("spec", spec, of, &["IfNeeded", "Never"], reader.causes),
            }
        } else {
            let fields = ["validations", "auditAnnotations"];
            if fields.iter().all(|it| items(&spec[*it]).next().is_none()) {
                let why = "validations or auditAnnotations must contain at least one item";
                let missing = fields.map(|it| Cause::required(format!("spec.{it}"), why));
                reader.causes.extend(missing);
            }
            for (index, it) in items(&spec["validations"]).enumerate() {
                validations.extend(reader.validation(&format!("spec.validations[{index}]"), it));
            }
            annotations = reader.annotations(&name, spec);
        }
        Self {
            may_fail: part(spec, "failurePolicy") == "Ignore",
            scope: Scope::of(&spec["matchConstraints"]),
            comes_again: part(spec, "reinvocationPolicy") == "IfNeeded",
            params: params.map(|[version, kind]| (version, kind)),
            name,
            conditions,
            named,
            validations,
            annotations,
            mutations,
            source: source.clone(),
        }
    }
}
