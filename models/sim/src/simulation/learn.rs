//! The fields of which the run without faults shows that their values cannot be compared as they are.
//!
//! It is run with three seeds and two times of the start. A value that each seed draws anew is compared
//! up to renaming: two places that hold the same value must do so in every run, and a value that stays
//! the same for the life of its object must stay. A value that follows the start is a time. Where the
//! run without faults never rests, but writes times and counters only, those are no sign of unrest.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use serde_json::Value;

use super::normal::{Times, stable_key, strip};
use super::run::Run;
use super::state::State;
use super::trace::What;
use crate::apiserver::Written;

/// Fields: a resource, and a pointer into its objects.
type Fields = BTreeSet<(String, String)>;

/// Everything that was learned.
#[derive(Clone, Debug, Default)]
pub(crate) struct Learned {
    /// Times and counters that are written for ever.
    beats: Fields,
    /// Drawn anew with each seed.
    drawn: Fields,
    /// Another value if the cluster begins later.
    timed: Fields,
    /// The beginnings of keys that end in what each seed draws anew, each with its resource.
    names: Fields,
}

/// An object and a pointer into it.
type Place = (String, String, String);

impl Learned {
    /// What a report says about it.
    pub(crate) fn told(&self) -> Vec<String> {
        let kinds = [
            ("drawn anew with each seed, compared up to renaming", &self.drawn),
            ("follows the time of the start, not compared", &self.timed),
            ("named anew with each seed, compared up to renaming", &self.names),
            ("only carries times or counters, no sign of unrest, not compared", &self.beats),
        ];
        let line = |(says, fields): (&str, &Fields)| {
            let all: Vec<_> =
                fields.iter().map(|(resource, at)| format!("{resource} {at}")).collect();
            (!all.is_empty()).then(|| format!("{says}: {}", all.join(", ")))
        };
        kinds.into_iter().filter_map(line).collect()
    }

    /// The beginning of the key of an object whose name each seed draws anew.
    fn beginning(&self, resource: &str, key: &str) -> Option<&str> {
        let mut own = self.names.iter().filter(|it| it.0 == resource).map(|it| &*it.1);
        own.find(|it| key.len() > it.len() && key.starts_with(it))
    }

    /// The key of an object, without the part of it that was drawn; and whether there is one.
    pub(crate) fn stable(&self, resource: &str, key: &str, object: &Value) -> (String, bool) {
        match self.beginning(resource, key) {
            Some(beginning) => (format!("{beginning}*"), true),
            None => (stable_key(key, object), object["metadata"]["generateName"].is_string()),
        }
    }

    /// The pointers to drawn values in an object.
    fn pointers(&self, resource: &str, key: &str) -> Vec<&str> {
        let own = self.drawn.iter().filter(|it| it.0 == resource).map(|it| &*it.1);
        own.chain(self.beginning(resource, key).map(|_| "/metadata/name")).collect()
    }

    /// Puts names in the place of values.
    pub(crate) fn mask(
        &self,
        resource: &str,
        key: &str,
        object: &mut Value,
        drawn: &BTreeMap<Place, String>,
    ) {
        let of = |fields: &Fields| -> Vec<String> {
            let own = fields.iter().filter(|it| it.0 == resource);
            own.map(|it| it.1.clone()).collect()
        };
        for pointer in of(&self.beats).iter().chain(&of(&self.timed)) {
            if let Some(value) = object.pointer_mut(pointer) {
                *value = "<not compared>".into();
            }
        }
        for pointer in self.pointers(resource, key) {
            let place = (resource.to_owned(), key.to_owned(), pointer.to_owned());
            if let (Some(value), Some(name)) = (object.pointer_mut(&place.2), drawn.get(&place)) {
                *value = name.as_str().into();
            }
        }
    }

    /// Whether a write changes nothing but the times and counters that are written for ever.
    pub(crate) fn is_beat(&self, written: &Written) -> bool {
        if self.beats.is_empty() {
            return false;
        }
        let known = |pointer: &String| {
            self.beats.contains(&(written.resource.to_string(), pointer.clone()))
        };
        changed(written).is_some_and(|it| !it.is_empty() && it.iter().all(known))
    }

