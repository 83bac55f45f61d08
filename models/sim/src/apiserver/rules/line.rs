//! One line of the rules: which field, what holds for it, and when.
//!
//! `PATH WHAT [ARGUMENTS] [when CONDITIONS] [: WHY]`. A path has dots; `.` is the message itself, and `[]`
//! at the end means each item.

use serde_json::Value;

use super::super::bounds::At;
use super::super::cause::{Cause, Causes};
use super::{Old, named, names};

/// What holds.
#[derive(Debug)]
enum What {
    /// `= JSON`, or `= @PATH`: what a missing field becomes.
    Default(Given),
    /// `:= JSON`: what the field becomes in any case.
    Set(Given),
    /// `complete NAME`: a function fills in more.
    Complete(named::Complete),
    /// `drop`: the field belongs to a feature that is off.
    Drop,
    Required,
    /// `missing`: it is as if it were not there.
    Missing,
    In(Vec<String>),
    Between(i64, i64),
    Is(names::Format),
    /// `keeps`: it does not change. A reason makes it forbidden, and none invalid.
    Keeps,
    /// `only PATHS`: nothing else below it changes.
    Only(Vec<String>),
    /// `unique KEY`: the items of a list differ in it.
    Unique(String),
    /// `never`: it is forbidden, if it is set.
    Never,
    /// `forbidden`: it is.
    Forbidden,
    /// `wrong`: it is invalid.
    Wrong,
    /// `check NAME`: a function looks.
    Check(named::Check),
}

#[derive(Debug)]
enum Given {
    Json(Value),
    Copy(String),
}

#[derive(Debug)]
pub(super) struct Line {
    path: String,
    is_each: bool,
    what: What,
    when: Vec<Condition>,
    why: String,
}

/// `field`, `!field` (set or not), `field?` (there), `field=a|b`, `field!=a|b`, `old`, `new`. `was.field` is
/// that of the older state.
#[derive(Debug)]
struct Condition {
    path: String,
    wants: Wants,
    is_negated: bool,
}

#[derive(Debug)]
enum Wants {
    Content,
    Presence,
    One(Vec<String>),
    Old,
}

impl Condition {
    fn parse(text: &str) -> Self {
        let (text, is_negated) = text.strip_prefix('!').map_or((text, false), |it| (it, true));
        if let Some((path, values)) = text.split_once('=') {
            let (path, differs) = path.strip_suffix('!').map_or((path, false), |it| (it, true));
            let values = values.split('|').map(str::to_owned).collect();
            return Self { path: path.to_owned(), wants: Wants::One(values), is_negated: differs };
        }
        let (path, wants) = match text.strip_suffix('?') {
            Some(path) => (path, Wants::Presence),
            None if text == "old" => (text, Wants::Old),
            None => (text, Wants::Content),
        };
        Self { path: path.to_owned(), wants, is_negated }
    }

    fn holds(&self, value: &Value, old: Old<'_>) -> bool {
        let found = match self.path.strip_prefix("was.") {
            Some(path) => old.0.map_or(&Value::Null, |old| at(old, path)),
            None => at(value, &self.path),
        };
        let holds = match &self.wants {
            Wants::Content => !super::super::types::is_empty(found),
            Wants::Presence => !found.is_null(),
            Wants::One(values) => {
                let is = |it: &String| found.as_str().unwrap_or("") == it;
                values.iter().any(is)
            }
            Wants::Old => old.1,
        };
        holds != self.is_negated
    }
}

/// The value at a path with dots.
pub(super) fn at<'a>(value: &'a Value, path: &str) -> &'a Value {
    match path {
        "." => value,
        path => path.split('.').fold(value, |value, part| &value[part]),
    }
}

/// Sets the value at a path, if only objects are on the way.
pub(super) fn set(value: &mut Value, path: &str, to: Value) {
    let mut at = value;
    for part in path.split('.') {
        if !at.is_object() && !at.is_null() {
            return;
        }
        at = &mut at[part];
    }
    *at = to;
}

/// Nothing was given.
pub(super) fn is_unset(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(it) => it.is_empty(),
        Value::Array(it) => it.is_empty(),
        Value::Object(_) | Value::Bool(_) => false,
        Value::Number(it) => it.as_i64() == Some(0),
    }
}

impl Line {
    pub(super) fn parse(text: &str) -> Self {
        let (text, why) = text.split_once(" : ").unwrap_or((text, ""));
        let (text, when) = text.split_once(" when ").unwrap_or((text, ""));
        let (path, rest) = text.split_once(' ').expect("a path and what holds for it");
        let (what, rest) = rest.split_once(' ').unwrap_or((rest, ""));
        let words = || rest.split(' ').map(str::to_owned).collect::<Vec<_>>();
        let number = |text: &str| text.parse::<i64>().expect("a number");
        let given = || match rest.strip_prefix('@') {
            Some(path) => Given::Copy(path.to_owned()),
            None => Given::Json(serde_json::from_str(rest).expect("a default is JSON")),
        };
        let what = match what {
            "=" => What::Default(given()),
            ":=" => What::Set(given()),
            "drop" => What::Drop,
            "complete" => What::Complete(named::complete(rest)),
            "required" => What::Required,
            "missing" => What::Missing,
            "in" => What::In(words()),
            "from" => What::Between(number(rest), i64::MAX),
            "between" => {
                let (least, most) = rest.split_once(' ').expect("two numbers");
                What::Between(number(least), number(most))
            }
            "is" => What::Is(named::format(rest)),
            "keeps" => What::Keeps,
            "only" => What::Only(words()),
            "unique" => What::Unique(rest.to_owned()),
            "never" => What::Never,
            "forbidden" => What::Forbidden,
            "wrong" => What::Wrong,
            "check" => What::Check(named::check(rest)),
            other => panic!("nothing is called {other:?}"),
        };
        let (path, is_each) = path.strip_suffix("[]").map_or((path, false), |it| (it, true));
        let when = when.split(' ').filter(|it| !it.is_empty()).map(Condition::parse).collect();
        Self { path: path.to_owned(), is_each, what, when, why: why.to_owned() }
    }

