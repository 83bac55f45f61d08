//! Texts and regular expressions. Positions count characters.

use regex::{Match, Regex};

use super::{Function, basic, fifth, items, none, search, tenth};
use crate::cel::pattern;
use crate::cel::value::{Outcome, Value};

const fn function(
    name: &'static str,
    cost: fn(&[Value<'_>]) -> u64,
    overloads: &'static [&'static str],
) -> Function {
    Function { name, overloads, cost, run }
}

const LOOKS: &[&str] = &[".string,string bool"];
const PLACES: &[&str] = &[".string,string int", ".string,string,int int", ".list(A),A int"];
const CHANGES: &[&str] = &[".string string"];

pub(super) const TABLE: &[Function] = &[
    function("startsWith", tenth, LOOKS),
    function("endsWith", tenth, LOOKS),
    function("contains", search, LOOKS),
    function("matches", search, &["string,string bool", ".string,string bool"]),
    function("find", search, &[".string,string string"]),
    function(
        "findAll",
        search,
        &[".string,string list(string)", ".string,string,int list(string)"],
    ),
    function("lowerAscii", tenth, CHANGES),
    function("upperAscii", tenth, CHANGES),
    function("trim", tenth, CHANGES),
    function("strings.quote", tenth, &["string string"]),
    function("jsonpatch.escapeKey", tenth, &["string string"]),
    function("charAt", tenth, &[".string,int string"]),
    function("substring", tenth, &[".string,int string", ".string,int,int string"]),
    function(
        "replace",
        replaced,
        &[".string,string,string string", ".string,string,string,int string"],
    ),
    function("split", cut, &[".string,string list(string)", ".string,string,int list(string)"]),
    function("join", joined, &[".list(string) string", ".list(string),string string"]),
    function("indexOf", sought, PLACES),
    function("lastIndexOf", sought, PLACES),
    function("format", told, &[".string,list(dyn) string"]),
];

/// The functions that look for an expression.
pub(in crate::cel) const FINDERS: &[&str] = &["matches", "find", "findAll"];

fn joined(args: &[Value<'_>]) -> u64 {
    let [list, rest @ ..] = args else { return 1 };
    let by = rest.first().map_or(0, Value::size);
    list.whole().saturating_add(list.size().saturating_mul(by)).div_ceil(5)
}

/// What is put in place of others may be far longer than the text.
fn replaced(args: &[Value<'_>]) -> u64 {
    let [Value::Text(text), Value::Text(from), Value::Text(to), ..] = args else { return 1 };
    let mut made = text.len() as u64;
    if to.len() > from.len() {
        let count = text.matches(&**from).count() as u64;
        made = made.saturating_add(count.saturating_mul((to.len() - from.len()) as u64));
    }
    made.div_ceil(5)
}

/// Pieces take more room than the text that they are of.
fn cut(args: &[Value<'_>]) -> u64 {
    let [Value::Text(text), Value::Text(by), ..] = args else { return 1 };
    let pieces = text.matches(&**by).count() as u64;
    fifth(args).max(pieces.saturating_sub(20))
}

/// All that is shown is walked.
fn told(args: &[Value<'_>]) -> u64 {
    let shown = args.get(1).map_or(0, |it| it.whole().saturating_sub(it.size()));
    if shown == u64::MAX { shown } else { tenth(args).saturating_add(shown / 10) }
}

/// A text in a text, or an item in a list.
fn sought(args: &[Value<'_>]) -> u64 {
    match args {
        [list @ Value::List(_), item] => super::searched(item, list),
        _ => items(args),
    }
}

fn run<'a>(name: &str, args: &[Value<'a>]) -> Outcome<'a> {
    let (text, rest) = match args {
        [Value::Text(text), rest @ ..] => (&**text, rest),
        [Value::List(list), rest @ ..] => return listed(name, &list.items()?, rest),
        _ => return none(),
    };
    let owned = |text: &str| Value::text(text.to_owned());
    Ok(match (name, rest) {
        ("startsWith", [Value::Text(it)]) => Value::Bool(text.starts_with(&**it)),
        ("endsWith", [Value::Text(it)]) => Value::Bool(text.ends_with(&**it)),
        ("contains", [Value::Text(it)]) => Value::Bool(text.contains(&**it)),
        ("lowerAscii", []) => Value::text(text.to_ascii_lowercase()),
        ("upperAscii", []) => Value::text(text.to_ascii_uppercase()),
        ("trim", []) => owned(text.trim()),
        ("strings.quote", []) => Value::text(quoted(text)),
        ("jsonpatch.escapeKey", []) => Value::text(text.replace('~', "~0").replace('/', "~1")),
        ("charAt", [Value::Int(at)]) => {
            let length = text.chars().count();
            match usize::try_from(*at) {
                Ok(at) if at <= length => {
                    Value::text(text.chars().skip(at).take(1).collect::<String>())
                }
                _ => return Err(format!("index out of range: {at}")),
            }
        }
        ("substring", [Value::Int(from), to @ ..]) => return part(text, *from, to),
        ("replace", [Value::Text(from), Value::Text(to), limit @ ..]) => {
            let most = match limit {
                [Value::Int(it)] => usize::try_from(*it).unwrap_or(usize::MAX),
                _ => usize::MAX,
            };
            Value::text(text.replacen(&**from, to, most))
        }
        ("split", [Value::Text(by), limit @ ..]) => split(text, by, limit),
        ("indexOf" | "lastIndexOf", [Value::Text(it), from @ ..]) => {
            return place(name == "lastIndexOf", text, it, from);
        }
        ("format", [Value::List(args)]) => return formatted(text, &args.items()?),
        _ => return none(),
    })
}

/// The expression that one of the [`FINDERS`] looks for.
pub(in crate::cel) fn compiled(name: &str, text: &str) -> Result<Regex, String> {
    let illegal = |why| if name == "matches" { why } else { format!("Illegal regex: {why}") };
    pattern::compile(text).map_err(illegal)
}

/// What one of the [`FINDERS`] finds. Each piece of `findAll` must be paid for, so that no more are made than one
/// beyond `left`.
pub(in crate::cel) fn found<'a>(
    name: &str,
    pattern: &Regex,
    text: &str,
    limit: &[Value<'_>],
    left: u64,
) -> Outcome<'a> {
    let owned = |it: Match<'_>| Value::text(it.as_str().to_owned());
    Ok(match (name, limit) {
        ("matches", []) => Value::Bool(pattern.is_match(text)),
        ("find", []) => pattern.find(text).map_or_else(|| Value::text(""), owned),
        ("findAll", limit) => {
            let most = match limit {
                [Value::Int(it)] => usize::try_from(*it).unwrap_or(usize::MAX),
                _ => usize::MAX,
            };
            let paid = usize::try_from(left.saturating_add(1)).unwrap_or(usize::MAX);
            Value::list(pattern.find_iter(text).take(most.min(paid)).map(owned).collect())
        }
        _ => return none(),
    })
}

fn part<'a>(text: &str, from: i64, to: &[Value<'_>]) -> Outcome<'a> {
    let length = text.chars().count();
    let to = match to {
        [Value::Int(to)] => *to,
        _ => length as i64,
    };
    match (usize::try_from(from), usize::try_from(to)) {
        (Ok(from), Ok(to)) if from <= to && to <= length => {
            Ok(Value::text(text.chars().skip(from).take(to - from).collect::<String>()))
        }
        (Ok(from), _) if from <= length && to >= 0 && to as usize <= length => {
            Err(format!("invalid substring range. start: {from}, end: {to}"))
        }
        (Ok(at), _) if at <= length => Err(format!("index out of range: {to}")),
        _ => Err(format!("index out of range: {from}")),
    }
}

