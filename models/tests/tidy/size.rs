//! Files and functions that are short enough to understand.

use crate::tree::File;

const LONGEST_FILE: usize = 400;
const LONGEST_FUNCTION: usize = 70;

/// Complains about a file that is too long.
pub(crate) fn long_file(file: &File) -> Option<String> {
    let lines = file.text.lines().count();
    (lines > LONGEST_FILE).then(|| format!("{}: {lines} lines", file.path))
}

/// Complains about functions that are too long, by the indentation of their first and last lines.
pub(crate) fn long_functions(file: &File) -> Vec<String> {
    let lines: Vec<&str> = file.text.lines().collect();
    let mut complaints = Vec::new();
    for (start, line) in lines.iter().enumerate() {
        let Some(name) = function(line) else { continue };
        let indentation = line.len() - line.trim_start().len();
        let closes = |line: &&str| {
            line.len() > indentation
                && line[..indentation].trim().is_empty()
                && line[indentation..].starts_with('}')
        };
        let ends_at_once = line.trim_end().ends_with([';', '}']);
        let length = lines[start..].iter().position(closes).map_or(0, |end| end + 1);
        if !ends_at_once && length > LONGEST_FUNCTION {
            complaints.push(format!("{}: `{name}` has {length} lines", file.path));
        }
    }
    complaints
}

/// Returns the name of the function that a line begins.
fn function(line: &str) -> Option<&str> {
    const BEFORE: &[&str] =
        &["pub", "pub(crate)", "pub(super)", "const", "async", "unsafe", "extern"];
    let mut words = line.split_whitespace();
    let mut word = words.next()?;
    while BEFORE.contains(&word) {
        word = words.next()?;
    }
    let name = (word == "fn").then(|| words.next())??;
    Some(name.split(['(', '<']).next().unwrap_or(name))
}
