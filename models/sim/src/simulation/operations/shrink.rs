//! The fewest operations that break a promise, and the simplest values.

use serde_json::{Map, Value};

use super::bench::{Bench, Walk};
use super::operation::Operation;
use super::report::{Finding, Promise, Suspicion};
use crate::simulation::picture::draw;

/// How many smaller sequences are tried.
const MOST: u32 = 200;

/// A sequence that breaks a promise at its end.
struct Broken {
    operations: Vec<Operation>,
    walk: Walk,
    suspicion: Suspicion,
}

/// The smallest sequence that breaks the promise as these operations seem to. None if nothing is wrong when
/// they are all that happens.
pub(super) fn smallest(
    bench: &mut Bench,
    operations: &[Operation],
    promise: Promise,
) -> Option<Finding> {
    let mut best = attempt(bench, operations.to_vec(), promise)?;
    let mut tries = 0;
    'smaller: loop {
        for candidate in smaller(&best.operations, &bench.object) {
            tries += 1;
            if tries > MOST {
                break 'smaller;
            }
            if let Some(found) = attempt(bench, candidate, promise) {
                best = found;
                continue 'smaller;
            }
        }
        break;
    }
    // What is told has been seen twice.
    let Broken { operations, walk, suspicion } = attempt(bench, best.operations, promise)?;
    let picture = draw(&walk.run.trace, &suspicion.objects);
    let Suspicion { promise, text, objects, .. } = suspicion;
    Some(Finding { promise, operations, hard: None, text, objects, also: 0, picture })
}

fn attempt(bench: &mut Bench, operations: Vec<Operation>, promise: Promise) -> Option<Broken> {
    if bench.accepted(&operations).len() < operations.len() {
        return None;
    }
    let walk = bench.walk(&operations);
    let suspicion = bench.judge(&operations, &walk, operations.len())?;
    suspicion.promise.is_like(promise).then_some(Broken { operations, walk, suspicion })
}

/// The sequences that are one step smaller: without an operation, or with a simpler one.
fn smaller(operations: &[Operation], object: &Value) -> Vec<Vec<Operation>> {
    let without = (0..operations.len()).map(|index| {
        let mut rest = operations.to_vec();
        rest.remove(index);
        rest
    });
    let simpler = operations.iter().enumerate().flat_map(|(index, operation)| {
        simpler(&operation.patch, Some(object)).into_iter().map(move |patch| {
            let mut all = operations.to_vec();
            all[index] = Operation { intent: operation.intent, patch };
            all
        })
    });
    without.chain(simpler).collect()
}

/// The patches that are one step simpler: without a field, or with a value nearer to the first one.
fn simpler(patch: &Value, first: Option<&Value>) -> Vec<Value> {
    let mut all = Vec::new();
    match (patch, first) {
        (Value::Object(fields), _) => {
            for (name, value) in fields {
                let with = |value: Option<Value>| -> Value {
                    let mut fields: Map<_, _> = fields.clone();
                    match value {
                        Some(value) => fields.insert(name.clone(), value),
                        None => fields.remove(name),
                    };
                    fields.into()
                };
                if fields.len() > 1 {
                    all.push(with(None));
                }
                let first = first.and_then(|it| it.get(name));
                all.extend(simpler(value, first).into_iter().map(|it| with(Some(it))));
            }
        }
        (Value::Array(items), _) if items.len() > 1 => {
            all.extend((0..items.len()).map(|index| {
                let mut items = items.clone();
                items.remove(index);
                Value::Array(items)
            }));
        }
        (Value::Number(value), Some(Value::Number(first))) => {
            if let (Some(value), Some(first)) = (value.as_i64(), first.as_i64())
                && value.abs_diff(first) > 1
            {
                let next = first.saturating_add((value > first).into());
                all.push((if value > first { next } else { first - 1 }).into());
            }
        }
        (Value::String(text), _) if text.len() > 64 && text.is_ascii() => {
            all.push(text[..text.len() / 2].into());
        }
        _ => {}
    }
    all
}
