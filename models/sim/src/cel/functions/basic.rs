//! Comparisons, positions, conversions, optionals.

use super::{Function, none, one, tenth, time};
use crate::cel::value::{Map, NO_OVERLOAD, Outcome, Value};

const ORDERED: &[&str] = &[
    "bool,bool bool",
    "int,int bool",
    "int,uint bool",
    "int,double bool",
    "uint,uint bool",
    "uint,int bool",
    "uint,double bool",
    "double,double bool",
    "double,int bool",
    "double,uint bool",
    "string,string bool",
    "bytes,bytes bool",
    "timestamp,timestamp bool",
    "duration,duration bool",
];

const fn order(name: &'static str) -> Function {
    Function { name, overloads: ORDERED, cost: smaller, run: compare }
}

const fn convert(name: &'static str, overloads: &'static [&'static str]) -> Function {
    Function { name, overloads, cost: tenth, run: conversion }
}

const fn option(name: &'static str, overloads: &'static [&'static str]) -> Function {
    Function { name, overloads, cost: one, run: optionals }
}

pub(super) const TABLE: &[Function] = &[
    Function { name: "_==_", overloads: &["A,A bool"], cost: smaller, run: equal },
    Function { name: "_!=_", overloads: &["A,A bool"], cost: smaller, run: equal },
    order("_<_"),
    order("_<=_"),
    order("_>_"),
    order("_>=_"),
    Function { name: "!_", overloads: &["bool bool"], cost: one, run: not },
    Function {
        name: "@in",
        overloads: &["A,list(A) bool", "A,map(A,B) bool"],
        cost: within,
        run: is_in,
    },
    Function {
        name: "_[_]",
        overloads: &[
            "list(A),int A",
            "map(A,B),A B",
            "optional(list(A)),int optional(A)",
            "optional(map(A,B)),A optional(B)",
        ],
        cost: place,
        run: index,
    },
    Function {
        name: "_[?_]",
        overloads: &[
            "list(A),int optional(A)",
            "map(A,B),A optional(B)",
            "optional(list(A)),int optional(A)",
            "optional(map(A,B)),A optional(B)",
        ],
        cost: place,
        run: index,
    },
    Function {
        name: "size",
        overloads: &[
            "string int",
            "bytes int",
            "list(A) int",
            "map(A,B) int",
            ".string int",
            ".bytes int",
            ".list(A) int",
            ".map(A,B) int",
        ],
        cost: counted,
        run: size,
    },
    convert(
        "int",
        &["int int", "uint int", "double int", "string int", "timestamp int", "duration int"],
    ),
    convert("uint", &["uint uint", "int uint", "double uint", "string uint"]),
    convert("double", &["double double", "int double", "uint double", "string double"]),
    convert("bool", &["bool bool", "string bool"]),
    convert("bytes", &["bytes bytes", "string bytes"]),
    convert(
        "string",
        &[
            "string string",
            "bool string",
            "int string",
            "uint string",
            "double string",
            "bytes string",
            "timestamp string",
            "duration string",
            "ip string",
            "cidr string",
        ],
    ),
    convert("dyn", &["A dyn"]),
    convert("type", &["A type"]),
    option("optional.of", &["A optional(A)"]),
    option("optional.ofNonZeroValue", &["A optional(A)"]),
    option("optional.none", &[" optional(A)"]),
    option("hasValue", &[".optional(A) bool"]),
    option("value", &[".optional(A) A"]),
    option("or", &[".optional(A),optional(A) optional(A)"]),
    option("orValue", &[".optional(A),A A"]),
];

/// As much as the smaller of two values takes to compare.
fn smaller(args: &[Value<'_>]) -> u64 {
    let [one, two] = args else { return 1 };
    let both = one.size().min(two.size());
    // What lies within is compared too.
    let is_deep = matches!(one, Value::List(_) | Value::Map(_) | Value::Optional(_));
    let all = if is_deep { one.lesser(1, two) } else { both };
    if all == u64::MAX { all } else { all.div_ceil(10) }
}

fn within(args: &[Value<'_>]) -> u64 {
    match args {
        [item, list @ Value::List(_)] => super::searched(item, list),
        [_, map @ Value::Map(Map::Made(..))] => 1 + map.size() / 16,
        _ => 1,
    }
}

/// Made maps are searched by one key after another.
fn place(args: &[Value<'_>]) -> u64 {
    match args {
        [map @ Value::Map(Map::Made(..)), _] => 1 + map.size() / 16,
        _ => 1,
    }
}

/// Characters are counted one by one.
fn counted(args: &[Value<'_>]) -> u64 {
    args.first().map_or(1, |it| 1 + it.size() / 1000)
}

fn equal<'a>(name: &str, args: &[Value<'a>]) -> Outcome<'a> {
    let [one, two] = args else { return none() };
    Ok(Value::Bool(one.equals(two)? == (name == "_==_")))
}

fn compare<'a>(name: &str, args: &[Value<'a>]) -> Outcome<'a> {
    let [one, two] = args else { return none() };
    let order = one.order(two).ok_or_else(|| NO_OVERLOAD.to_owned())?;
    Ok(Value::Bool(match name {
        "_<_" => order.is_lt(),
        "_<=_" => order.is_le(),
        "_>_" => order.is_gt(),
        _ => order.is_ge(),
    }))
}

