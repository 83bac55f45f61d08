//! Amounts such as `500m` and `2Gi`.

use super::{Function, none, one, tenth};
use crate::cel::value::{Outcome, Value};

/// An amount in billionths.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Quantity(i128);

const UNIT: i128 = 1_000_000_000;
const BINARY: &[&str] = &["Ki", "Mi", "Gi", "Ti", "Pi", "Ei"];
const DECIMAL: &[(&str, i32)] = &[
    ("n", -9),
    ("u", -6),
    ("m", -3),
    ("", 0),
    ("k", 3),
    ("M", 6),
    ("G", 9),
    ("T", 12),
    ("P", 15),
    ("E", 18),
];

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

const WRONG: &str =
    "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";

pub(crate) fn parse(text: &str) -> Option<Quantity> {
    let (sign, rest) = match text.as_bytes().first()? {
        b'-' => (-1, &text[1..]),
        b'+' => (1, &text[1..]),
        _ => (1, text),
    };
    let length = rest.find(|it: char| !it.is_ascii_digit() && it != '.').unwrap_or(rest.len());
    let (number, unit) = rest.split_at(length);
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    if fraction.contains('.') || whole.is_empty() && fraction.is_empty() {
        return None;
    }
    // Digits beyond the billionth are rounded up.
    let fraction = &fraction[..fraction.len().min(30)];
    let digits: i128 = format!("0{whole}{fraction}").parse().ok()?;
    let scale = fraction.len() as i32;
    let amount = if let Some(power) = BINARY.iter().position(|it| *it == unit) {
        let factor = 1i128 << (10 * (power + 1));
        shifted(digits.checked_mul(factor)?, 9 - scale)?
    } else {
        let exponent = match unit.strip_prefix(['e', 'E']).filter(|it| !it.is_empty()) {
            // Beyond these no amount fits, or it is less than a billionth.
            Some(exponent) => exponent.parse().ok().filter(|it| (-40..=40).contains(it))?,
            None => DECIMAL.iter().find(|it| it.0 == unit)?.1,
        };
        shifted(digits, 9 - scale + exponent)?
    };
    Some(Quantity(sign * amount))
}

fn shifted(digits: i128, power: i32) -> Option<i128> {
    let factor = 10i128.checked_pow(power.unsigned_abs());
    if power >= 0 {
        return digits.checked_mul(factor?);
    }
    Some(factor.map_or(i128::from(digits > 0), |factor| {
        digits / factor + i128::from(digits % factor != 0)
    }))
}

fn run<'a>(name: &str, args: &[Value<'a>]) -> Outcome<'a> {
    Ok(match (name, args) {
        ("quantity", [Value::Text(it)]) => {
            Value::Quantity(parse(it).ok_or_else(|| WRONG.to_owned())?)
        }
        ("isQuantity", [Value::Text(it)]) => Value::Bool(parse(it).is_some()),
        ("sign", [Value::Quantity(it)]) => Value::Int(it.0.signum() as i64),
        ("isInteger", [Value::Quantity(it)]) => {
            Value::Bool(it.0 % UNIT == 0 && i64::try_from(it.0 / UNIT).is_ok())
        }
        ("asInteger", [Value::Quantity(it)]) => {
            let whole = (it.0 % UNIT == 0).then(|| i64::try_from(it.0 / UNIT).ok()).flatten();
            Value::Int(whole.ok_or("cannot convert value to integer")?)
        }
        ("asApproximateFloat", [Value::Quantity(it)]) => Value::Double(it.0 as f64 / UNIT as f64),
        ("isGreaterThan", [Value::Quantity(one), Value::Quantity(two)]) => Value::Bool(one > two),
        ("isLessThan", [Value::Quantity(one), Value::Quantity(two)]) => Value::Bool(one < two),
        ("compareTo", [Value::Quantity(one), Value::Quantity(two)]) => {
            Value::Int(one.cmp(two) as i64)
        }
        ("add" | "sub", [Value::Quantity(one), two]) => {
            let two = match two {
                Value::Quantity(it) => it.0,
                Value::Int(it) => i128::from(*it) * UNIT,
                _ => return none(),
            };
            let sum = if name == "add" { one.0.checked_add(two) } else { one.0.checked_sub(two) };
            Value::Quantity(Quantity(sum.ok_or("quantity overflow")?))
        }
        _ => return none(),
    })
}
