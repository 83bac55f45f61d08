//! Warnings of a server (`election:RQ-88`).

use super::headers::Headers;

/// A warning in an answer.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub struct Warning {
    /// Its code; API servers send 299.
    pub code: u16,
    /// The sender of the warning.
    pub agent: String,
    /// For people.
    pub text: String,
}

/// Reads all warnings of an answer. A malformed entry drops only the rest of its own header.
pub(super) fn warnings(headers: &Headers) -> Vec<Warning> {
    let mut found = Vec::new();
    for header in headers.all("Warning") {
        let mut rest = header.trim_start();
        while !rest.is_empty() {
            let Some((warning, after)) = entry(rest) else { break };
            found.push(warning);
            let after = after.trim_start();
            match after.strip_prefix(',') {
                Some(next) => rest = next.trim_start(),
                None => break,
            }
        }
    }
    found
}

/// Reads one entry: `299 - "text"`, perhaps followed by a date in quotes.
fn entry(text: &str) -> Option<(Warning, &str)> {
    let (code, rest) = text.split_once(' ')?;
    if code.len() != 3 || !code.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let (agent, rest) = rest.split_once(' ')?;
    if agent.is_empty() || agent.chars().any(char::is_control) {
        return None;
    }
    let (text, rest) = quoted(rest)?;
    let date = rest.trim_start();
    let rest = if date.starts_with('"') { quoted(date)?.1 } else { rest };
    Some((Warning { code: code.parse().ok()?, agent: agent.to_owned(), text }, rest))
}

/// Reads a text in quotes; a backslash escapes the next character.
fn quoted(text: &str) -> Option<(String, &str)> {
    let inner = text.strip_prefix('"')?;
    let mut unquoted = String::new();
    let mut letters = inner.char_indices();
    while let Some((at, letter)) = letters.next() {
        let kept = match letter {
            '"' => return Some((unquoted, &inner[at + 1..])),
            '\\' => letters.next()?.1,
            other => other,
        };
        if kept.is_control() {
            return None;
        }
        unquoted.push(kept);
    }
    None
}
