//! The fewest operations that break a promise, and the simplest values.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use super::bench::{Bench, Walk};
use super::operation::{Intent, Operation};
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
    let nonsense = nonsense(operations, &bench.object);
    let mut best = attempt(bench, operations.to_vec(), promise)?;
    let mut tries = 0;
    'smaller: loop {
        for candidate in smaller(&best.operations, &bench.object) {
            tries += 1;
            if tries > MOST || bench.is_over() {
                break 'smaller;
            }
            let candidate = marked(candidate, &bench.object, &nonsense);
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
    Some(Finding { objects, picture, ..Finding::of(promise, operations, text) })
}

fn attempt(bench: &mut Bench, operations: Vec<Operation>, promise: Promise) -> Option<Broken> {
    if bench.accepted(&operations).len() < operations.len() {
        return None;
    }
    let walk = bench.walk(&operations);
    let suspicion = bench.judge(&operations, &walk, operations.len())?;
    if bench.is_stopped() {
        return None;
    }
    suspicion.promise.is_like(promise).then_some(Broken { operations, walk, suspicion })
}

/// A value, and the way to it without the places in lists.
type Leaf = (String, String);

fn values(value: &Value, at: &str, found: &mut BTreeSet<Leaf>) {
    match value {
        Value::Object(fields) => {
            fields.iter().for_each(|(name, it)| values(it, &format!("{at}.{name}"), found));
        }
        Value::Array(items) => items.iter().for_each(|it| values(it, &format!("{at}[]"), found)),
        other => drop(found.insert((at.to_owned(), other.to_string()))),
    }
}

/// The values that an operation brings in, and the object after it.
fn brought(operation: &Operation, object: &Value) -> (BTreeSet<Leaf>, Value) {
    let (mut before, mut after, next) = (BTreeSet::new(), BTreeSet::new(), operation.after(object));
    values(object, "", &mut before);
    values(&next, "", &mut after);
    (after.difference(&before).cloned().collect(), next)
}

/// The values that misuses bring in.
fn nonsense(operations: &[Operation], object: &Value) -> BTreeSet<Leaf> {
    let (mut found, mut object) = (BTreeSet::new(), object.clone());
    for operation in operations {
        let (new, next) = brought(operation, &object);
        found.extend(new.into_iter().filter(|_| operation.intent == Intent::Misuse));
        object = next;
    }
    found
}

/// A patch holds whole lists: without the misuse before it, a change of the same list is what brings nonsense
/// in, and is a misuse then.
fn marked(
    mut operations: Vec<Operation>,
    object: &Value,
    nonsense: &BTreeSet<Leaf>,
) -> Vec<Operation> {
    let mut object = object.clone();
    for operation in &mut operations {
        let (new, next) = brought(operation, &object);
        if !new.is_disjoint(nonsense) {
            operation.intent = Intent::Misuse;
        }
        object = next;
    }
    operations
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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_list_that_keeps_nonsense_stays_a_misuse() {
        let object = json!({"spec": {"ports": [1], "size": 1}});
        let with = |intent, spec: Value| Operation { intent, patch: json!({"spec": spec}) };
        let all = [
            with(Intent::Misuse, json!({"ports": [1, -5]})),
            with(Intent::Change, json!({"ports": [1, -5, 2]})),
            with(Intent::Change, json!({"ports": [1, 2], "size": 2})),
        ];
        let nonsense = nonsense(&all, &object);
        assert_eq!(nonsense, BTreeSet::from([(".spec.ports[]".to_owned(), "-5".to_owned())]));
        let intents = |operations: &[Operation]| -> Vec<Intent> {
            marked(operations.to_vec(), &object, &nonsense).iter().map(|it| it.intent).collect()
        };
        let (misuse, change) = (Intent::Misuse, Intent::Change);
        assert_eq!(intents(&all), [misuse, change, change]);
        assert_eq!(intents(&all[1..]), [misuse, change]);
        assert_eq!(intents(&all[2..]), [change]);
    }
}
