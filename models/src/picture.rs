//! An interleaving as a picture: one column a thread, time downwards.

use std::fmt::Write as _;

use crate::trial::Line;

const NARROWEST: usize = 12;
const WIDEST: usize = 34;

/// Draws the events of a history; the one at which the violation shows is marked.
pub fn picture(lines: &[Line], at: Option<usize>) -> String {
    let mut threads: Vec<(u8, &str)> = Vec::new();
    for line in lines {
        if !threads.iter().any(|(number, _)| *number == line.thread) {
            threads.push((line.thread, &line.name));
        }
    }
    threads.sort_unstable();
    let width = |number: u8, name: &str| {
        let texts = lines.iter().filter(|line| line.thread == number);
        let longest = texts.map(|line| line.text.chars().count()).max().unwrap_or(0);
        longest.max(name.chars().count()).clamp(NARROWEST, WIDEST)
    };
    let columns: Vec<(u8, &str, usize)> =
        threads.iter().map(|(number, name)| (*number, *name, width(*number, name))).collect();
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
    fn a_long_text_is_cut() {
        let text = "x".repeat(100);
        let drawn = picture(&[line(0, &text)], None);
        assert!(drawn.lines().all(|line| line.chars().count() <= WIDEST), "{drawn}");
    }
}