fn not<'a>(_: &str, args: &[Value<'a>]) -> Outcome<'a> {
    match args {
        [Value::Bool(it)] => Ok(Value::Bool(!it)),
        _ => none(),
    }
}

fn is_in<'a>(_: &str, args: &[Value<'a>]) -> Outcome<'a> {
    match args {
        [item, Value::List(list)] => {
            for index in 0..list.len() {
                if list.get(index)?.equals(item)? {
                    return Ok(Value::Bool(true));
                }
            }
            Ok(Value::Bool(false))
        }
        [key, Value::Map(map)] => Ok(Value::Bool(map.find(key)?.is_some())),
        _ => none(),
    }
}

fn index<'a>(name: &str, args: &[Value<'a>]) -> Outcome<'a> {
    let [of, at] = args else { return none() };
    let (of, was_optional) = match of {
        Value::Optional(None) => return Ok(Value::Optional(None)),
        Value::Optional(Some(inner)) => (&**inner, true),
        other => (other, false),
    };
    let found = match (of, at) {
        (Value::List(list), Value::Int(at)) => match usize::try_from(*at) {
            Ok(at) if at < list.len() => Ok(list.get(at)?),
            _ => Err(format!("index out of bounds: {at}")),
        },
        (Value::Map(map), key) => map.find(key)?.ok_or_else(|| match key {
            Value::Text(key) => format!("no such key: {key}"),
            Value::List(_) | Value::Map(_) | Value::Optional(_) => {
                format!("no such key: {}", key.type_name())
            }
            key => format!("no such key: {key:?}"),
        }),
        _ => return none(),
    };
    match found {
        Ok(found) if was_optional || name == "_[?_]" => Ok(Value::some(found)),
        Err(_) if was_optional || name == "_[?_]" => Ok(Value::Optional(None)),
        found => found,
    }
}

fn size<'a>(_: &str, args: &[Value<'a>]) -> Outcome<'a> {
    let size = match args {
        [Value::Text(it)] => it.chars().count(),
        [Value::Bytes(it)] => it.len(),
        [Value::List(it)] => it.len(),
        [Value::Map(it)] => it.len(),
        _ => return none(),
    };
    Ok(Value::Int(size as i64))
}