    /// Learns the times and counters that a run without rest writes last. False: there are none to be
    /// learned.
    pub(crate) fn learn_beats(&mut self, run: &Run, span: Duration) -> bool {
        let Some(end) = run.trace.last().map(|it| it.at) else { return false };
        let late =
            run.trace.iter().filter(|it| it.at + span >= end).filter_map(|it| match it.what {
                What::Changed { number, .. } => run.changes.get(number as usize - 1),
                _ => None,
            });
        let before = self.beats.len();
        let times = Times { around: run.times.around.clone() };
        for written in late {
            let Some(pointers) = changed(written) else { return false };
            let is_beat = |pointer: &String| {
                let value = |object: &Option<std::sync::Arc<Value>>| {
                    object.as_ref().and_then(|it| it.pointer(pointer)).cloned()
                };
                grows(pointer, &value(&written.old), &value(&written.new), &times)
            };
            if !pointers.iter().all(is_beat) {
                return false;
            }
            let resource = written.resource.to_string();
            self.beats.extend(pointers.into_iter().map(|it| (resource.clone(), it)));
        }
        self.beats.len() > before
    }

    /// Learns the names that three seeds draw anew: as many objects of a resource are in the one run only
    /// as are in the others, and their keys begin in the same way.
    pub(crate) fn learn_names(&mut self, runs: [&Run; 3]) {
        let [one, two, three] = runs;
        let (own, second, third) = (only(one, two), only(two, one), only(three, one));
        for (resource, own) in own {
            let (Some(second), Some(third)) = (second.get(resource), third.get(resource)) else {
                continue;
            };
            if own.len() != second.len() || own.len() != third.len() {
                continue;
            }
            for key in own {
                let count = longest(key, second).min(longest(key, third));
                let same = key.get(..count).unwrap_or_default();
                let beginning = same.rfind(['-', '.']).map(|at| &same[..=at]);
                let is_name = |it: &&str| it.contains('/') == key.contains('/');
                let is_long = |it: &&str| key.len() >= it.len() + 4;
                if let Some(beginning) = beginning.filter(is_name).filter(is_long) {
                    self.names.insert((resource.to_owned(), beginning.to_owned()));
                }
            }
        }
    }

    /// Learns what three seeds draw anew, and what follows the start: the last of the runs begins later
    /// than the first, with the same seed.
    pub(crate) fn learn_values(&mut self, runs: [&Run; 3], later: &Run) {
        let [one, two, three] = runs;
        for (key, object) in &one.end {
            let others = [two, three, later].map(|it| it.end.get(key));
            let [Some(second), Some(third), Some(later)] = others else { continue };
            for (pointer, value) in leaves(object) {
                let all = [second, third, later].map(|it| it.pointer(&pointer));
                let [Some(second), Some(third), Some(later)] = all else { continue };
                let field = (key.0.clone(), pointer);
                let three = [value, second, third];
                if second != value && third != value && second != third {
                    if three.iter().all(|it| is_long(it)) && !is_shuffled(three) {
                        self.drawn.insert(field);
                    }
                } else if second == value && third == value && later != value {
                    self.timed.insert(field);
                }
            }
        }
    }
}

/// The keys of what is in the end of one run and not in that of another, by resource.
fn only<'a>(one: &'a Run, other: &Run) -> BTreeMap<&'a str, BTreeSet<&'a str>> {
    let mut found = BTreeMap::<_, BTreeSet<_>>::new();
    for (resource, key) in one.end.keys().filter(|it| !other.end.contains_key(*it)) {
        found.entry(&**resource).or_default().insert(&**key);
    }
    found
}

/// How many bytes a key has in common with that of some keys which begins most like it: of keys in order it is a
/// neighbour.
fn longest(key: &str, keys: &BTreeSet<&str>) -> usize {
    let common =
        |other: &&str| key.bytes().zip(other.bytes()).take_while(|(one, two)| one == two).count();
    let neighbours = [keys.range(..key).next_back(), keys.range(key..).next()];
    neighbours.into_iter().flatten().map(common).max().unwrap_or(0)
}

/// Whether a value is long enough to be one of very many: two chances are not alike.
fn is_long(value: &Value) -> bool {
    match value {
        Value::String(text) => text.len() >= 6,
        Value::Number(number) => number.as_f64().is_some_and(|it| it.abs() >= 1_000.0),
        _ => false,
    }
}

/// Whether the values are one another's, in another order: a list in no order is nothing that was drawn.
fn is_shuffled(three: [&Value; 3]) -> bool {
    let [one, two, three] = three.map(|it| {
        let mut bytes = it.to_string().into_bytes();
        bytes.sort_unstable();
        bytes
    });
    one == two && two == three
}

/// Whether a value is a time in both, or a number that grows where a controller reports: what it wants of others
/// must not grow for ever.
fn grows(pointer: &str, old: &Option<Value>, new: &Option<Value>, times: &Times) -> bool {
    let text = |value: &Option<Value>| match value {
        Some(Value::String(text)) => Some(text.clone()),
        Some(Value::Number(number)) => Some(number.to_string()),
        _ => None,
    };
    let (Some(old), Some(new)) = (text(old), text(new)) else { return false };
    let number = |text: &str| text.parse::<f64>().ok();
    let reports = ["/status/", "/metadata/annotations/"].iter().any(|it| pointer.starts_with(it));
    (times.is_time(&old) && times.is_time(&new))
        || reports && number(&old) < number(&new) && number(&old).is_some()
}

