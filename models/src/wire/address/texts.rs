//! Functions that put addresses together.

use crate::shared::Mistake;

/// Normalises a path (`election:RQ-20`).
fn clean(path: &str) -> String {
    let rooted = path.starts_with('/');
    let mut stack: Vec<&str> = Vec::new();
    for part in path.split('/').filter(|part| !matches!(*part, "" | ".")) {
        match (part, stack.last()) {
            ("..", Some(&last)) if last != ".." => drop(stack.pop()),
            ("..", _) if rooted => {}
            _ => stack.push(part),
        }
    }
    match (rooted, stack.is_empty()) {
        (true, _) => format!("/{}", stack.join("/")),
        (false, true) => ".".to_owned(),
        (false, false) => stack.join("/"),
    }
}

pub(super) fn join(parts: &[&str]) -> String {
    let parts: Vec<_> = parts.iter().copied().filter(|part| !part.is_empty()).collect();
    if parts.is_empty() { String::new() } else { clean(&parts.join("/")) }
}

pub(super) fn joined(first: &str, rest: &[String]) -> String {
    let mut parts = vec![first];
    parts.extend(rest.iter().map(String::as_str));
    join(&parts)
}

/// Checks that a text may be one segment of a path (`election:RQ-10`).
pub(super) fn refusal(mistake: Mistake, part: &str, text: &str) -> Result<(), String> {
    let mut why = Vec::new();
    if matches!(text, "." | "..") && mistake != "dots_are_segments" {
        why.push(format!("may not be '{text}'"));
    }
    if text.contains('/') && mistake != "slashes_pass" {
        why.push("may not contain '/'".to_owned());
    }
    if text.contains('%') && mistake != "escapes_pass" {
        why.push("may not contain '%'".to_owned());
    }
    if mistake == "one_complaint" {
        why.truncate(1);
    }
    if why.is_empty() {
        return Ok(());
    }
    Err(format!("invalid {part} {text:?}: [{}]", why.join(" ")))
}

pub(super) fn escaped(text: &str, kept: &str) -> String {
    let letter = |byte: u8| match char::from(byte) {
        it if it.is_ascii_alphanumeric() || it.is_ascii() && kept.contains(it) => it.to_string(),
        _ => format!("%{byte:02X}"),
    };
    text.bytes().map(letter).collect()
}

/// Encodes a key or a value of a parameter.
pub(super) fn form(mistake: Mistake, text: &str) -> String {
    if mistake == "space_is_escaped" {
        return escaped(text, "-_.~");
    }
    escaped(text, "-_.~ ").replace(' ', "+")
}
