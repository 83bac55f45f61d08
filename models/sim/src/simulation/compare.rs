//! Whether two runs are the same, and the first event in which they are not.
//!
//! At the level `exact` that is every time and every byte that was written. At the level `ordered` the
//! seeds of hash maps and the chance in back-offs are not under control: there two runs are the same if
//! the same happened in them, whatever the order and the times. If not, it is told how many events they
//! do not share.

use std::collections::BTreeMap;

use super::normal::stable_key;
use super::run::Run;
use super::trace::{Entry, What};
use crate::apiserver::Written;

/// The first event of one run that is not that of the other, and the other's; none if they are the same.
pub(crate) fn differs(one: &Run, other: &Run) -> Option<[String; 2]> {
    if !one.is_exact {
        return unmatched(&normal_events(one), &normal_events(other)).first();
    }
    if exact_history(one) == exact_history(other) {
        return None;
    }
    let events = first(&exact_events(one), &exact_events(other));
    let first = events.or_else(|| first_of_writes(one, other));
    Some(first.unwrap_or_else(|| ["the state at the end".to_owned(), "another one".to_owned()]))
}

/// The lines that two runs of a plan are compared by: equal ones are equal.
pub(crate) fn history(run: &Run) -> Vec<String> {
    if run.is_exact {
        return exact_history(run);
    }
    let mut lines = normal_events(run);
    lines.sort();
    lines
}

/// The events of a run, with every time and every byte that was written.
pub(crate) fn exact_history(run: &Run) -> Vec<String> {
    let mut lines: Vec<_> =
        run.trace.iter().map(|it| format!("{:?} {} {:?}", it.at, it.process, it.what)).collect();
    lines.extend(run.changes.iter().map(|change| {
        let object = change.new.as_ref().or(change.old.as_ref());
        format!("{} {} {:?}", change.resource, change.key, object.map(ToString::to_string))
    }));
    lines
}

/// The process that an event is about.
fn subject(entry: &Entry) -> &str {
    if entry.process.is_empty() { "the controller" } else { &entry.process }
}

/// The events of a run in words.
fn exact_events(run: &Run) -> Vec<String> {
    let event = |entry: &Entry| {
        let text = match &entry.what {
            What::Asked { request } => format!("{}: {}", subject(entry), request.text()),
            What::Told { text } => format!("a watch of {}: {text}", subject(entry)),
            What::Changed { text, .. }
            | What::Step { text }
            | What::Struck { text }
            | What::Life { text } => text.clone(),
        };
        format!("at {:.3} s, {text}", entry.at.as_secs_f64())
    };
    run.trace.iter().map(event).collect()
}

/// The events without times, numbers and drawn names, and the objects at the end. Events of watches
/// are left out: how changes are put together depends on when a watch is asked.
fn normal_events(run: &Run) -> Vec<String> {
    let mut drawn = BTreeMap::new();
    let mut changes = Vec::new();
    for Written { resource, key, old, new, .. } in &run.changes {
        let stable = new.as_ref().or(old.as_ref()).map(|object| stable_key(key, object));
        let stable = timeless(resource, &stable.unwrap_or_default());
        let verb = match (old, new) {
            (None, _) => "create",
            (_, None) => "delete",
            _ => "change",
        };
        changes.push(format!("{verb} {resource} {stable}"));
        drawn.insert((&**resource, &**key), stable);
    }
    let event = |entry: &Entry| match &entry.what {
        What::Asked { request } => {
            let place = (request.resource.as_str(), request.key.as_str());
            let key = drawn.get(&place).cloned().unwrap_or_else(|| timeless(place.0, place.1));
            let mut request = request.clone();
            (request.key, request.write) = (key, 0);
            Some(format!("{}: {}", subject(entry), request.text()))
        }
        What::Changed { number, .. } => changes.get(*number as usize - 1).cloned(),
        What::Told { .. } => None,
        What::Step { text } | What::Struck { text } | What::Life { text } => {
            Some(format!("{} {text}", entry.process).trim_start().to_owned())
        }
    };
    let mut lines: Vec<_> = run.trace.iter().filter_map(event).collect();
    let end = run.end.iter();
    lines.extend(end.map(|((resource, key), it)| format!("at the end: {resource} {key} {it}")));
    lines
}

