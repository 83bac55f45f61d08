//! Arithmetic. Nothing overflows unseen.

use super::{Function, none, time};
use crate::cel::kind::Ordering;
use crate::cel::value::{List, Outcome, Value};

const fn operator(name: &'static str, overloads: &'static [&'static str]) -> Function {
    Function { name, overloads, cost, run }
}

pub(super) const TABLE: &[Function] = &[
    operator(
        "_+_",
        &[
            "int,int int",
            "uint,uint uint",
            "double,double double",
            "string,string string",
            "bytes,bytes bytes",
            "list(A),list(A) list(A)",
            "timestamp,duration timestamp",
            "duration,timestamp timestamp",
            "duration,duration duration",
        ],
    ),
    operator(
        "_-_",
        &[
            "int,int int",
            "uint,uint uint",
            "double,double double",
            "timestamp,timestamp duration",
            "timestamp,duration timestamp",
            "duration,duration duration",
        ],
    ),
    operator("_*_", &["int,int int", "uint,uint uint", "double,double double"]),
    operator("_/_", &["int,int int", "uint,uint uint", "double,double double"]),
    operator("_%_", &["int,int int", "uint,uint uint"]),
    operator("-_", &["int int", "double double"]),
];

/// To put texts together takes time for each character.
fn cost(args: &[Value<'_>]) -> u64 {
    match args {
        // The items of lists take far more room than letters.
        [one @ Value::List(_), two] => {
            let sum = one.size() + two.size();
            let lasting = match one {
                Value::List(List::Read(_, _, ordering)) if **ordering != Ordering::Items => {
                    one.whole().saturating_add(two.whole())
                }
                _ => sum.saturating_sub(20),
            };
            lasting.max(sum.div_ceil(10))
        }
        [Value::Text(_) | Value::Bytes(_), _] => {
            args.iter().map(Value::size).sum::<u64>().div_ceil(10)
        }
        _ => 1,
    }
}

pub(super) fn run<'a>(name: &str, args: &[Value<'a>]) -> Outcome<'a> {
    let (one, two) = match args {
        [Value::Int(it)] => {
            return it.checked_neg().map(Value::Int).ok_or_else(|| "integer overflow".to_owned());
        }
        [Value::Double(it)] => return Ok(Value::Double(-it)),
        [one, two] => (one, two),
        _ => return none(),
    };
    match (one, two) {
        (Value::Int(one), Value::Int(two)) => {
            if *two == 0 && matches!(name, "_/_" | "_%_") {
                return Err(by_zero(name));
            }
            let found = match name {
                "_+_" => one.checked_add(*two),
                "_-_" => one.checked_sub(*two),
                "_*_" => one.checked_mul(*two),
                "_/_" => one.checked_div(*two),
                _ => one.checked_rem(*two),
            };
            found.map(Value::Int).ok_or_else(|| "integer overflow".to_owned())
        }
        (Value::Uint(one), Value::Uint(two)) => {
            if *two == 0 && matches!(name, "_/_" | "_%_") {
                return Err(by_zero(name));
            }
            let found = match name {
                "_+_" => one.checked_add(*two),
                "_-_" => one.checked_sub(*two),
                "_*_" => one.checked_mul(*two),
                "_/_" => one.checked_div(*two),
                _ => one.checked_rem(*two),
            };
            found.map(Value::Uint).ok_or_else(|| "unsigned integer overflow".to_owned())
        }
        (Value::Double(one), Value::Double(two)) => Ok(Value::Double(match name {
            "_+_" => one + two,
            "_-_" => one - two,
            "_*_" => one * two,
            "_/_" => one / two,
            _ => return none(),
        })),
        (Value::Text(one), Value::Text(two)) if name == "_+_" => {
            Ok(Value::text([&**one, &**two].concat()))
        }
        (Value::Bytes(one), Value::Bytes(two)) if name == "_+_" => {
            Ok(Value::Bytes([&**one, &**two].concat().into()))
        }
        (Value::List(one), Value::List(two)) if name == "_+_" => List::with(one, two),
        _ => time::moved(name, one, two),
    }
}

fn by_zero(name: &str) -> String {
    let what = if name == "_/_" { "division" } else { "modulus" };
    format!("{what} by zero")
}
