//! Conditions of webhooks (`matchConditions`): expressions that say about which requests they are asked.

use std::collections::BTreeSet;

use serde_json::Value;

use super::super::cause::{Cause, Causes};
use crate::cel::{self, Decl, Program, Type};

/// What all conditions of a request may cost together.
const COST: u64 = 2_500_000;
/// How many a webhook may have.
const MOST: usize = 64;
/// What they see. The real server knows the fields of `request` beforehand; here they are looked for when
/// a request comes.
const VARIABLES: [&str; 3] = ["object", "oldObject", "request"];

/// The conditions of a webhook.
#[derive(Clone, Debug)]
pub(super) struct Conditions(Vec<(String, Program)>);

fn compile(text: &str) -> Result<Program, String> {
    let program = Program::compile(text, &VARIABLES.map(|name| (name, Type::Dyn)))
        .map_err(|why| format!("compilation failed: {why}"))?;
    match program.result {
        Type::Bool => Ok(program),
        _ => Err("must evaluate to bool".to_owned()),
    }
}

fn all(hook: &Value) -> impl Iterator<Item = &Value> {
    hook["matchConditions"].as_array().into_iter().flatten()
}

impl Conditions {
    /// Those of a webhook. What does not compile was refused with its configuration.
    pub(super) fn of(hook: &Value) -> Self {
        let texts = all(hook).filter_map(|it| it["expression"].as_str());
        Self(texts.filter_map(|it| Some((it.to_owned(), compile(it).ok()?))).collect())
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether all hold of a request, as a review shows it. The error says which could not be told.
    pub(super) fn hold(&self, review: &Value) -> Result<bool, String> {
        let open = Decl::open();
        let mut request = review.clone();
        for field in ["object", "oldObject"] {
            request[field].take();
        }
        let of = |name: &str| match name {
            "request" => &request,
            _ => &review[name],
        };
        let (mut left, mut wrong) = (COST, Vec::new());
        for (text, program) in &self.0 {
            let uses =
                VARIABLES.into_iter().filter(|it| program.uses.iter().any(|used| used == it));
            let values = uses.map(|it| Ok((it, cel::Value::read(of(it), &open)?)));
            let result = match values.collect::<Result<Vec<_>, String>>() {
                Ok(values) => {
                    let (result, cost) = program.run(values, left);
                    left = left.saturating_sub(cost);
                    result
                }
                Err(why) => Err(why),
            };
            match result {
                Ok(cel::Value::Bool(true)) => {}
                // One that does not hold decides, also after one that cannot be told.
                Ok(cel::Value::Bool(false)) => return Ok(false),
                Ok(_) => wrong.push(format!("cel evaluation did not return a bool: {text}")),
                Err(why) => wrong.push(format!("expression '{text}' resulted in error: {why}")),
            }
        }
        match wrong.len() {
            0 => Ok(true),
            1 => Err(wrong.remove(0)),
            _ => Err(format!("[{}]", wrong.join(", "))),
        }
    }
}

/// Names what is wrong with the conditions of a webhook.
pub(super) fn check(at: &str, hook: &Value, causes: &mut Causes) {
    let count = all(hook).count();
    if count > MOST {
        let why = format!("Too many: {count}: must have at most {MOST} items");
        causes.push(Cause::new(format!("{at}.matchConditions"), "FieldValueTooMany", why));
        return;
    }
    let mut names = BTreeSet::new();
    for (index, condition) in all(hook).enumerate() {
        let at = format!("{at}.matchConditions[{index}]");
        let part = |field: &str| condition[field].as_str().unwrap_or("").trim();
        match part("name") {
            "" => causes.push(Cause::required(format!("{at}.name"), "")),
            name if !names.insert(name) => {
                let why = format!("Duplicate value: {:?}", crate::short::short(name));
                causes.push(Cause::new(format!("{at}.name"), "FieldValueDuplicate", why));
            }
            _ => {}
        }
        match part("expression") {
            "" => causes.push(Cause::required(format!("{at}.expression"), "")),
            text => {
                if let Err(why) = compile(text) {
                    let at = format!("{at}.expression");
                    causes.push(Cause::invalid(at, &condition["expression"], why));
                }
            }
        }
    }
}
