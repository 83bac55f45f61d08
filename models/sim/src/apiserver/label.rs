//! Label selectors.

use std::collections::BTreeSet;

use serde_json::Value;

use super::cause::{Cause, Causes};
use super::names;

/// A condition on the value of a label.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Want {
    Exists,
    Missing,
    In(BTreeSet<String>),
    NotIn(BTreeSet<String>),
    Above(i64),
    Below(i64),
}

/// A conjunction of requirements.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Labels(Vec<(String, Want)>);

impl Labels {
    /// Reads a selector; the error is the server's message.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let mut parser = Parser { tokens: lex(text), at: 0 };
        let mut wants = Vec::new();
        loop {
            match parser.peek() {
                Token::End => return Ok(Self(wants)),
                Token::Word(_) | Token::Sign("!") => {
                    let want = parser.requirement();
                    wants.push(want.map_err(|why| format!("unable to parse requirement: {why}"))?);
                }
                other => return Err(expected(&other, "!, identifier, or 'end of string'")),
            }
            match parser.next() {
                Token::End => return Ok(Self(wants)),
                Token::Sign(",") => {
                    if !matches!(parser.peek(), Token::Word(_) | Token::Sign("!")) {
                        return Err(expected(&parser.peek(), "identifier after ','"));
                    }
                }
                other => return Err(expected(&other, "',' or 'end of string'")),
            }
        }
    }

    /// Reads a selector as objects hold it, with `matchLabels` and `matchExpressions`.
    pub(crate) fn of(selector: &Value) -> Result<Self, Causes> {
        let (mut wants, mut causes) = (Vec::new(), Causes::default());
        for (key, value) in selector["matchLabels"].as_object().into_iter().flatten() {
            let value = value.as_str().unwrap_or("").to_owned();
            wants.push((key.clone(), Want::In(BTreeSet::from([value]))));
        }
        let terms = &selector["matchExpressions"];
        if !terms.is_null() && !terms.is_array() {
            causes.push(Cause::invalid("matchExpressions", terms, "must be a list"));
        }
        let terms = terms.as_array().map_or(&[][..], Vec::as_slice);
        for (index, term) in terms.iter().enumerate() {
            match expression(term) {
                Ok(want) => wants.push(want),
                Err((part, mut cause)) => {
                    cause.field = format!("matchExpressions[{index}].{part}");
                    causes.push(cause);
                }
            }
        }
        if causes.is_empty() { Ok(Self(wants)) } else { Err(causes) }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn matches(&self, object: &Value) -> bool {
        self.0.iter().all(|(key, want)| {
            let value = object["metadata"]["labels"][key].as_str();
            let number = || value.and_then(|value| value.parse::<i64>().ok());
            let is_one = |all: &BTreeSet<String>| value.is_some_and(|value| all.contains(value));
            match want {
                Want::Exists => value.is_some(),
                Want::Missing => value.is_none(),
                Want::In(values) => is_one(values),
                Want::NotIn(values) => !is_one(values),
                Want::Above(bound) => number().is_some_and(|it| it > *bound),
                Want::Below(bound) => number().is_some_and(|it| it < *bound),
            }
        })
    }
}

