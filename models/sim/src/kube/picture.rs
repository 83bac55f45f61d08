//! A run as a person reads it: a column each for the server, the watches and the controller.

use std::fmt::Write as _;

use super::trace::{Entry, What};

/// How wide a column is.
const WIDTH: usize = 44;
/// The number of lines shown before and after one that matters.
const AROUND: usize = 12;

/// Draws the lines of a run that matter: those around the faults, the user's steps, and the end.
pub(crate) fn draw(trace: &[Entry]) -> String {
    let mut shown = vec![false; trace.len()];
    for (index, entry) in trace.iter().enumerate() {
        let around = match entry.what {
            What::Struck { .. } | What::Life { .. } => AROUND,
            What::Step { .. } => 3,
            _ => continue,
        };
        let end = (index + around).min(trace.len());
        shown[index.saturating_sub(around)..end].fill(true);
    }
    let tail = trace.len().saturating_sub(AROUND);
    shown[tail..].fill(true);
    let heads = ["server", "watch", "controller"];
    let mut text = format!("{:>10}  ", "seconds");
    columns(&mut text, &heads);
    let mut skipped = 0;
    for (entry, shown) in trace.iter().zip(shown) {
        if !shown {
            skipped += 1;
            continue;
        }
        gap(&mut text, skipped);
        skipped = 0;
        write!(text, "{:>10.3}  ", entry.at.as_secs_f64()).expect("a string takes everything");
        line(&mut text, &entry.what);
    }
    gap(&mut text, skipped);
    text
}

fn gap(text: &mut String, skipped: usize) {
    if skipped > 0 {
        writeln!(text, "{:>10}  ({skipped} more)", "...").expect("a string takes everything");
    }
}

fn line(text: &mut String, what: &What) {
    match what {
        What::Changed { by_user, number, text: change } => {
            let who = if *by_user { "user: " } else { "" };
            columns(text, &[&format!("{number}: {who}{change}"), "", ""]);
        }
        What::Step { text: step } => columns(text, &[&format!("the user's step: {step}"), "", ""]),
        What::Told { text: told } => columns(text, &["", told, ""]),
        What::Asked { request } => columns(text, &["", "", &request.text()]),
        What::Life { text: life } => columns(text, &["", "", &format!("-- {life} --")]),
        What::Struck { text: fault } => {
            writeln!(text, ">>>>>>>>>> FAULT {fault}").expect("a string takes everything");
        }
    }
}

/// Writes a line of cells; those that are too long lose their middle.
fn columns(text: &mut String, cells: &[&str; 3]) {
    let mut line = String::new();
    for (index, cell) in cells.iter().enumerate() {
        let characters: Vec<char> = cell.chars().collect();
        if index < 2 && characters.len() >= WIDTH {
            let half = WIDTH / 2 - 2;
            line.extend(&characters[..half]);
            line.push_str("..");
            line.extend(&characters[characters.len() - half..]);
            line.push_str("  ");
        } else if index < 2 {
            write!(line, "{cell:WIDTH$}").expect("a string takes everything");
        } else {
            line.push_str(cell);
        }
    }
    text.push_str(line.trim_end());
    text.push('\n');
}
