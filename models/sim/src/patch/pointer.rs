//! The targets of the operations of a JSON patch.

use serde_json::Value;

/// A parsed pointer: the way to the parent, and the last member.
///
/// The server's parser is more generous than the RFC: it ignores the part before the first slash,
/// and takes negative indices, counted from the end.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Pointer {
    parents: Vec<String>,
    pub(crate) last: String,
}

impl Pointer {
    /// Parses a pointer to something inside a document; none if it has no slash.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let mut parts = text.split('/').skip(1).map(unescape).collect::<Vec<_>>();
        let last = parts.pop()?;
        Some(Self { parents: parts, last })
    }

    /// How many containers are around what it points to.
    pub(crate) fn depth(&self) -> usize {
        self.parents.len() + 1
    }

    /// The container of the member that the pointer points to, present or not.
    pub(crate) fn parent<'a>(&self, document: &'a mut Value) -> Option<&'a mut Value> {
        let mut here = document;
        for part in &self.parents {
            here = match here {
                Value::Object(members) => members.get_mut(part)?,
                Value::Array(items) => {
                    let at = index(part, items.len())?;
                    items.get_mut(at)?
                }
                _ => return None,
            };
        }
        (here.is_object() || here.is_array()).then_some(here)
    }
}

/// An index into a list of that length: an existing one.
pub(crate) fn index(text: &str, length: usize) -> Option<usize> {
    let at = place(text, length)?;
    (at < length).then_some(at)
}

/// A place in a list of that many places, negative ones counted from the end.
pub(crate) fn place(text: &str, places: usize) -> Option<usize> {
    let number = text.parse::<i64>().ok()?;
    if number >= 0 {
        usize::try_from(number).ok()
    } else {
        places.checked_sub(usize::try_from(number.unsigned_abs()).ok()?)
    }
}

fn unescape(part: &str) -> String {
    let mut text = String::with_capacity(part.len());
    let mut rest = part;
    while let Some(at) = rest.find('~') {
        let (before, from) = rest.split_at(at);
        text.push_str(before);
        let (known, length) = match from.as_bytes().get(1) {
            Some(b'1') => ('/', 2),
            Some(b'0') => ('~', 2),
            _ => ('~', 1),
        };
        text.push(known);
        rest = &from[length..];
    }
    text.push_str(rest);
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pointer_unescapes_once_and_ignores_what_is_before_the_first_slash() {
        let pointer = Pointer::parse("x/a~1b/~01/~2~").unwrap();
        assert_eq!(pointer.parents, ["a/b", "~1"]);
        assert_eq!(pointer.last, "~2~");
        assert_eq!(Pointer::parse("a"), None);
    }

    #[test]
    fn an_index_may_count_from_the_end() {
        assert_eq!(index("-1", 3), Some(2));
        assert_eq!(index("-4", 3), None);
        assert_eq!(index("3", 3), None);
        assert_eq!(place("3", 4), Some(3));
        assert_eq!(index("one", 3), None);
    }
}
