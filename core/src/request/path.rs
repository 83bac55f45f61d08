//! Paths: joined and normalised (`election:RQ-20`), and escaped for a URL (`election:RQ-25`).

use super::escape::{PATH, escape};

/// Appends a path, element by element, to a text.
///
/// The path is normalised as it grows, so a URL is built directly in the text that becomes the
/// result. Empty elements and `.` vanish; `..` removes the element before it.
pub(super) struct Path<'a> {
    text: &'a mut String,
    start: usize,
    rooted: bool,
    escaped: bool,
}

impl<'a> Path<'a> {
    /// A path that starts at the root, escaped.
    pub(super) fn rooted(text: &'a mut String) -> Self {
        let start = text.len();
        Self { text, start, rooted: true, escaped: true }
    }

    /// A path that starts at the root, not escaped.
    pub(super) fn plain(text: &'a mut String) -> Self {
        Self { escaped: false, ..Self::rooted(text) }
    }

    /// Appends all elements of `part`.
    pub(super) fn push(&mut self, part: &str) {
        for element in part.split('/') {
            self.element(element, |text, escaped| write(text, element, escaped));
        }
    }

    /// Appends all elements of `part` in lower case.
    pub(super) fn push_lower(&mut self, part: &str) {
        for element in part.split('/') {
            self.element(element, |text, escaped| {
                let mut bytes = [0; 4];
                for letter in element.chars().flat_map(char::to_lowercase) {
                    write(text, letter.encode_utf8(&mut bytes), escaped);
                }
            });
        }
    }

    fn element(&mut self, element: &str, write: impl FnOnce(&mut String, bool)) {
        match element {
            "" | "." => {}
            ".." if self.has_parent() => {
                let last = self.text[self.start..].rfind('/').map_or(0, |at| at);
                self.text.truncate(self.start + last);
            }
            ".." if self.rooted => {}
            _ => {
                if self.rooted || self.text.len() > self.start {
                    self.text.push('/');
                }
                write(self.text, self.escaped);
            }
        }
    }

    /// Tells whether there is an element that `..` can remove.
    fn has_parent(&self) -> bool {
        let path = &self.text[self.start..];
        !path.is_empty() && path.rsplit('/').next() != Some("..")
    }

    /// Ends the path, with a slash if `slash` is true. A path without elements becomes `/` if it is
    /// rooted, and `.` otherwise.
    pub(super) fn end(self, slash: bool) {
        if self.text.len() == self.start {
            self.text.push(if self.rooted { '/' } else { '.' });
        } else if slash {
            self.text.push('/');
        }
    }
}

fn write(text: &mut String, element: &str, escaped: bool) {
    if escaped {
        escape(text, element.as_bytes(), PATH);
    } else {
        text.push_str(element);
    }
}

/// Joins parts and normalises the result. If all parts are empty, so is the path.
pub(super) fn join<'p>(parts: impl IntoIterator<Item = &'p str>) -> String {
    let mut text = String::new();
    let mut parts = parts.into_iter().filter(|part| !part.is_empty());
    let Some(first) = parts.next() else { return text };
    let rooted = first.starts_with('/');
    let mut path = Path { text: &mut text, start: 0, rooted, escaped: false };
    path.push(first);
    for part in parts {
        path.push(part);
    }
    path.end(false);
    text
}
