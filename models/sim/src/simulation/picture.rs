//! A run as a person reads it: a column each for the server, the watches and the controller.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::time::Duration;

use super::trace::{Entry, What, Who};

/// How wide a column is.
const WIDTH: usize = 44;
/// The number of lines shown before and after one that matters.
const AROUND: usize = 12;
/// The same if the objects are known that matter.
const NEAR: usize = 3;
/// The number of lines shown after a process begins or ends.
const AFTER: usize = 4;
/// How wide the column of the times is, with two blanks.
const TIMES: usize = 12;

/// The actors of a run, each with a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Column {
    /// The server carries something out, or the user asks for it.
    Server,
    /// A watch tells of something.
    Watch,
    /// The controller's process asks for something, begins or ends.
    Controller,
    /// A fault strikes.
    Fault,
}

/// Something that happened in a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// The time since the run began.
    pub at: Duration,
    /// The column of its actor.
    pub column: Column,
    /// The process of a system that it is about; empty if there is one alone, or none that did it.
    pub process: String,
    /// The event in words.
    pub text: String,
}

/// Tells a whole run.
pub(crate) fn events(trace: &[Entry]) -> Vec<Event> {
    let event = |entry: &Entry| {
        let (column, text) = cell(entry);
        Event { at: entry.at, column, process: entry.process.to_string(), text }
    };
    trace.iter().map(event).collect()
}

fn cell(entry: &Entry) -> (Column, String) {
    let name = &*entry.process;
    match &entry.what {
        What::Changed { who, number, text, .. } => {
            let who = match who {
                Who::Controller => name,
                Who::User => "user",
                Who::Collector => "garbage",
            };
            let colon = if who.is_empty() { "" } else { ": " };
            (Column::Server, format!("{number}: {who}{colon}{text}"))
        }
        What::Step { text } => (Column::Server, format!("the user's step: {text}")),
        What::Told { text } if name.is_empty() => (Column::Watch, text.clone()),
        What::Told { text } => (Column::Watch, format!("told: {text}")),
        What::Asked { request } => (Column::Controller, request.text()),
        What::Life { text } => (Column::Controller, format!("-- {text} --")),
        What::Struck { text } => (Column::Fault, text.clone()),
    }
}

/// A text with pictures, without their times. At the level `ordered` the same plan may be drawn with
/// other times, so that pictures are compared so.
pub fn untimed(text: &str) -> String {
    let line = |line: &str| -> String {
        let time: String = line.chars().take(TIMES - 2).collect();
        match time.trim() {
            "seconds" | "..." => line.chars().skip(TIMES).collect(),
            time if time.parse::<f64>().is_ok() => line.chars().skip(TIMES).collect(),
            _ => line.to_owned(),
        }
    };
    text.lines().map(line).collect::<Vec<_>>().join("\n")
}

/// Draws the lines of a run that matter: those around the faults, the user's steps, and what happens to
/// these objects; without any, more of what is around the faults, and the end.
pub(crate) fn draw(trace: &[Entry], objects: &[String]) -> String {
    let around = if objects.is_empty() { AROUND } else { NEAR };
    let mut shown = vec![false; trace.len()];
    for (index, entry) in trace.iter().enumerate() {
        let after = match entry.what {
            What::Struck { .. } => around,
            What::Life { .. } => around.min(AFTER),
            What::Step { .. } => NEAR,
            _ if is_about(&entry.what, objects) => 1,
            _ => continue,
        };
        let before = if after > 1 { around } else { 0 };
        let end = (index + after).min(trace.len());
        shown[index.saturating_sub(before)..end].fill(true);
    }
    let tail = trace.len().saturating_sub(if objects.is_empty() { AROUND } else { 1 });
    shown[tail..].fill(true);
    // A gap is a line too.
    for run in shown.chunk_by_mut(|one, other| one == other).filter(|it| !it[0]) {
        if run.len() <= NEAR {
            run.fill(true);
        }
    }
    let names: Vec<&str> =
        trace.iter().map(|it| &*it.process).filter(|it| !it.is_empty()).collect();
    let names: Vec<&str> = BTreeSet::from_iter(names).into_iter().collect();
    let heads = if names.is_empty() { vec!["watch", "controller"] } else { names.clone() };
    let mut text = format!("{:>10}  ", "seconds");
    let cells: Vec<_> = std::iter::once("server").chain(heads).collect();
    columns(&mut text, &cells);
    let mut skipped = 0;
    for (entry, shown) in trace.iter().zip(shown) {
        if !shown {
            skipped += 1;
            continue;
        }
        gap(&mut text, skipped);
        skipped = 0;
        write!(text, "{:>10.3}  ", entry.at.as_secs_f64()).expect("a string takes everything");
        line(&mut text, entry, &names);
    }
    gap(&mut text, skipped);
    text
}

