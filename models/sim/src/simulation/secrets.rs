//! What is in a Secret is in use, so a value that goes and comes back has stopped somebody's work, whatever
//! the end is like.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::normal::View;
use super::run::Run;

/// A field of a Secret: the key without what was drawn of it, and the name of the field.
type Field = (String, String);

/// The values of each field in turn, for each life of its Secret; none while it is missing.
fn values(run: &Run, view: &View<'_>) -> BTreeMap<Field, BTreeMap<String, Vec<Option<Value>>>> {
    let mut values: BTreeMap<Field, BTreeMap<String, Vec<_>>> = BTreeMap::new();
    for change in run.changes.iter().filter(|it| *it.resource == *"secrets") {
        let Some(new) = &change.new else { continue };
        let mut object = Value::clone(new);
        view.clear(&change.resource, &change.key, &mut object);
        let key = view.learned.stable(&change.resource, &change.key, &object).0;
        let uid = object["metadata"]["uid"].as_str().unwrap_or_default().to_owned();
        let data = object["data"].as_object().cloned().unwrap_or_default();
        for (name, value) in &data {
            let lives = values.entry((key.clone(), name.clone())).or_default();
            let life = lives.entry(uid.clone()).or_default();
            if life.last() != Some(&Some(value.clone())) {
                life.push(Some(value.clone()));
            }
        }
        let own = values.range_mut((key.clone(), String::new())..).take_while(|it| it.0.0 == key);
        for ((_, name), lives) in own {
            let life = lives.get_mut(&uid).filter(|_| !data.contains_key(name));
            if let Some(life) = life.filter(|it| it.last() != Some(&None)) {
                life.push(None);
            }
        }
    }
    values
}

/// The fields that have one value for life in the reference, and come back to a former one in this run.
pub(crate) fn flapping(
    (reference, of_reference): (&Run, &View<'_>),
    (run, view): (&Run, &View<'_>),
) -> (Vec<String>, Vec<String>) {
    let (mut lines, mut objects) = (Vec::new(), BTreeSet::new());
    let constant = values(reference, of_reference);
    for ((key, name), lives) in values(run, view) {
        let field = (key, name);
        let stays = |lives: &BTreeMap<_, Vec<_>>| lives.values().all(|it| it.len() == 1);
        let returns = |life: &Vec<Option<Value>>| {
            life.iter().enumerate().any(|(at, it)| it.is_some() && life[..at].contains(it))
        };
        if constant.get(&field).is_some_and(stays) && lives.values().any(returns) {
            let (key, name) = field;
            lines.push(format!("data.{name} of secrets {key} goes and comes back"));
            objects.insert(format!("secrets {key}"));
        }
    }
    (lines, objects.into_iter().collect())
}
