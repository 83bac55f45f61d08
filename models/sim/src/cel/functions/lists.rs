//! Lists and sets.

use std::cmp::Ordering;

use super::{Function, items, none, number};
use crate::cel::value::{List, NO_OVERLOAD, Outcome, Value};

const fn function(name: &'static str, overloads: &'static [&'static str]) -> Function {
    Function { name, overloads, cost: items, run }
}

const fn set(name: &'static str) -> Function {
    Function { name, overloads: &["list(A),list(A) bool"], cost: product, run: sets }
}

const ORDERED: &[&str] = &[
    ".list(int) bool",
    ".list(uint) bool",
    ".list(double) bool",
    ".list(bool) bool",
    ".list(duration) bool",
    ".list(timestamp) bool",
    ".list(string) bool",
    ".list(bytes) bool",
];
const EXTREME: &[&str] = &[
    ".list(int) int",
    ".list(uint) uint",
    ".list(double) double",
    ".list(bool) bool",
    ".list(duration) duration",
    ".list(timestamp) timestamp",
    ".list(string) string",
    ".list(bytes) bytes",
];
const SORTED: &[&str] = &[
    ".list(int) list(int)",
    ".list(uint) list(uint)",
    ".list(double) list(double)",
    ".list(bool) list(bool)",
    ".list(duration) list(duration)",
    ".list(timestamp) list(timestamp)",
    ".list(string) list(string)",
    ".list(bytes) list(bytes)",
];

pub(super) const TABLE: &[Function] = &[
    Function { name: "isSorted", overloads: ORDERED, cost: items, run },
    function(
        "sum",
        &[".list(int) int", ".list(uint) uint", ".list(double) double", ".list(duration) duration"],
    ),
    Function { name: "min", overloads: EXTREME, cost: items, run },
    Function { name: "max", overloads: EXTREME, cost: items, run },
    Function { name: "sort", overloads: SORTED, cost: items, run },
    function("first", &[".list(A) optional(A)"]),
    function("last", &[".list(A) optional(A)"]),
    Function { name: "distinct", overloads: &[".list(A) list(A)"], cost: square, run },
    function("reverse", &[".list(A) list(A)", ".string string"]),
    function("slice", &[".list(A),int,int list(A)"]),
    Function {
        name: "flatten",
        overloads: &[".list(list(A)) list(A)", ".list(A) list(A)"],
        cost: flat,
        run,
    },
    Function { name: "lists.range", overloads: &["int list(int)"], cost: ranged, run },
    set("sets.contains"),
    set("sets.intersects"),
    set("sets.equivalent"),
];

fn product(args: &[Value<'_>]) -> u64 {
    let [one, two] = args else { return 1 };
    let (many, more) = (one.size(), two.size());
    let deep = one.lesser(1, two).saturating_mul(many.max(more)) / 40;
    many.saturating_mul(more).max(deep).saturating_add((many + more) / 10)
}

fn square(args: &[Value<'_>]) -> u64 {
    let Some(it) = args.first() else { return 1 };
    let deep = it.whole().saturating_mul(it.size()) / 40;
    it.size().saturating_mul(it.size()).max(deep)
}

/// All the items of the lists within.
fn flat(args: &[Value<'_>]) -> u64 {
    let Some(Value::List(list)) = args.first() else { return 1 };
    let inner = (0..list.len()).map(|index| list.get(index).map_or(1, |it| it.size()));
    inner.fold(list.len() as u64, u64::saturating_add)
}

/// As many as are made.
fn ranged(args: &[Value<'_>]) -> u64 {
    match args {
        [Value::Int(count)] => 1 + u64::try_from(*count).unwrap_or(0),
        _ => 1,
    }
}

/// How many items `lists.range` makes.
const LONGEST: i64 = 100_000;

fn run<'a>(name: &str, args: &[Value<'a>]) -> Outcome<'a> {
    let (list, rest) = match args {
        [Value::List(list), rest @ ..] => (list, rest),
        [Value::Text(text)] if name == "reverse" => {
            return Ok(Value::text(text.chars().rev().collect::<String>()));
        }
        [Value::Int(count)] if name == "lists.range" => {
            if *count > LONGEST {
                return Err(format!("lists.range: {count} items exceed the limit of {LONGEST}"));
            }
            return Ok(Value::list((0..*count).map(Value::Int).collect()));
        }
        _ => return none(),
    };
    let mut items = list.items()?;
    Ok(match (name, rest) {
        ("isSorted", []) => Value::Bool(is_sorted(&items)?),
        ("sum", []) => {
            let zero = match items.first() {
                Some(Value::Double(_)) => Value::Double(0.0),
                Some(Value::Uint(_)) => Value::Uint(0),
                Some(Value::Span(_)) => Value::Span(0),
                _ => Value::Int(0),
            };
            return items.iter().try_fold(zero, |sum, it| number::run("_+_", &[sum, it.clone()]));
        }
        ("min", []) => return extreme(name, items, Ordering::Greater),
        ("max", []) => return extreme(name, items, Ordering::Less),
        ("sort", []) => {
            put_in_order(&mut items, |it| it)?;
            Value::list(items)
        }
        ("first", []) => crate::cel::maybe(items.first().cloned()),
        ("last", []) => crate::cel::maybe(items.last().cloned()),
        ("distinct", []) => return distinct(items),
        ("reverse", []) => {
            items.reverse();
            Value::list(items)
        }
        ("slice", [Value::Int(from), Value::Int(to)]) => {
            let range = usize::try_from(*from).ok().zip(usize::try_from(*to).ok());
            let part = range.and_then(|(from, to)| items.get(from..to));
            Value::list(part.ok_or("cannot slice, index out of range")?.to_vec())
        }
        ("flatten", []) => {
            let mut flat = Vec::new();
            for item in items {
                match item {
                    Value::List(inner) => flat.extend(List::items(&inner)?),
                    other => flat.push(other),
                }
            }
            Value::list(flat)
        }
        _ => return none(),
    })
}

fn is_sorted(items: &[Value<'_>]) -> Result<bool, String> {
    for (index, it) in items.iter().enumerate() {
        require_order(it)?;
        if index > 0 && items[index - 1].order(it) == Some(Ordering::Greater) {
            return Ok(false);
        }
    }
    Ok(true)
}

/// The first of those to which no other one compares so. Values that cannot be compared with each other are no
/// reason to take the later one.
fn extreme<'a>(name: &str, items: Vec<Value<'a>>, worse: Ordering) -> Outcome<'a> {
    let mut best: Option<Value<'a>> = None;
    for it in items {
        require_order(&it)?;
        if best.as_ref().is_none_or(|best| best.order(&it) == Some(worse)) {
            best = Some(it);
        }
    }
    best.ok_or_else(|| format!("{name} called on empty list"))
}

fn is_nan(it: &Value<'_>) -> bool {
    matches!(it, Value::Double(it) if it.is_nan())
}

/// Refuses a value of a type that has no order.
fn require_order(it: &Value<'_>) -> Result<(), String> {
    let has_order = is_nan(it) || it.order(it).is_some();
    has_order.then_some(()).ok_or_else(|| NO_OVERLOAD.to_owned())
}

/// Sorts by keys, all of which must be of one type that has an order. Keys that are no number come last.
pub(in crate::cel) fn put_in_order<'a, T>(
    items: &mut [T],
    key: impl Fn(&T) -> &Value<'a>,
) -> Result<(), String> {
    let Some(first) = items.first() else { return Ok(()) };
    let of = std::mem::discriminant(key(first));
    let is_one = |it: &T| std::mem::discriminant(key(it)) == of;
    require_order(key(first))?;
    if !items.iter().all(is_one) {
        return Err(NO_OVERLOAD.to_owned());
    }
    items.sort_by(|one, two| {
        let (one, two) = (key(one), key(two));
        one.order(two).unwrap_or_else(|| is_nan(one).cmp(&is_nan(two)))
    });
    Ok(())
}

fn distinct<'a>(items: Vec<Value<'a>>) -> Outcome<'a> {
    let mut kept: Vec<Value<'a>> = Vec::new();
    for item in items {
        let mut is_new = true;
        for known in &kept {
            is_new &= !known.equals(&item)?;
        }
        if is_new {
            kept.push(item);
        }
    }
    Ok(Value::list(kept))
}

fn sets<'a>(name: &str, args: &[Value<'a>]) -> Outcome<'a> {
    let [Value::List(one), Value::List(two)] = args else { return none() };
    let (one, two) = (one.items()?, two.items()?);
    let holds =
        |all: &[Value<'a>], it: &Value<'a>| all.iter().any(|other| other.equals(it) == Ok(true));
    Ok(Value::Bool(match name {
        "sets.contains" => two.iter().all(|it| holds(&one, it)),
        "sets.intersects" => two.iter().any(|it| holds(&one, it)),
        _ => two.iter().all(|it| holds(&one, it)) && one.iter().all(|it| holds(&two, it)),
    }))
}