/// One of the `matchExpressions`; the error names the part of it that is wrong.
fn expression(term: &Value) -> Result<(String, Want), (&'static str, Cause)> {
    let key = term["key"].as_str().unwrap_or("");
    if key.is_empty() {
        return Err(("key", Cause::required("", "")));
    }
    let values = term["values"].as_array().map_or(&[][..], Vec::as_slice);
    let texts: Option<BTreeSet<_>> =
        values.iter().map(|it| it.as_str().map(str::to_owned)).collect();
    let Some(texts) = texts else {
        return Err(("values", Cause::invalid("", &term["values"], "must be strings")));
    };
    let want = match term["operator"].as_str() {
        Some("In" | "NotIn") if texts.is_empty() => {
            let why = "must be specified when `operator` is 'In' or 'NotIn'";
            return Err(("values", Cause::required("", why)));
        }
        Some("Exists" | "DoesNotExist") if !texts.is_empty() => {
            let why = "may not be specified when `operator` is 'Exists' or 'DoesNotExist'";
            return Err(("values", Cause::forbidden("", why)));
        }
        Some("In") => Want::In(texts),
        Some("NotIn") => Want::NotIn(texts),
        Some("Exists") => Want::Exists,
        Some("DoesNotExist") => Want::Missing,
        _ => {
            let why = "not a valid selector operator";
            return Err(("operator", Cause::invalid("", &term["operator"], why)));
        }
    };
    Ok((key.to_owned(), want))
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Token {
    Word(String),
    Sign(&'static str),
    End,
}

fn expected(found: &Token, what: &str) -> String {
    let found = match found {
        Token::Word(word) => word,
        Token::Sign(sign) => *sign,
        Token::End => "",
    };
    format!("found '{found}', expected: {what}")
}

fn lex(text: &str) -> Vec<Token> {
    let signs = ["==", "!=", "=", "!", "(", ")", ",", ">", "<"];
    let (mut tokens, mut rest) = (Vec::new(), text.trim_start());
    while !rest.is_empty() {
        let token = match signs.iter().find(|sign| rest.starts_with(**sign)) {
            Some(sign) => Token::Sign(sign),
            None => {
                let ends = |it: char| it.is_whitespace() || "=!(),><".contains(it);
                let end = rest.find(ends).unwrap_or(rest.len());
                Token::Word(rest[..end].to_owned())
            }
        };
        let length = match &token {
            Token::Word(word) => word.len(),
            Token::Sign(sign) => sign.len(),
            Token::End => 0,
        };
        rest = rest[length..].trim_start();
        tokens.push(token);
    }
    tokens
}

struct Parser {
    tokens: Vec<Token>,
    at: usize,
}

impl Parser {
    fn peek(&self) -> Token {
        self.tokens.get(self.at).cloned().unwrap_or(Token::End)
    }

    fn next(&mut self) -> Token {
        self.at += 1;
        self.tokens.get(self.at - 1).cloned().unwrap_or(Token::End)
    }

    fn requirement(&mut self) -> Result<(String, Want), String> {
        let is_negated = self.peek() == Token::Sign("!");
        self.at += usize::from(is_negated);
        let key = match self.next() {
            Token::Word(key) => key,
            other => return Err(expected(&other, "identifier")),
        };
        if let Some(why) = names::qualified(&key).first() {
            return Err(format!("<nil>: Invalid value: {key:?}: {why}"));
        }
        if matches!(self.peek(), Token::End | Token::Sign(",")) {
            return Ok((key, if is_negated { Want::Missing } else { Want::Exists }));
        }
        let operator = self.next();
        let want = match &operator {
            Token::Word(word) if word == "in" => Want::In(self.values()?),
            Token::Word(word) if word == "notin" => Want::NotIn(self.values()?),
            Token::Sign("=" | "==") => Want::In(BTreeSet::from([self.value()?])),
            Token::Sign("!=") => Want::NotIn(BTreeSet::from([self.value()?])),
            Token::Sign(sign @ (">" | "<")) => {
                let bound = self.value()?.parse().map_err(|_| {
                    format!("values[0][{key}]: Invalid value: for 'Gt', 'Lt' operators, the value must be an integer")
                })?;
                if *sign == ">" { Want::Above(bound) } else { Want::Below(bound) }
            }
            other => return Err(expected(other, "in, notin, =, ==, !=, gt, lt")),
        };
        if let Want::In(values) | Want::NotIn(values) = &want {
            for value in values {
                if let Some(why) = names::label_value(value).first() {
                    return Err(format!("values[0][{key}]: Invalid value: {value:?}: {why}"));
                }
            }
        }
        Ok((key, want))
    }

    fn value(&mut self) -> Result<String, String> {
        match self.peek() {
            Token::End | Token::Sign(",") => Ok(String::new()),
            Token::Word(word) => {
                self.at += 1;
                Ok(word)
            }
            other => Err(expected(&other, "identifier")),
        }
    }

    /// A list in parentheses; an empty one holds the empty value.
    fn values(&mut self) -> Result<BTreeSet<String>, String> {
        match self.next() {
            Token::Sign("(") => {}
            other => return Err(expected(&other, "'('")),
        }
        let mut values = BTreeSet::new();
        loop {
            match self.next() {
                Token::Word(word) => {
                    values.insert(word);
                    match self.next() {
                        Token::Sign(")") => return Ok(values),
                        Token::Sign(",") => {}
                        other => return Err(expected(&other, "',' or ')'")),
                    }
                    if self.peek() == Token::Sign(")") {
                        values.insert(String::new());
                    }
                }
                Token::Sign(",") => {
                    values.insert(String::new());
                }
                Token::Sign(")") => {
                    if values.is_empty() {
                        values.insert(String::new());
                    }
                    return Ok(values);
                }
                other => return Err(expected(&other, "',', ')' or identifier")),
            }
        }
    }
}