fn split<'a>(text: &str, by: &str, limit: &[Value<'_>]) -> Value<'a> {
    let most = match limit {
        [Value::Int(it)] => usize::try_from(*it).unwrap_or(usize::MAX),
        _ => usize::MAX,
    };
    let own = |it: &str| Value::text(it.to_owned());
    if most == 0 {
        return Value::list(Vec::new());
    }
    if by.is_empty() {
        return Value::list(text.chars().map(|it| Value::text(it.to_string())).collect());
    }
    Value::list(text.splitn(most, by).map(own).collect())
}

fn place<'a>(is_last: bool, text: &str, it: &str, from: &[Value<'_>]) -> Outcome<'a> {
    let starts: Vec<usize> = text.char_indices().map(|(at, _)| at).chain([text.len()]).collect();
    let length = starts.len() - 1;
    let bound = match from {
        [Value::Int(from)] => match usize::try_from(*from) {
            Ok(from) if from <= length => Some(from),
            _ => return Err(format!("index out of range: {from}")),
        },
        _ => None,
    };
    let byte = |index: usize| starts[index];
    let found = if is_last {
        let end = bound.map_or(text.len(), |at| (byte(at) + it.len()).min(text.len()));
        // The bound may lie within a character.
        (0..=end)
            .rev()
            .find(|end| text.is_char_boundary(*end))
            .and_then(|end| text[..end].rfind(it))
    } else {
        let from = byte(bound.unwrap_or(0));
        text[from..].find(it).map(|at| at + from)
    };
    let found = found.and_then(|at| starts.binary_search(&at).ok());
    Ok(Value::Int(found.map_or(-1, |at| at as i64)))
}

