//! Amounts such as `500m` and `2Gi`.

use super::{Function, none, one, tenth};
use crate::cel::value::{Outcome, Value};
use crate::quantity::{ONE, Quantity};

const fn function(name: &'static str, overloads: &'static [&'static str]) -> Function {
    Function { name, overloads, cost: one, run }
}

const COMPARES: &[&str] = &[".quantity,quantity bool"];
const ADDS: &[&str] = &[".quantity,quantity quantity", ".quantity,int quantity"];

pub(in crate::cel) const TABLE: &[Function] = &[
    Function { name: "quantity", overloads: &["string quantity"], cost: tenth, run },
    Function { name: "isQuantity", overloads: &["string bool"], cost: tenth, run },
    function("sign", &[".quantity int"]),
    function("isInteger", &[".quantity bool"]),
    function("asInteger", &[".quantity int"]),
    function("asApproximateFloat", &[".quantity double"]),
    function("isGreaterThan", COMPARES),
    function("isLessThan", COMPARES),
    function("compareTo", &[".quantity,quantity int"]),
    function("add", ADDS),
    function("sub", ADDS),
];

fn run<'a>(name: &str, args: &[Value<'a>]) -> Outcome<'a> {
    Ok(match (name, args) {
        ("quantity", [Value::Text(it)]) => Value::Quantity(Quantity::parse(it)?),
        ("isQuantity", [Value::Text(it)]) => Value::Bool(Quantity::parse(it).is_ok()),
        ("sign", [Value::Quantity(it)]) => Value::Int(it.billionths.signum() as i64),
        ("isInteger", [Value::Quantity(it)]) => Value::Bool(it.as_integer().is_some()),
        ("asInteger", [Value::Quantity(it)]) => {
            Value::Int(it.as_integer().ok_or("cannot convert value to integer")?)
        }
        ("asApproximateFloat", [Value::Quantity(it)]) => {
            Value::Double(it.billionths as f64 / ONE as f64)
        }
        ("isGreaterThan", [Value::Quantity(one), Value::Quantity(two)]) => Value::Bool(one > two),
        ("isLessThan", [Value::Quantity(one), Value::Quantity(two)]) => Value::Bool(one < two),
        ("compareTo", [Value::Quantity(one), Value::Quantity(two)]) => {
            Value::Int(one.cmp(two) as i64)
        }
        ("add" | "sub", [Value::Quantity(one), two]) => {
            let two = match two {
                Value::Quantity(it) => *it,
                Value::Int(it) => Quantity::from(*it),
                _ => return none(),
            };
            Value::Quantity(if name == "add" { one.plus(two) } else { one.minus(two) })
        }
        _ => return none(),
    })
}
