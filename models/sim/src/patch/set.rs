//! Sets of fields, as `metadata.managedFields` has them.
//!
//! A step of a path is kept in its wire form, since that is also its order: `f:name` for a field,
//! `k:{"name":"x"}` for the item of a list with these keys, `v:"x"` for the item with this value.

use std::fmt;

use serde_json::{Map, Value};

/// A set of paths. A path may be in it without what is below it, and the other way round.
///
/// It is kept as it is written, since every write of an object reads and writes sets: nothing is
/// built for that but the answer.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct FieldSet(Steps);

/// The steps of one level, each with the steps below it. These are empty if the step is a member
/// and nothing is below it; they have a dot if the step is a member and something is below it.
pub(crate) type Steps = Map<String, Value>;

/// Marks a step as a member, among the steps below it.
const MEMBER: &str = ".";

impl FieldSet {
    /// The set of these paths of named fields.
    pub(crate) fn of(paths: &[&[&str]]) -> Self {
        let mut set = Self::default();
        for path in paths {
            set.insert(&path.iter().map(|name| field(name)).collect::<Vec<_>>());
        }
        set
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The first steps of its paths.
    pub(crate) fn steps(&self) -> &Steps {
        &self.0
    }

    /// Adds a path. The root is in no set.
    pub(crate) fn insert(&mut self, path: &[String]) {
        insert(&mut self.0, path);
    }

    pub(crate) fn union(&self, other: &Self) -> Self {
        let mut set = self.clone();
        set.absorb(other.clone());
        set
    }

    /// Adds what is in another set.
    pub(crate) fn absorb(&mut self, other: Self) {
        absorb(&mut self.0, other.0);
    }

    /// Takes out what is in the other, path by path.
    pub(crate) fn subtract(&mut self, other: &Self) {
        subtract(&mut self.0, &other.0);
    }

    pub(crate) fn intersection(&self, other: &Self) -> Self {
        Self(intersection(&self.0, &other.0))
    }

    /// The paths of this set that are not in the other.
    pub(crate) fn difference(&self, other: &Self) -> Self {
        let mut set = self.clone();
        set.subtract(other);
        set
    }

    /// The paths of this set that are neither in the other nor below a path of the other.
    pub(crate) fn outside(mut self, other: &Self) -> Self {
        leave(&mut self.0, &other.0);
        self
    }

    /// The set of these steps: each with whether it is a member, and the paths below it.
    pub(crate) fn from_parts(parts: impl Iterator<Item = (String, bool, FieldSet)>) -> Self {
        let mut set = Self::default();
        for (step, is_member, Self(mut below)) in parts {
            if is_member && !below.is_empty() {
                mark(&mut below);
            }
            if is_member || !below.is_empty() {
                set.0.insert(step, Value::Object(below));
            }
        }
        set
    }

    /// The first of its paths, at most `most`; paths that end here come before paths that go on.
    pub(crate) fn paths(&self, most: usize) -> Vec<Vec<&str>> {
        let mut found = Vec::new();
        paths(&self.0, most, &mut Vec::new(), &mut found);
        found
    }

    /// How many paths it has.
    pub(crate) fn count(&self) -> usize {
        count(&self.0)
    }

    /// The wire form, `fieldsV1`.
    pub(crate) fn into_wire(self) -> Value {
        Value::Object(self.0)
    }

    /// Reads the wire form; none if it is not one.
    pub(crate) fn from_wire(wire: &Value) -> Option<Self> {
        let mut set = Self::default();
        for (step, below) in wire.as_object()? {
            if step == MEMBER {
                continue;
            }
            let is_marked = below.as_object()?.contains_key(MEMBER);
            let (step, Self(mut inside)) = (normal(step)?, Self::from_wire(below)?);
            if is_marked && !inside.is_empty() {
                mark(&mut inside);
            }
            // Two spellings may be one step.
            match below_mut(&mut set.0, &step) {
                Some(own) => join(own, inside),
                None => {
                    set.0.insert(step, Value::Object(inside));
                }
            }
        }
        Some(set)
    }
}

/// A set in the making, beside what is below a place. The way through a value puts what is below a
/// step in with the step: to put in path by path would compare long steps once for each path.
#[derive(Debug, Default)]
pub(crate) struct Builder {
    is_member: bool,
    below: Steps,
}

impl Builder {
    /// Adds the place itself. The root is in no set.
    pub(crate) fn insert(&mut self) {
        self.is_member = true;
    }