    /// The last part of its path.
    pub(super) fn field(&self) -> &str {
        self.path.rsplit('.').next().unwrap_or("")
    }

    /// The values that it allows, if it lists them.
    pub(super) fn values(&self) -> impl Iterator<Item = &str> {
        let values = if let What::In(values) = &self.what { &values[..] } else { &[] };
        values.iter().map(String::as_str)
    }

    pub(super) fn is_default(&self) -> bool {
        matches!(self.what, What::Default(_) | What::Set(_) | What::Complete(_) | What::Drop)
    }

    fn holds(&self, value: &Value, old: Old<'_>) -> bool {
        self.when.iter().all(|it| it.holds(value, old))
    }

    pub(super) fn complete(&self, value: &mut Value) {
        if !self.holds(value, (None, false)) {
            return;
        }
        let given = match &self.what {
            What::Complete(complete) => return complete(value),
            What::Drop => return forget(value, &self.path),
            What::Default(given) => {
                let found = at(value, &self.path);
                // A zero that is there was given.
                if !is_unset(found) || found.is_number() {
                    return;
                }
                given
            }
            What::Set(given) => given,
            _ => return,
        };
        let given = match given {
            Given::Json(given) => given.clone(),
            Given::Copy(path) => at(value, path).clone(),
        };
        if !given.is_null() {
            set(value, &self.path, given);
        }
    }

    pub(super) fn check(&self, value: &Value, old: Old<'_>, above: &At<'_>, causes: &mut Causes) {
        if !self.holds(value, old) {
            return;
        }
        let found = at(value, &self.path);
        let before = old.0.map(|old| at(old, &self.path));
        let place = At::Field(above, &self.path);
        let place = if self.path == "." { above } else { &place };
        if !self.is_each {
            return self.look(found, before, place, causes);
        }
        for (index, item) in found.as_array().into_iter().flatten().enumerate() {
            self.look(item, None, &At::Item(place, index), causes);
        }
    }

    fn look(&self, found: &Value, old: Option<&Value>, at: &At<'_>, causes: &mut Causes) {
        if causes.is_full() {
            return;
        }
        let invalid = |why: &str| Cause::invalid(at, found, why);
        match &self.what {
            What::Required if is_unset(found) => causes.push(Cause::required(at, &self.why)),
            What::Missing => causes.push(Cause::required(at, &self.why)),
            What::In(known) if !found.is_null() && !known.iter().any(|it| found == it.as_str()) => {
                let known: Vec<_> = known.iter().map(String::as_str).collect();
                causes.push(Cause::unsupported(at, found, &known));
            }
            What::Between(least, most)
                if found.as_i64().is_some_and(|it| it < *least || it > *most) =>
            {
                causes.push(invalid(&match *most {
                    i64::MAX => format!("must be greater than or equal to {least}"),
                    most => format!("must be between {least} and {most}, inclusive"),
                }));
            }
            What::Is(format) if !is_unset(found) || found.is_number() => format(found, at, causes),
            What::Keeps if old.is_some_and(|old| old != found) => {
                causes.push(match self.why.as_str() {
                    "" => invalid("field is immutable"),
                    why => Cause::forbidden(at, why),
                });
            }
            What::Only(paths) if old.is_some_and(|old| !differs_only_in(found, old, paths)) => {
                causes.push(match self.why.as_str() {
                    "" => invalid("field is immutable"),
                    why => Cause::forbidden(at, why),
                });
            }
            What::Unique(key) => unique(found, key, at, causes),
            What::Never if !super::super::types::is_empty(found) => {
                causes.push(Cause::forbidden(at, &self.why));
            }
            What::Forbidden => causes.push(Cause::forbidden(at, &self.why)),
            What::Wrong => causes.push(invalid(&self.why)),
            What::Check(check) => check(found, old, at, causes),
            _ => {}
        }
    }
}

fn unique(list: &Value, key: &str, at: &At<'_>, causes: &mut Causes) {
    let mut seen = std::collections::BTreeSet::new();
    for (index, item) in list.as_array().into_iter().flatten().enumerate() {
        let name = item[key].as_str().unwrap_or("");
        if !name.is_empty() && !seen.insert(name) && !causes.is_full() {
            let message = format!("Duplicate value: {:?}", crate::short::short(name));
            let at = At::Item(at, index);
            causes.push(Cause::new(At::Field(&at, key), "FieldValueDuplicate", message));
        }
    }
}

/// Whether two values are the same but for some paths, such as `containers[].image`.
fn differs_only_in(new: &Value, old: &Value, paths: &[String]) -> bool {
    if new == old {
        return true;
    }
    let (mut new, mut old) = (new.clone(), old.clone());
    for path in paths {
        forget(&mut new, path);
        forget(&mut old, path);
    }
    new == old
}

fn forget(value: &mut Value, path: &str) {
    let (first, rest) = path.split_once('.').unwrap_or((path, ""));
    let (name, is_each) = first.strip_suffix("[]").map_or((first, false), |it| (it, true));
    let Some(fields) = value.as_object_mut() else { return };
    if rest.is_empty() {
        fields.remove(name);
        return;
    }
    match fields.get_mut(name) {
        Some(Value::Array(items)) if is_each => {
            items.iter_mut().for_each(|item| forget(item, rest));
        }
        Some(inner) => forget(inner, rest),
        None => {}
    }
}
