//! An interleaving as a picture: one column a thread, time downwards.

use std::fmt::Write as _;

use crate::trial::Line;

const NARROWEST: usize = 12;
const WIDEST: usize = 34;

/// Returns the threads of a history and their names, in the order of their numbers.
pub fn threads(lines: &[Line]) -> Vec<(u8, &str)> {
    let mut threads: Vec<(u8, &str)> = Vec::new();
    for line in lines {
        if !threads.iter().any(|(number, _)| *number == line.thread) {
            threads.push((line.thread, &line.name));
        }
    }
    threads.sort_unstable();
    threads
}

/// Draws the events of a history, if there are any; the one at which the violation shows is marked.
pub fn picture(lines: &[Line], at: Option<usize>) -> String {
    if lines.is_empty() {
        return String::new(); // not a line without heads
    }
    let width = |number: u8, name: &str| {
        let texts = lines.iter().filter(|line| line.thread == number);
        let longest = texts.map(|line| line.text.chars().count()).max().unwrap_or(0);
        longest.max(name.chars().count()).clamp(NARROWEST, WIDEST)
    };
    let columns: Vec<(u8, &str, usize)> = threads(lines)
        .iter()
        .map(|(number, name)| (*number, *name, width(*number, name)))
        .collect();
    let mut text = String::new();
    let heads: Vec<_> = columns.iter().map(|(_, name, width)| pad(name, *width)).collect();
    let _infallible = writeln!(text, "{}", heads.join("  ").trim_end());
    for (number, line) in lines.iter().enumerate() {
        let cells = columns.iter().map(|(thread, _, width)| {
            pad(if *thread == line.thread { &line.text } else { "" }, *width)
        });
        let cells: Vec<_> = cells.collect();
        let mark = if at == Some(number) { "   <-- here" } else { "" };
        let row = cells.join("  ");
        let _infallible = writeln!(text, "{}{mark}", row.trim_end());
    }
    text
}

/// Returns the step that the marked one conflicts with: the last before it that another thread took
/// on the same machine, or at all if the marked one is on none.
pub fn conflict(lines: &[Line], at: Option<usize>) -> Option<usize> {
    let marked = lines.get(at?)?;
    let other = |line: &Line| line.thread != marked.thread && line.object == marked.object;
    lines[..at?].iter().rposition(other)
}

/// Returns where a thread went on after another one had come between, the first time that this
/// happened on one machine: the place to look at where a violation blames no single step.
pub fn came_between(lines: &[Line]) -> Option<(usize, usize)> {
    let went_on = |at: &usize| {
        let (before, line) = (&lines[at - 1], &lines[*at]);
        before.thread != line.thread
            && before.object == line.object
            && lines[..at - 1].iter().any(|earlier| earlier.thread == line.thread)
    };
    (1..lines.len()).find(went_on).map(|at| (at - 1, at))
}

/// Returns the steps after which their threads slept for ever.
pub fn stuck(lines: &[Line]) -> Vec<usize> {
    let last = |at: &usize| lines[at + 1..].iter().all(|later| later.thread != lines[*at].thread);
    (0..lines.len()).filter(|at| lines[*at].sleeps && last(at)).collect()
}

/// Fits a text to a width, cutting what is too long.
fn pad(text: &str, width: usize) -> String {
    if text.chars().count() <= width {
        return format!("{text:<width$}");
    }
    let cut: String = text.chars().take(width - 1).collect();
    format!("{cut}\u{2026}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(thread: u8, text: &str) -> Line {
        let name = format!("thread{thread}");
        Line { thread, name, at_nanos: 0, text: text.to_owned(), ..Line::default() }
    }

    #[test]
    fn every_thread_has_its_column_and_the_violation_its_mark() {
        let lines = [line(0, "add 1"), line(1, "get -> 1"), line(0, "done")];
        let expected = "thread0       thread1\nadd 1\n              get -> 1   <-- here\ndone\n";
        assert_eq!(picture(&lines, Some(1)), expected);
    }

    #[test]
    fn a_step_conflicts_with_the_last_of_another_thread_on_the_same_machine() {
        let on = |thread, object| Line { object: Some(object), ..line(thread, "step") };
        let lines = [on(1, 0), on(0, 0), on(1, 1), line(1, "note"), on(0, 0), line(0, "note")];
        assert_eq!(conflict(&lines, Some(4)), Some(0));
        assert_eq!(conflict(&lines, Some(5)), Some(3));
        assert_eq!(conflict(&lines, Some(0)), None);
        assert_eq!(conflict(&lines, None), None);
        assert_eq!(conflict(&lines, Some(99)), None);
    }

    #[test]
    fn the_first_to_come_between_is_found() {
        let lines =
            [line(0, "read"), line(1, "read"), line(1, "write"), line(0, "write"), line(1, "join")];
        assert_eq!(came_between(&lines), Some((2, 3)));
        assert_eq!(came_between(&lines[..3]), None);
        assert_eq!(came_between(&[]), None);
    }

    #[test]
    fn who_sleeps_last_is_stuck() {
        let asleep = |thread| Line { sleeps: true, ..line(thread, "waits") };
        assert_eq!(stuck(&[asleep(0), asleep(1), line(0, "wakes"), asleep(2)]), [1, 3]);
    }

    #[test]
    fn a_history_without_events_has_no_picture() {
        assert_eq!(picture(&[], None), "");
    }

    #[test]
    fn a_long_text_is_cut() {
        let text = "x".repeat(100);
        let drawn = picture(&[line(0, &text)], None);
        assert!(drawn.lines().all(|line| line.chars().count() <= WIDEST), "{drawn}");
    }
}
