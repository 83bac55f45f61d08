//! The functions, as tables: name, overloads, cost, and what it does. An overload is its arguments and its
//! result; one that begins with a dot is called on its first argument.

pub(super) mod authorizer;
mod basic;
pub(super) mod format;
pub(super) mod lists;
pub(super) mod net;
mod number;
pub(super) mod quantity;
pub(super) mod text;
pub(super) mod time;
pub(super) mod url;

use super::value::{NO_OVERLOAD, Outcome, Value};

/// A function.
#[derive(Debug)]
pub(super) struct Function {
    pub(super) name: &'static str,
    pub(super) overloads: &'static [&'static str],
    pub(super) cost: fn(&[Value<'_>]) -> u64,
    /// The name tells apart the functions of one table.
    pub(super) run: for<'a> fn(&str, &[Value<'a>]) -> Outcome<'a>,
}

const TABLES: &[&[Function]] = &[
    basic::TABLE,
    number::TABLE,
    text::TABLE,
    lists::TABLE,
    time::TABLE,
    quantity::TABLE,
    net::TABLE,
    url::TABLE,
    format::TABLE,
    authorizer::TABLE,
];

pub(super) fn find(name: &str) -> Option<&'static Function> {
    TABLES.iter().flat_map(|table| table.iter()).find(|it| it.name == name)
}

fn one(_: &[Value<'_>]) -> u64 {
    1
}

/// A look at every character of the first argument.
fn tenth(args: &[Value<'_>]) -> u64 {
    args.first().map_or(1, |it| it.size().div_ceil(10))
}

fn fifth(args: &[Value<'_>]) -> u64 {
    args.first().map_or(1, |it| it.size().div_ceil(5))
}

/// A look at every item; those of a made list are copied.
fn items(args: &[Value<'_>]) -> u64 {
    args.first().map_or(1, |it| it.size().max(it.whole() / 100))
}

/// An item that is compared with those of a list.
fn searched(item: &Value<'_>, list: &Value<'_>) -> u64 {
    let deep = item.lesser(list.size(), list);
    if deep == u64::MAX { deep } else { list.size().max(deep.div_ceil(10)) }
}

/// A search for an expression in a text.
fn search(args: &[Value<'_>]) -> u64 {
    let size = |index: usize| args.get(index).map_or(1, Value::size);
    // An empty expression is found everywhere, which takes time too.
    (1 + size(0)).div_ceil(10).saturating_mul(size(1).div_ceil(4).max(1))
}

/// No overload takes these arguments.
fn none<'a>() -> Outcome<'a> {
    Err(NO_OVERLOAD.to_owned())
}