    /// Adds what is at and below a step, if it is anything.
    pub(crate) fn put(&mut self, step: impl FnOnce() -> String, part: Self) {
        let Self { is_member, mut below } = part;
        if !is_member && below.is_empty() {
            return;
        }
        if is_member && !below.is_empty() {
            mark(&mut below);
        }
        let step = step();
        match below_mut(&mut self.below, &step) {
            Some(own) => join(own, below),
            None => {
                self.below.insert(step, Value::Object(below));
            }
        }
    }

    pub(crate) fn into_set(self) -> FieldSet {
        FieldSet(self.below)
    }
}

/// The steps below each step, without the dots.
pub(crate) fn below_each(steps: &Steps) -> impl Iterator<Item = (&String, &Steps)> {
    let steps = steps.iter().filter(|(step, _)| *step != MEMBER);
    steps.filter_map(|(step, below)| Some((step, below.as_object()?)))
}

/// Tells whether a step is a member by what is below it.
pub(crate) fn is_member(below: &Steps) -> bool {
    below.is_empty() || below.contains_key(MEMBER)
}

/// Tells whether anything is below a step.
pub(crate) fn goes_on(below: &Steps) -> bool {
    below.len() > usize::from(below.contains_key(MEMBER))
}

/// The steps below a step, if it is there.
pub(crate) fn below<'a>(steps: &'a Steps, step: &str) -> Option<&'a Steps> {
    steps.get(step)?.as_object()
}

fn below_mut<'a>(steps: &'a mut Steps, step: &str) -> Option<&'a mut Steps> {
    steps.get_mut(step)?.as_object_mut()
}

fn mark(below: &mut Steps) {
    if !below.contains_key(MEMBER) {
        below.insert(MEMBER.to_owned(), Value::Object(Steps::new()));
    }
}

fn insert(steps: &mut Steps, path: &[String]) {
    let [first, rest @ ..] = path else { return };
    match below_mut(steps, first) {
        Some(below) if rest.is_empty() && below.is_empty() => {}
        Some(below) => {
            if rest.is_empty() || below.is_empty() {
                mark(below);
            }
            insert(below, rest);
        }
        None => {
            let mut below = Steps::new();
            insert(&mut below, rest);
            steps.insert(first.clone(), Value::Object(below));
        }
    }
}

fn absorb(steps: &mut Steps, other: Steps) {
    for (step, theirs) in other {
        let Value::Object(theirs) = theirs else { continue };
        match below_mut(steps, &step) {
            None => {
                steps.insert(step, Value::Object(theirs));
            }
            Some(own) => join(own, theirs),
        }
    }
}

/// Adds to what is below a step what is below the same step of another set.
fn join(own: &mut Steps, theirs: Steps) {
    if own.is_empty() && theirs.is_empty() {
        return;
    }
    if own.is_empty() || theirs.is_empty() {
        mark(own);
    }
    // The dot of the other is absorbed like any step.
    absorb(own, theirs);
}

fn subtract(steps: &mut Steps, other: &Steps) {
    // A small set must not cost as much as a large one that is taken from it.
    if steps.len() < other.len() {
        let both: Vec<String> =
            steps.keys().filter(|step| other.contains_key(*step)).cloned().collect();
        both.iter().for_each(|step| subtract_step(steps, step, other));
    } else {
        below_each(other).for_each(|(step, _)| subtract_step(steps, step, other));
    }
}