/// The key of an object; that of an event without its time, after which recorders name it.
fn timeless(resource: &str, key: &str) -> String {
    let is_event = matches!(resource, "events" | "events.events.k8s.io");
    match key.rsplit_once('.') {
        Some((name, time)) if is_event && is_hexadecimal(time) => format!("{name}.*"),
        _ => key.to_owned(),
    }
}

/// Whether a text is a time since 1970 in nanoseconds, or may be.
fn is_hexadecimal(text: &str) -> bool {
    text.len() >= 15 && text.bytes().all(|it| it.is_ascii_hexdigit())
}

/// How many events of two runs of a plan the other one lacks, in a thousand; none if they are the same.
pub(crate) fn apart(one: &Run, other: &Run) -> Option<u64> {
    let (one, other) = (normal_events(one), normal_events(other));
    let lacking = unmatched(&one, &other).0.iter().map(Vec::len).sum::<usize>() as u64;
    let all = (one.len() + other.len()).max(1) as u64;
    (lacking > 0).then(|| (lacking * 1_000).div_ceil(all))
}

/// The lines of each of two that the other one lacks, or has less often.
struct Unmatched([Vec<String>; 2]);

impl Unmatched {
    /// The first of each; none if nothing is lacking.
    fn first(&self) -> Option<[String; 2]> {
        let is_any = self.0.iter().any(|lines| !lines.is_empty());
        let line = |lines: &Vec<String>| lines.first().map_or("(nothing)", |it| it).to_owned();
        is_any.then(|| [line(&self.0[0]), line(&self.0[1])])
    }
}

fn unmatched(one: &[String], other: &[String]) -> Unmatched {
    let lacking = |lines: &[String], others: &[String]| {
        let mut left: BTreeMap<&str, usize> = BTreeMap::new();
        for line in others {
            *left.entry(line).or_default() += 1;
        }
        let mut is_unmatched = |line: &&String| match left.get_mut(line.as_str()) {
            Some(count) if *count > 0 => {
                *count -= 1;
                false
            }
            _ => true,
        };
        lines.iter().filter(|line| is_unmatched(line)).cloned().collect()
    };
    Unmatched([lacking(one, other), lacking(other, one)])
}

/// The first line that is not that of the other, and that one.
fn first(one: &[String], other: &[String]) -> Option<[String; 2]> {
    let count = one.iter().zip(other).take_while(|(one, other)| one == other).count();
    let line = |lines: &[String]| lines.get(count).map_or("(nothing)", |it| it).to_owned();
    (one.len().max(other.len()) > count).then(|| [line(one), line(other)])
}

/// The first write whose bytes differ, and the bytes around them.
fn first_of_writes(one: &Run, other: &Run) -> Option<[String; 2]> {
    let text = |write: &Written| {
        let object = write.new.as_ref().or(write.old.as_ref());
        object.map(ToString::to_string).unwrap_or_default()
    };
    let both = one.changes.iter().zip(&other.changes);
    let (write, texts) = both
        .map(|(one, other)| (one, [text(one), text(other)]))
        .find(|(_, [one, other])| one != other)?;
    let [a, b] = &texts;
    let same = a.chars().zip(b.chars()).take_while(|(a, b)| a == b).count();
    let around = |text: &str| -> String {
        let part: String = text.chars().skip(same.saturating_sub(60)).take(120).collect();
        format!("the write of {} {}: ...{part}...", write.resource, write.key)
    };
    Some([around(a), around(b)])
}

#[cfg(test)]
mod tests {
    use super::unmatched;

    fn lines(text: &str) -> Vec<String> {
        text.split(' ').map(str::to_owned).collect()
    }

    #[test]
    fn order_is_no_difference_and_all_else_is() {
        let same = |one, other| unmatched(&lines(one), &lines(other)).first();
        assert_eq!(same("a b c", "c a b"), None);
        for (one, other, first) in [
            ("a b c", "a b d", ["c", "d"]),
            ("a b b", "b a", ["b", "(nothing)"]),
            ("a", "a a", ["(nothing)", "a"]),
            ("x a y", "a y z", ["x", "z"]),
        ] {
            assert_eq!(same(one, other), Some(first.map(str::to_owned)), "{one} | {other}");
        }
    }
}
