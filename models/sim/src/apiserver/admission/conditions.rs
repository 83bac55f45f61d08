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
/// How much memory the expressions of one object may take: their parts, and the states of regular expressions.
const HEAVIEST: u64 = 2_000_000;

/// The expressions of one object, counted together.
#[derive(Debug, Default)]
pub(super) struct Weight(u64);

impl Weight {
    /// Compiles an expression, and names what is wrong with it; `shown` is what the message shows of it. Once
    /// they are too large together, which is a cause, no more is compiled.
    pub(super) fn compile(
        &mut self,
        (at, shown): (&str, &str),
        (sight, text, wanted): (&Sight, &str, &[Type]),
        causes: &mut Causes,
    ) -> Option<Program> {
        if self.0 > HEAVIEST {
            return None;
        }
        match sight.compile(text, wanted) {
            Ok(program) => {
                self.0 += program.weight;
                if self.0 > HEAVIEST {
                    let why = "the expressions of the object are too large together";
                    causes.push(Cause::forbidden(at, why));
                }
                Some(program)
            }
            Err(why) => {
                causes.push(Cause::invalid(at, &shown.into(), why));
                None
            }
        }
    }
}

/// The conditions of a webhook or of a policy.
#[derive(Clone, Debug, Default)]
pub(super) struct Conditions(Vec<(String, Program)>);

fn all(of: &Value) -> impl Iterator<Item = &Value> {
    of["matchConditions"].as_array().into_iter().flatten()
}

impl Conditions {
    /// Those of a webhook. What does not compile was refused with its configuration.
    pub(super) fn of(hook: &Value) -> Self {
        let sight = Sight { authorizer: true, ..Sight::default() };
        Self::read("", hook, (&sight, &mut Weight::default()), &mut Causes::default())
    }

    /// Reads conditions, and names what is wrong with them.
    pub(super) fn read(
        at: &str,
        of: &Value,
        (sight, weight): (&Sight, &mut Weight),
        causes: &mut Causes,
    ) -> Self {
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
                text => {
                    let (field, of) =
                        (format!("{at}.expression"), (sight, text, &[Type::Bool][..]));
                    let program = weight.compile((&field, text), of, causes);
                    compiled.extend(program.map(|it| (part("expression").to_owned(), it)));
                }
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