fn subtract_step(steps: &mut Steps, step: &str, other: &Steps) {
    let (Some(own), Some(theirs)) = (below_mut(steps, step), below(other, step)) else { return };
    if step != MEMBER {
        let stays = is_member(own) && !is_member(theirs);
        subtract(own, theirs);
        settle(steps, step, stays);
    }
}

fn leave(steps: &mut Steps, other: &Steps) {
    for (step, theirs) in below_each(other) {
        if is_member(theirs) {
            steps.remove(step);
        } else if let Some(own) = below_mut(steps, step) {
            let stays = is_member(own);
            leave(own, theirs);
            settle(steps, step, stays);
        }
    }
}

/// Restores the form of a step after some of what is below it was taken out.
fn settle(steps: &mut Steps, step: &str, is_member: bool) {
    let Some(below) = below_mut(steps, step) else { return };
    let goes_on = goes_on(below);
    if !(is_member && goes_on) {
        below.remove(MEMBER);
    }
    if !is_member && !goes_on {
        steps.remove(step);
    }
}

fn intersection(steps: &Steps, other: &Steps) -> Steps {
    let parts = below_each(steps).filter_map(|(step, own)| {
        let theirs = below(other, step)?;
        let both = is_member(own) && is_member(theirs);
        Some((step.clone(), both, FieldSet(intersection(own, theirs))))
    });
    FieldSet::from_parts(parts).0
}

fn paths<'a>(steps: &'a Steps, most: usize, at: &mut Vec<&'a str>, found: &mut Vec<Vec<&'a str>>) {
    for (step, _) in below_each(steps).filter(|(_, below)| is_member(below)) {
        if found.len() < most {
            found.push([&at[..], &[step.as_str()]].concat());
        }
    }
    for (step, below) in below_each(steps) {
        if found.len() >= most {
            return;
        }
        at.push(step);
        paths(below, most, at, found);
        at.pop();
    }
}

fn count(steps: &Steps) -> usize {
    below_each(steps).map(|(_, below)| usize::from(is_member(below)) + count(below)).sum()
}

/// The step to a named field.
pub(crate) fn field(name: &str) -> String {
    ["f:", name].concat()
}

/// The step to the item of a set.
pub(crate) fn item(value: &Value) -> String {
    format!("v:{value}")
}

/// The step to the item of a list with these keys.
pub(crate) fn keyed(keys: Map<String, Value>) -> String {
    format!("k:{}", Value::Object(keys))
}

/// A step as a client may write it, in the form in which it is compared.
fn normal(step: &str) -> Option<String> {
    match step.split_at_checked(2)? {
        ("f:", _) => Some(step.to_owned()),
        ("i:", index) => index.parse::<u64>().ok().map(|index| format!("i:{index}")),
        ("v:", value) => serde_json::from_str(value).ok().map(|value| item(&value)),
        ("k:", keys) => match serde_json::from_str(keys).ok()? {
            Value::Object(keys) if !keys.is_empty() => Some(keyed(keys)),
            _ => None,
        },
        _ => None,
    }
}

/// A path as messages have it: `.spec.ports[name="http"].port`.
pub(crate) struct Path<'a, S>(pub(crate) &'a [S]);

impl<S: AsRef<str>> fmt::Display for Path<'_, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|step| write_step(step.as_ref(), f))
    }
}

fn write_step(step: &str, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    match step.split_at_checked(2) {
        Some(("f:", name)) => write!(f, ".{name}"),
        Some(("v:", value)) => write!(f, "[={value}]"),
        Some(("k:", keys)) => match serde_json::from_str(keys) {
            Ok(Value::Object(keys)) => {
                for (index, (name, value)) in keys.iter().enumerate() {
                    let start = if index == 0 { "[" } else { "," };
                    write!(f, "{start}{name}={value}")?;
                }
                f.write_str("]")
            }
            _ => write!(f, "[{keys}]"),
        },
        Some((_, index)) => write!(f, "[{index}]"),
        None => f.write_str(step),
    }
}
