//! Conditions of webhooks and policies (`matchConditions`): expressions that say about which requests they are
//! asked.

use std::collections::BTreeSet;

use serde_json::Value;

use super::super::cause::{Cause, Causes};
use super::policy::sight::{CONDITIONS, Evaluator, Given, Sight};
use crate::cel::{self, Program, Type};
use crate::names;

/// How many there may be.
const MOST: usize = 64;

/// The conditions of a webhook or of a policy.
#[derive(Clone, Debug, Default)]
pub(super) struct Conditions(Vec<(String, Program)>);

fn all(of: &Value) -> impl Iterator<Item = &Value> {
    of["matchConditions"].as_array().into_iter().flatten()
}

impl Conditions {
    /// Those of a webhook. What does not compile was refused with its configuration.
    pub(super) fn of(hook: &Value) -> Self {
        Self::read(
            "",
            hook,
            &Sight { authorizer: true, ..Sight::default() },
            &mut Causes::default(),
        )
    }

    /// Reads conditions, and names what is wrong with them.
    pub(super) fn read(at: &str, of: &Value, sight: &Sight, causes: &mut Causes) -> Self {
        let (mut compiled, mut names) = (Vec::new(), BTreeSet::new());
        let count = all(of).count();
        if count > MOST {
            let why = format!("Too many: {count}: must have at most {MOST} items");
            causes.push(Cause::new(format!("{at}.matchConditions"), "FieldValueTooMany", why));
            return Self::default();
        }
        for (index, condition) in all(of).enumerate() {
            let at = format!("{at}.matchConditions[{index}]");
            let part = |field: &str| condition[field].as_str().unwrap_or("");
            match part("expression").trim() {
                "" => causes.push(Cause::required(format!("{at}.expression"), "")),
                text => match sight.compile(text, &[Type::Bool]) {
                    Ok(program) => compiled.push((part("expression").to_owned(), program)),
                    Err(why) => {
                        let field = format!("{at}.expression");
                        causes.push(Cause::invalid(field, &text.into(), why));
                    }
                },
            }
            let name = part("name");
            let field = format!("{at}.name");
            if name.is_empty() {
                causes.push(Cause::required(field, ""));
                continue;
            }
            let wrong = names::qualified(name);
            causes.extend(wrong.iter().map(|why| Cause::invalid(&field, &name.into(), why)));
            if !names.insert(name) {
                let why = format!("Duplicate value: {:?}", crate::short::short(name));
                causes.push(Cause::new(field, "FieldValueDuplicate", why));
            }
        }
        Self(compiled)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn weight(&self) -> u64 {
        self.0.iter().map(|it| it.1.weight).sum()
    }

    /// Whether all hold of a request. The error says which could not be told.
    pub(super) fn hold(&self, given: Given<'_>) -> Result<bool, String> {
        let mut wrong = Vec::new();
        let mut evaluator = Evaluator::new(given, &[], CONDITIONS)?;
        for (text, program) in &self.0 {
            match evaluator.run(text, program)? {
                Ok(cel::Value::Bool(true)) => {}
                // One that does not hold decides, also after one that cannot be told.
                Ok(cel::Value::Bool(false)) => return Ok(false),
                Ok(_) => wrong.push(format!("cel evaluation did not return a bool: {text}")),
                Err(why) => wrong.push(why),
            }
        }
        match wrong.len() {
            0 => Ok(true),
            1 => Err(wrong.remove(0)),
            _ => Err(format!("[{}]", wrong.join(", "))),
        }
    }
}
