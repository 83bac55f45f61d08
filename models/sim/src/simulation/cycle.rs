//! The cycle of writes that keeps a system from coming to rest: who undoes what of whom, and why they look.

use std::time::Duration;

use serde_json::Value;

use super::learn::changed;
use super::run::Run;
use super::trace::{Entry, What, Who};
use crate::apiserver::Written;

/// A cycle is looked for in this number of the last writes, and has at most this number of them.
const LAST: usize = 60;
const LONGEST: usize = 12;
/// How much of a value is shown.
const SHOWN: usize = 40;

/// A write of a run.
struct Write<'a> {
    /// Its place in the trace.
    at: usize,
    who: &'a str,
    /// The object, and what happens to it.
    what: String,
    /// The fields that change, and the values of each before and after.
    fields: Vec<(String, [String; 2])>,
}

impl Write<'_> {
    /// Whether it is another one of the same; with the values, or without them, as some of them count.
    fn is_as(&self, other: &Self, has_values: bool) -> bool {
        let same = |(one, other): (&(String, _), &(String, _))| {
            one.0 == other.0 && (!has_values || one.1 == other.1)
        };
        (self.who, &self.what) == (other.who, &other.what)
            && self.fields.len() == other.fields.len()
            && self.fields.iter().zip(&other.fields).all(same)
    }

    fn lines(&self) -> Vec<String> {
        let (who, what) = (self.who, &self.what);
        let field = |(pointer, [old, new]): &(String, [String; 2])| {
            format!("  {who}: {what}, {pointer} from {old} to {new}")
        };
        match self.fields.is_empty() {
            true => vec![format!("  {who}: {what}")],
            false => self.fields.iter().map(field).collect(),
        }
    }
}

/// The cycle with which a run ends, in lines: none if its writes in this last time do not repeat.
pub(crate) fn cycle(run: &Run, time: Duration) -> Vec<String> {
    let writes = writes(run, time);
    let Some(length) = [true, false].into_iter().find_map(|it| period(&writes, it)) else {
        return Vec::new();
    };
    let before = &writes[writes.len() - length - 1];
    let mut lines = vec!["these writes come again and again:".to_owned()];
    let mut last = before.at;
    for write in &writes[writes.len() - length..] {
        lines.extend(woken(run, last, write));
        lines.extend(write.lines());
        last = write.at;
    }
    lines
}

/// The last writes of a run that are no heartbeats. What was written before the user's last step, or
/// before this last time, is over: it keeps nobody busy now.
fn writes(run: &Run, time: Duration) -> Vec<Write<'_>> {
    let end = run.trace.last().map_or(Duration::ZERO, |it| it.at);
    let since = end.saturating_sub(time);
    let is_present = |it: &Entry| it.at >= since && !matches!(it.what, What::Step { .. });
    let write = |(at, entry): (usize, &'_ Entry)| match &entry.what {
        What::Changed { who, number, beat: false, text } => {
            let written = run.changes.get(*number as usize - 1)?;
            Some((at, *who, text.clone(), written))
        }
        _ => None,
    };
    let present = run.trace.iter().enumerate().rev().take_while(|it| is_present(it.1));
    let found = present.filter_map(write).take(LAST);
    let mut writes: Vec<_> = found
        .map(|(at, who, what, written)| {
            let who = match who {
                Who::Controller => subject(&run.trace[at]),
                Who::User => "the user",
                Who::Collector => "the garbage collector",
            };
            Write { at, who, what, fields: fields(written) }
        })
        .collect();
    writes.reverse();
    writes
}

/// The process of an event.
fn subject(entry: &Entry) -> &str {
    if entry.process.is_empty() { "the controller" } else { &entry.process }
}

fn fields(written: &Written) -> Vec<(String, [String; 2])> {
    let pointers = changed(written).unwrap_or_default();
    let is_secret = &*written.resource == "secrets";
    let value =
        |object: Option<&Value>, pointer: &str| match object.and_then(|it| it.pointer(pointer)) {
            None => "(nothing)".to_owned(),
            Some(_) if is_secret => "(a secret)".to_owned(),
            Some(value) => {
                let text = value.to_string();
                let short: String = text.chars().take(SHOWN).collect();
                if short.len() < text.len() { format!("{short}...") } else { short }
            }
        };
    let field = |pointer: String| {
        let values = [&written.old, &written.new].map(|it| value(it.as_deref(), &pointer));
        (pointer, values)
    };
    pointers.into_iter().map(field).collect()
}

/// The shortest cycle with which these writes end: it comes twice, and one more write before it is its
/// last one.
fn period(writes: &[Write<'_>], has_values: bool) -> Option<usize> {
    let is_period = |length: &usize| {
        let Some(start) = writes.len().checked_sub(2 * length + 1) else { return false };
        let tail = &writes[start..];
        tail.iter().zip(&tail[*length..]).all(|(one, other)| one.is_as(other, has_values))
    };
    (1..=LONGEST).find(is_period)
}

/// Why a process writes: since the write before, its watch has told it something, or it has looked.
fn woken(run: &Run, last: usize, write: &Write<'_>) -> Option<String> {
    let between = &run.trace[last..write.at];
    let mut own = between.iter().rev().filter(|it| subject(it) == write.who);
    let told = own.clone().find_map(|entry| match &entry.what {
        What::Told { text } => Some(format!("  {} is told by its watch: {text}", write.who)),
        _ => None,
    });
    told.or_else(|| {
        own.find_map(|entry| match &entry.what {
            What::Asked { request } if request.write == 0 => {
                Some(format!("  {} looks: {}", write.who, request.text()))
            }
            _ => None,
        })
    })
}