/// The pointers at which a write changes an object; none if it creates or deletes it.
pub(crate) fn changed(written: &Written) -> Option<Vec<String>> {
    let stripped = |object: &Value| {
        let mut object = object.clone();
        strip(&mut object);
        object
    };
    let (old, new) = (stripped(written.old.as_deref()?), stripped(written.new.as_deref()?));
    let (old, new): (BTreeMap<_, _>, BTreeMap<_, _>) =
        (leaves(&old).into_iter().collect(), leaves(&new).into_iter().collect());
    let pointers: BTreeSet<&String> = old.keys().chain(new.keys()).collect();
    let differ = pointers.into_iter().filter(|it| old.get(*it) != new.get(*it));
    Some(differ.cloned().collect())
}

/// The values in an object that hold no others, each with its pointer.
pub(crate) fn leaves(value: &Value) -> Vec<(String, &Value)> {
    let mut found = Vec::new();
    let mut open = vec![(String::new(), value)];
    while let Some((pointer, value)) = open.pop() {
        match value {
            Value::Object(fields) => open.extend(fields.iter().map(|(name, value)| {
                let name = name.replace('~', "~0").replace('/', "~1");
                (format!("{pointer}/{name}"), value)
            })),
            Value::Array(items) => open.extend(
                items.iter().enumerate().map(|(index, it)| (format!("{pointer}/{index}"), it)),
            ),
            value => found.push((pointer, value)),
        }
    }
    found
}

/// The names of drawn values: the first place that holds the same one, and whether the value has changed
/// in the life of its object.
pub(crate) fn drawn(
    state: &State,
    changes: &[Written],
    learned: &Learned,
) -> BTreeMap<Place, String> {
    let mut places = Vec::new();
    let mut lives: BTreeMap<(&str, &str), Vec<&Written>> = BTreeMap::new();
    for change in changes {
        lives.entry((&change.resource, &change.key)).or_default().push(change);
    }
    for (resource, key, object) in state.objects() {
        for pointer in learned.pointers(resource, key) {
            let Some(value) = object.pointer(pointer) else { continue };
            let stable = learned.stable(resource, key, object).0;
            let stable = (resource.to_string(), stable, pointer.to_owned());
            let life = lives.get(&(&**resource, &**key)).map_or(&[][..], |it| it);
            let has_changed = has_changed(life, object, pointer);
            places.push((stable, key.to_string(), value.to_string(), has_changed));
        }
    }
    places.sort();
    let mut firsts: BTreeMap<String, Place> = BTreeMap::new();
    let mut named = BTreeMap::new();
    for (stable, key, value, has_changed) in places {
        let first = firsts.entry(value).or_insert_with(|| stable.clone());
        let mut name = match *first == stable {
            true => "<drawn".to_owned(),
            false => format!("<the one of {} {} {}", first.0, first.1, first.2),
        };
        name.push_str(if has_changed { ", and changed since>" } else { ">" });
        named.insert((stable.0, key, stable.2), name);
    }
    named
}

/// Whether a value was another one before, in the life of the same object, by the changes of its key.
fn has_changed(changes: &[&Written], object: &Value, pointer: &str) -> bool {
    let states = changes.iter().flat_map(|it| [it.old.as_deref(), it.new.as_deref()]).flatten();
    let uid = &object["metadata"]["uid"];
    let mut own = states.filter(|it| it["metadata"]["uid"] == *uid);
    let last = object.pointer(pointer);
    own.any(|it| it.pointer(pointer).is_some_and(|value| Some(value) != last))
}

#[cfg(test)]
mod tests {
    use super::longest;

    #[test]
    fn the_neighbour_begins_most_like_a_key() {
        let keys = ["a/pod-1x9", "a/pod-1xz", "a/pod-7", "a/pood", "b/pod-1x9", "é", "è-1", ""];
        let common = |one: &str, two: &str| {
            one.bytes().zip(two.bytes()).take_while(|(one, two)| one == two).count()
        };
        for key in keys {
            let others: std::collections::BTreeSet<_> =
                keys.into_iter().filter(|it| *it != key).collect();
            let most = others.iter().map(|it| common(key, it)).max();
            assert_eq!(longest(key, &others), most.expect("others"), "{key}");
        }
        assert_eq!(longest("a", &Default::default()), 0);
    }
}
