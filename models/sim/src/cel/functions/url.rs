//! Addresses of pages: an absolute one, or a path.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::{Function, none, tenth};
use crate::cel::value::{Outcome, Value};

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Url {
    scheme: String,
    host: String,
    path: String,
    query: String,
}

impl Url {
    pub(in crate::cel) fn size(&self) -> u64 {
        (self.scheme.len() + self.host.len() + self.path.len() + self.query.len()) as u64
    }
}

const fn part(name: &'static str) -> Function {
    Function { name, overloads: &[".url string"], cost: tenth, run }
}

pub(in crate::cel) const TABLE: &[Function] = &[
    Function { name: "url", overloads: &["string url"], cost: tenth, run },
    Function { name: "isURL", overloads: &["string bool"], cost: tenth, run },
    part("getScheme"),
    part("getHost"),
    part("getHostname"),
    part("getPort"),
    part("getEscapedPath"),
    Function { name: "getQuery", overloads: &[".url map(string,list(string))"], cost: tenth, run },
];

pub(crate) fn parse(text: &str) -> Option<Url> {
    if text.chars().any(|it| it.is_control()) || !has_good_escapes(text) {
        return None;
    }
    let text = text.split_once('#').map_or(text, |it| it.0);
    let (rest, query) = text.split_once('?').unwrap_or((text, ""));
    if rest.starts_with('/') {
        let (scheme, host) = (String::new(), String::new());
        return Some(Url { scheme, host, path: rest.to_owned(), query: query.to_owned() });
    }
    let (scheme, rest) = rest.split_once(':')?;
    let is_letter = |it: char| it.is_ascii_alphanumeric() || matches!(it, '+' | '-' | '.');
    if !scheme.starts_with(|it: char| it.is_ascii_alphabetic()) || !scheme.chars().all(is_letter) {
        return None;
    }
    let (host, path) = match rest.strip_prefix("//") {
        Some(rest) => rest.split_at(rest.find('/').unwrap_or(rest.len())),
        None => ("", rest),
    };
    let host = host.rsplit_once('@').map_or(host, |it| it.1);
    let (_, port) = parts(host);
    let is_host = |it: char| {
        !it.is_whitespace() && !matches!(it, '<' | '>' | '"' | '\\' | '^' | '`' | '{' | '}')
    };
    if !host.chars().all(is_host) || !port.chars().all(|it| it.is_ascii_digit()) {
        return None;
    }
    Some(Url {
        scheme: scheme.to_lowercase(),
        host: host.to_owned(),
        path: path.to_owned(),
        query: query.to_owned(),
    })
}

fn has_good_escapes(text: &str) -> bool {
    text.split('%')
        .skip(1)
        .all(|it| it.len() >= 2 && it.bytes().take(2).all(|it| it.is_ascii_hexdigit()))
}

/// The name and the port of a host.
fn parts(host: &str) -> (&str, &str) {
    if let Some(inner) = host.strip_prefix('[')
        && let Some((name, rest)) = inner.split_once(']')
    {
        return (name, rest.strip_prefix(':').unwrap_or(rest));
    }
    host.rsplit_once(':').unwrap_or((host, ""))
}

fn run<'a>(name: &str, args: &[Value<'a>]) -> Outcome<'a> {
    let url = match args {
        [Value::Text(it)] if name == "isURL" => return Ok(Value::Bool(parse(it).is_some())),
        [Value::Text(it)] => {
            let wrong = || {
                format!(
                    "URL parse error during conversion from string: parse {it:?}: invalid URI for request"
                )
            };
            return parse(it).map(|it| Value::Url(Arc::new(it))).ok_or_else(wrong);
        }
        [Value::Url(url)] => url,
        _ => return none(),
    };
    Ok(Value::text(match name {
        "getScheme" => url.scheme.clone(),
        "getHost" => url.host.clone(),
        "getHostname" => parts(&url.host).0.to_owned(),
        "getPort" => parts(&url.host).1.to_owned(),
        "getEscapedPath" => url.path.clone(),
        _ => return Ok(query(&url.query)),
    }))
}

fn query<'a>(text: &str) -> Value<'a> {
    let mut found: BTreeMap<String, Vec<Value<'a>>> = BTreeMap::new();
    for pair in text.split('&').filter(|it| !it.is_empty()) {
        let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
        let (key, value) = (decoded(key), Value::text(decoded(value)));
        found.entry(key).or_default().push(value);
    }
    let entries = found.into_iter().map(|(key, values)| (Value::text(key), Value::list(values)));
    Value::map(entries.collect())
}

/// Undoes what addresses write in another way: a space, and percent signs before two digits.
fn decoded(text: &str) -> String {
    let mut parts = text.split('%');
    let mut bytes = parts.next().unwrap_or("").replace('+', " ").into_bytes();
    for part in parts {
        // The digits were looked at when it was read.
        bytes.extend(part.get(..2).and_then(|it| u8::from_str_radix(it, 16).ok()));
        bytes.extend(part.get(2..).unwrap_or("").replace('+', " ").into_bytes());
    }
    String::from_utf8_lossy(&bytes).into_owned()
}