/// Whether an event is about one of these objects: a write, a read, a list or what a watch tells.
fn is_about(what: &What, objects: &[String]) -> bool {
    let text = match what {
        What::Asked { request } if request.is_list() => {
            let list = format!("{} ", request.resource);
            return !request.is_watch && objects.iter().any(|it| it.starts_with(&list));
        }
        What::Asked { request } => request.text(),
        What::Told { text } | What::Changed { text, .. } => text.clone(),
        _ => return false,
    };
    objects.iter().any(|object| {
        let (name, is_drawn) = match object.split_once('*') {
            Some((name, _)) => (name, true),
            None => (object.as_str(), false),
        };
        let after = text.find(name).map(|at| &text[at + name.len()..]);
        after.is_some_and(|rest| is_drawn || rest.is_empty() || rest.starts_with(' '))
    })
}

fn gap(text: &mut String, skipped: usize) {
    if skipped > 0 {
        writeln!(text, "{:>10}  ({skipped} more)", "...").expect("a string takes everything");
    }
}

/// Writes an event into its column: that of its process, if there are several.
fn line(text: &mut String, entry: &Entry, names: &[&str]) {
    let (column, cell) = cell(entry);
    let own = names.iter().position(|it| *it == &*entry.process);
    let index = match (column, own) {
        (Column::Server, _) => 0,
        (Column::Watch | Column::Controller, Some(own)) => own + 1,
        (Column::Watch, None) => 1,
        (Column::Controller, None) => 2,
        (Column::Fault, _) => {
            writeln!(text, ">>>>>>>>>> FAULT {cell}").expect("a string takes everything");
            return;
        }
    };
    let mut cells = vec![""; names.len().max(2) + 1];
    cells[index] = &cell;
    columns(text, &cells);
}

/// Writes a line of cells; cells that are too long lose their middle.
fn columns(text: &mut String, cells: &[&str]) {
    let mut line = String::new();
    for (index, cell) in cells.iter().enumerate() {
        let characters: Vec<char> = cell.chars().collect();
        let is_last = index + 1 == cells.len();
        if !is_last && characters.len() >= WIDTH {
            let half = WIDTH / 2 - 2;
            line.extend(&characters[..half]);
            line.push_str("..");
            line.extend(&characters[characters.len() - half..]);
            line.push_str("  ");
        } else if !is_last {
            write!(line, "{cell:WIDTH$}").expect("a string takes everything");
        } else {
            line.push_str(cell);
        }
    }
    text.push_str(line.trim_end());
    text.push('\n');
}

#[cfg(test)]
mod tests {
    use super::untimed;

    #[test]
    fn a_picture_loses_its_times_and_nothing_else() {
        let text = "crash(1) fails\n   seconds  server\n    30.002  >>>>>>>>>> FAULT crash(1)\n  1030.001                 get 7\n       ...  (3 more)\nto see";
        let told = "crash(1) fails\nserver\n>>>>>>>>>> FAULT crash(1)\n               get 7\n(3 more)\nto see";
        assert_eq!(untimed(text), told);
    }
}