fn conversion<'a>(to: &str, args: &[Value<'a>]) -> Outcome<'a> {
    let [it] = args else { return none() };
    let overflow = || Err("integer overflow".to_owned());
    let range = || Err("unsigned integer overflow".to_owned());
    let wrong = || Err(format!("type conversion error from '{}' to '{to}'", it.type_name()));
    Ok(match (to, it) {
        ("dyn", it) => it.clone(),
        ("type", it) => Value::Type(it.type_name()),
        ("int", Value::Int(_))
        | ("uint", Value::Uint(_))
        | ("double", Value::Double(_))
        | ("bool", Value::Bool(_))
        | ("string", Value::Text(_))
        | ("bytes", Value::Bytes(_)) => it.clone(),
        ("int", Value::Uint(it)) => {
            return i64::try_from(*it).map_or_else(|_| overflow(), |it| Ok(Value::Int(it)));
        }
        ("int", Value::Double(it)) => {
            if !it.is_finite() || it.abs() >= 9.223_372_036_854_775e18 {
                return overflow();
            }
            Value::Int(*it as i64)
        }
        ("int", Value::Text(text)) => {
            return text.parse().map_or_else(|_| wrong(), |it| Ok(Value::Int(it)));
        }
        ("int", Value::Time(it)) => Value::Int(it.div_euclid(1_000_000_000) as i64),
        ("int", Value::Span(it)) => Value::Int(*it),
        ("uint", Value::Int(it)) => {
            return u64::try_from(*it).map_or_else(|_| range(), |it| Ok(Value::Uint(it)));
        }
        ("uint", Value::Double(it)) => {
            if !it.is_finite() || *it < 0.0 || *it >= 1.844_674_407_370_955e19 {
                return range();
            }
            Value::Uint(*it as u64)
        }
        ("uint", Value::Text(text)) => {
            return text.parse().map_or_else(|_| wrong(), |it| Ok(Value::Uint(it)));
        }
        ("double", Value::Int(it)) => Value::Double(*it as f64),
        ("double", Value::Uint(it)) => Value::Double(*it as f64),
        ("double", Value::Text(text)) => {
            return text.parse().map_or_else(|_| wrong(), |it| Ok(Value::Double(it)));
        }
        ("bool", Value::Text(text)) => match &**text {
            "true" | "True" | "TRUE" | "t" | "T" | "1" => Value::Bool(true),
            "false" | "False" | "FALSE" | "f" | "F" | "0" => Value::Bool(false),
            _ => return wrong(),
        },
        ("bytes", Value::Text(text)) => Value::Bytes(text.as_bytes().into()),
        ("string", it) => return written(it).map_or_else(wrong, |it| Ok(Value::text(it))),
        _ => return none(),
    })
}

/// A value as text, if it has one.
pub(super) fn written(it: &Value<'_>) -> Option<String> {
    Some(match it {
        Value::Bool(it) => it.to_string(),
        Value::Int(it) => it.to_string(),
        Value::Uint(it) => it.to_string(),
        Value::Double(it) => it.to_string(),
        Value::Text(it) => it.to_string(),
        Value::Bytes(it) => String::from_utf8(it.to_vec()).ok()?,
        Value::Time(it) => time::written(*it),
        Value::Span(it) => time::written_span(*it),
        Value::Ip(it) => it.to_string(),
        Value::Cidr(it, length) => format!("{it}/{length}"),
        _ => return None,
    })
}

fn optionals<'a>(name: &str, args: &[Value<'a>]) -> Outcome<'a> {
    Ok(match (name, args) {
        ("optional.of", [it]) => Value::some(it.clone()),
        ("optional.none", []) => Value::Optional(None),
        ("optional.ofNonZeroValue", [it]) => {
            let is_zero = match it {
                Value::Null => true,
                Value::Bool(it) => !it,
                Value::Int(0) | Value::Uint(0) | Value::Span(0) => true,
                Value::Double(it) => *it == 0.0,
                Value::Text(_) | Value::Bytes(_) | Value::List(_) => it.size() == 0,
                Value::Map(Map::Made(it, _)) => it.is_empty(),
                Value::Map(it) => it.len() == 0,
                _ => false,
            };
            if is_zero { Value::Optional(None) } else { Value::some(it.clone()) }
        }
        ("hasValue", [Value::Optional(it)]) => Value::Bool(it.is_some()),
        ("value", [Value::Optional(it)]) => {
            let it = it.as_ref().ok_or_else(|| "optional.none() dereference".to_owned())?;
            Value::clone(it)
        }
        _ => return none(),
    })
}
