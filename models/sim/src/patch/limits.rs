//! The limits on the work of a patch: operations, copied bytes, nesting.

use serde_json::Value;

/// The operations that a JSON patch may have.
pub(crate) const OPERATIONS: usize = 10_000;
/// The bytes that the `copy` operations of one JSON patch may copy.
pub(crate) const COPIED_BYTES: usize = 3 * 1024 * 1024;
/// The values that the `move` operations of one JSON patch may move, with what is in them.
pub(crate) const MOVED_VALUES: usize = 2_000_000;
/// The items of lists that the operations of one JSON patch may shift.
pub(crate) const SHIFTED_ITEMS: usize = 8_000_000;
/// The items of lists that one strategic merge patch may go through.
pub(crate) const MERGED_ITEMS: usize = 4_000_000;
/// The nesting of an object. The parser of JSON bounds what it reads by the same number.
pub(crate) const DEPTH: usize = 128;

/// The size of a value: the depth of its nesting, the number of its values, and its length.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Measure {
    pub(crate) depth: usize,
    pub(crate) values: usize,
    /// About the length of its JSON text.
    pub(crate) bytes: usize,
}

/// Measures without recursion, since what it measures may be deeper than the stack allows.
pub(crate) fn measure(value: &Value) -> Measure {
    let mut found = Measure::default();
    let mut left = vec![(value, 1)];
    while let Some((value, depth)) = left.pop() {
        found.values += 1;
        found.depth = found.depth.max(depth);
        found.bytes += match value {
            Value::Null | Value::Bool(_) => 4,
            Value::Number(number) => number.to_string().len(),
            Value::String(text) => text.len() + 2,
            Value::Array(items) => {
                left.extend(items.iter().map(|item| (item, depth + 1)));
                items.len() + 1
            }
            Value::Object(members) => {
                left.extend(members.values().map(|member| (member, depth + 1)));
                members.keys().map(|key| key.len() + 4).sum::<usize>() + 1
            }
        };
    }
    found
}

/// Whether an object can be walked by recursion.
pub(crate) fn shallow(value: &Value) -> bool {
    fits(value, DEPTH)
}

/// Whether a value nests no deeper; it looks no deeper either.
fn fits(value: &Value, depth: usize) -> bool {
    depth > 0
        && match value {
            Value::Array(items) => items.iter().all(|item| fits(item, depth - 1)),
            Value::Object(members) => members.values().all(|member| fits(member, depth - 1)),
            _ => true,
        }
}
