//! An execution as a table: a column per thread, time downwards.

use std::fmt::Write as _;

use super::escape;
use crate::outcome::Line;
use crate::picture::{came_between, conflict, stuck, threads};

/// The state of a thread while another one takes a step.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Meanwhile {
    NotThere,
    Runs,
    Sleeps,
    KeepsLock,
}

impl Meanwhile {
    fn class(self) -> &'static str {
        match self {
            Self::NotThere => "",
            Self::Runs => "runs",
            Self::Sleeps => "asleep",
            Self::KeepsLock => "runs locked",
        }
    }
}

/// Draws the events of a history; the violation and the event that it conflicts with are marked.
pub(super) fn picture(lines: &[Line], at: Option<usize>) -> String {
    let threads = threads(lines);
    let mut text =
        "<div class=\"wide\">\n<table class=\"picture\">\n<thead><tr><th></th>".to_owned();
    for (_, name) in &threads {
        let _infallible = write!(text, "<th scope=\"col\">{}</th>", escape(name));
    }
    text.push_str("<th></th></tr></thead>\n<tbody>\n");
    let stuck = stuck(lines);
    let between = if at.is_none() && stuck.is_empty() { came_between(lines) } else { None };
    let marks = Marks { at, conflict: conflict(lines, at), stuck, between };
    for number in 0..lines.len() {
        text.push_str(&step(lines, number, &threads, &marks));
    }
    text.push_str("</tbody>\n</table>\n</div>\n");
    text.push_str(
        "<p class=\"legend\"><span class=\"locked\">inside the lock</span> \
         <span class=\"asleep\">asleep</span> <span class=\"mark\">the two steps that \
         conflict</span></p>\n",
    );
    text
}

struct Marks {
    at: Option<usize>,
    conflict: Option<usize>,
    stuck: Vec<usize>,
    between: Option<(usize, usize)>,
}

impl Marks {
    /// Returns the class of a step's row and the text next to it.
    fn of(&self, number: usize) -> (&'static str, &'static str) {
        if self.at == Some(number) {
            ("here", "\u{25c0} here it breaks")
        } else if self.conflict == Some(number) {
            ("conflict", "\u{25c0} in conflict with")
        } else if self.stuck.contains(&number) {
            ("stuck", "\u{25c0} sleeps for ever")
        } else if self.between.is_some_and(|(between, _)| between == number) {
            ("conflict", "\u{25c0} came between")
        } else if self.between.is_some_and(|(_, went_on)| went_on == number) {
            ("here", "\u{25c0} went on")
        } else {
            ("", "")
        }
    }
}

fn step(lines: &[Line], number: usize, threads: &[(u8, &str)], marks: &Marks) -> String {
    let line = &lines[number];
    let (class, beside) = marks.of(number);
    let mut text = format!("<tr class=\"{class}\"><th scope=\"row\">{}</th>", number + 1);
    for (thread, _) in threads {
        if *thread == line.thread {
            let class = match (line.object.is_some(), line.sleeps) {
                (_, true) => "step locked sleeps",
                (true, false) => "step locked",
                (false, false) => "step",
            };
            let _infallible = write!(
                text,
                "<td class=\"{class}\" title=\"at {} ns\">{}</td>",
                line.at_nanos,
                escape(&line.text)
            );
        } else {
            let class = meanwhile(lines, number, *thread).class();
            let _infallible = write!(text, "<td class=\"{class}\"></td>");
        }
    }
    let _infallible = writeln!(text, "<td class=\"beside\">{beside}</td></tr>");
    text
}

/// Tells what a thread does while the step of another one is taken.
fn meanwhile(lines: &[Line], number: usize, thread: u8) -> Meanwhile {
    let before = lines[..number].iter().rfind(|line| line.thread == thread);
    let comes_back = lines[number..].iter().any(|line| line.thread == thread);
    match before {
        Some(line) if line.sleeps => Meanwhile::Sleeps,
        Some(line) if line.keeps_lock && comes_back => Meanwhile::KeepsLock,
        Some(_) if comes_back => Meanwhile::Runs,
        _ => Meanwhile::NotThere,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(thread: u8, text: &str) -> Line {
        let name = format!("thread{thread}");
        Line { thread, name, text: text.to_owned(), object: Some(0), ..Line::default() }
    }

    #[test]
    fn every_thread_has_its_column_and_its_state() {
        let lines = [
            Line { sleeps: true, ..line(0, "get waits") },
            Line { keeps_lock: true, ..line(1, "pop <b>") },
            line(2, "len"),
            line(1, "done"),
        ];
        let drawn = picture(&lines, Some(3));
        let rows: Vec<_> = drawn.lines().filter(|line| line.starts_with("<tr")).collect();
        assert_eq!(rows.len(), 4, "{drawn}");
        assert!(rows[0].contains("stuck") && rows[0].contains("step locked sleeps"), "{drawn}");
        assert!(rows[1].contains("<td class=\"asleep\">") && rows[1].contains("pop &lt;b&gt;"));
        assert!(rows[2].contains("conflict") && rows[2].contains("<td class=\"runs locked\">"));
        assert!(rows[3].contains("\"here\"") && rows[3].contains("<td class=\"\">"), "{drawn}");
    }
}
