//! The expressions of Kubernetes (CEL): compiled once with the types of a schema, evaluated at a cost that is
//! counted and bounded. [`Program::compile`] refuses what does not fit, in the words of the real server.
//!
//! Why not a published crate: those that exist have no types before run time (so a definition with a wrong rule
//! would be accepted), count no cost, lack the libraries of Kubernetes, and copy the object for each evaluation.

mod ast;
mod check;
mod eval;
mod functions;
mod gathered;
mod kind;
mod lazy;
mod lex;
mod names;
mod parse;
pub(crate) mod patch;
pub(crate) mod pattern;
#[cfg(test)]
mod tests;
pub(crate) mod texts;
mod value;
mod weight;

use std::rc::Rc;

pub(crate) use ast::LAZY;
use check::Checker;
pub(crate) use eval::CANCELLED;
use eval::Evaluation;
pub(crate) use functions::authorizer::{Asked, Authority, Rights};
pub(crate) use kind::{Decl, Type};
pub(crate) use lazy::Lazy;
pub(crate) use names::is_reserved;
pub(crate) use value::Value;

/// How much text tells mistakes, and how many characters of a line it shows.
const LONGEST: usize = 8 * 1024;
const WIDEST: usize = 2000;

/// A compiled expression.
#[derive(Clone, Debug)]
pub(crate) struct Program {
    root: ast::Node,
    pub(crate) result: Type,
    /// The variables that it uses.
    pub(crate) uses: Vec<String>,
    /// How much memory it takes: its parts, and the states of the regular expressions that are written in it.
    pub(crate) weight: u64,
}

impl Program {
    /// Compiles an expression over variables of the given types; if it is wrong, says where and why.
    pub(crate) fn compile(text: &str, variables: &[(&str, Type)]) -> Result<Self, String> {
        let root = parse::parse(text).map_err(|(at, why)| shown(text, at, &why))?;
        let mut checker = Checker {
            variables: variables.to_vec(),
            mistakes: Vec::new(),
            used: Vec::new(),
            work: 0,
            weight: 0,
        };
        let result = checker.check(&root);
        let Checker { mut mistakes, used, weight, .. } = checker;
        mistakes.sort();
        if mistakes.is_empty() {
            let uses = used;
            return Ok(Self { root, result, uses, weight });
        }
        let mut told = String::new();
        for (at, why) in &mistakes {
            if told.len() > LONGEST {
                break;
            }
            told += if told.is_empty() { "" } else { "\n" };
            told += &shown(text, *at, why);
        }
        Err(told)
    }

    /// The value with these variables, and what it cost, which is at most a little more than `limit`.
    pub(crate) fn run<'a>(
        &'a self,
        variables: Vec<(&'a str, Value<'a>)>,
        limit: u64,
    ) -> (Result<Value<'a>, String>, u64) {
        self.run_with(variables, limit, None)
    }

    /// The same, with the named expressions that it may use.
    pub(crate) fn run_with<'a>(
        &'a self,
        variables: Vec<(&'a str, Value<'a>)>,
        limit: u64,
        lazy: Option<Rc<Lazy<'a>>>,
    ) -> (Result<Value<'a>, String>, u64) {
        let mut evaluation = Evaluation { variables, cost: 0, limit, lazy };
        let result = evaluation.run(&self.root);
        (result, evaluation.cost)
    }
}

/// The type of an optional value.
pub(crate) fn optional(of: Type) -> Type {
    Type::Optional(Box::new(of))
}

/// The optional value of a variable that may not be there.
pub(crate) fn maybe(value: Option<Value<'_>>) -> Value<'_> {
    Value::Optional(value.map(std::rc::Rc::new))
}

/// A mistake with its line, as the real server shows it.
fn shown(text: &str, at: usize, why: &str) -> String {
    let before: String = text.chars().take(at).collect();
    let row = before.matches('\n').count();
    let column = before.chars().rev().take_while(|it| *it != '\n').count();
    // One line may be all of a long text.
    let cut = |text: &str| text.chars().take(WIDEST).collect::<String>();
    let (line, why) = (cut(text.split('\n').nth(row).unwrap_or("")), cut(why));
    let dots = ".".repeat(column.min(WIDEST));
    format!("ERROR: <input>:{}:{}: {why}\n | {line}\n | {dots}^", row + 1, column + 1)
}