fn listed<'a>(name: &str, items: &[Value<'a>], rest: &[Value<'a>]) -> Outcome<'a> {
    match (name, rest) {
        ("join", rest) => {
            let by = match rest {
                [Value::Text(by)] => &**by,
                _ => "",
            };
            let texts: Option<Vec<&str>> = items
                .iter()
                .map(|it| if let Value::Text(it) = it { Some(&**it) } else { None })
                .collect();
            texts.map_or_else(none, |texts| Ok(Value::text(texts.join(by))))
        }
        ("indexOf" | "lastIndexOf", [it]) => {
            let is_it = |other: &Value<'a>| other.equals(it) == Ok(true);
            let found = if name == "indexOf" {
                items.iter().position(is_it)
            } else {
                items.iter().rposition(is_it)
            };
            Ok(Value::Int(found.map_or(-1, |at| at as i64)))
        }
        _ => none(),
    }
}

fn quoted(text: &str) -> String {
    let mut made = String::from("\"");
    for it in text.chars() {
        match it {
            '\u{7}' => made.push_str("\\a"),
            '\u{8}' => made.push_str("\\b"),
            '\u{c}' => made.push_str("\\f"),
            '\n' => made.push_str("\\n"),
            '\r' => made.push_str("\\r"),
            '\t' => made.push_str("\\t"),
            '\u{b}' => made.push_str("\\v"),
            '\\' => made.push_str("\\\\"),
            '"' => made.push_str("\\\""),
            other => made.push(other),
        }
    }
    made.push('"');
    made
}

/// `%s`, `%d`, `%f`, `%e`, `%b`, `%x`, `%o` and `%%`, with a precision.
fn formatted<'a>(text: &str, args: &[Value<'a>]) -> Outcome<'a> {
    let (mut made, mut args) = (String::new(), args.iter());
    let mut letters = text.chars().peekable();
    while let Some(it) = letters.next() {
        if it != '%' {
            made.push(it);
            continue;
        }
        let mut precision = None;
        if letters.next_if_eq(&'.').is_some() {
            let mut digits = String::new();
            while let Some(digit) = letters.next_if(char::is_ascii_digit) {
                digits.push(digit);
            }
            precision = digits.parse::<usize>().ok().map(|it| it.min(100));
        }
        let kind = letters.next();
        if kind == Some('%') {
            made.push('%');
            continue;
        }
        let index = args.len();
        let Some(arg) = args.next() else { return Err(format!("index {index} out of range")) };
        let wrong = |what: &str| {
            let kind = kind.unwrap_or(' ');
            format!(
                "error during formatting: {what} can only be used on {kind}, was given {}",
                arg.type_name()
            )
        };
        made.push_str(&match (kind, arg) {
            (Some('s'), arg) => shown(arg, true),
            (Some('d'), Value::Int(it)) => it.to_string(),
            (Some('d'), Value::Uint(it)) => it.to_string(),
            (Some('f'), Value::Double(it)) => format!("{it:.*}", precision.unwrap_or(6)),
            (Some('f'), Value::Int(it)) => format!("{:.*}", precision.unwrap_or(6), *it as f64),
            (Some('b'), Value::Int(it)) if *it >= 0 => format!("{it:b}"),
            (Some('b'), Value::Bool(it)) => u8::from(*it).to_string(),
            (Some('x'), Value::Int(it)) if *it >= 0 => format!("{it:x}"),
            (Some('X'), Value::Int(it)) if *it >= 0 => format!("{it:X}"),
            (Some('x'), Value::Text(it)) => it.bytes().map(|it| format!("{it:02x}")).collect(),
            (Some('o'), Value::Int(it)) if *it >= 0 => format!("{it:o}"),
            (Some(other), _) if !"sdfbxXoe".contains(other) => {
                return Err(format!(
                    "could not parse formatting clause: unrecognized formatting clause \"{other}\""
                ));
            }
            _ => return Err(wrong("clause")),
        });
    }
    Ok(Value::text(made))
}

/// Any value as `%s` shows it; texts within others are in quotes.
fn shown(it: &Value<'_>, is_outer: bool) -> String {
    match it {
        Value::Null => "null".to_owned(),
        Value::Text(it) if is_outer => it.to_string(),
        Value::Text(it) => format!("{it:?}"),
        Value::List(list) => {
            let items = list.items().unwrap_or_default();
            format!("[{}]", items.iter().map(|it| shown(it, false)).collect::<Vec<_>>().join(", "))
        }
        Value::Map(map) => {
            let entries = map.entries().map(|(key, value)| {
                format!(
                    "{}:{}",
                    shown(&key, false),
                    value.map_or_else(|why| why, |it| shown(&it, false))
                )
            });
            let mut entries: Vec<_> = entries.collect();
            entries.sort();
            format!("{{{}}}", entries.join(", "))
        }
        Value::Type(name) => (*name).to_owned(),
        other => basic::written(other).unwrap_or_default(),
    }
}
