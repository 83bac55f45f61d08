//! Checks that a text is one segment of a path (`election:RQ-10`).

use super::error::{BuildError, Part};

/// Checks that `text` is one segment wherever it is put, so that no value from a caller can change
/// which object a request is about (`election:RINV-13`). Empty text passes.
pub(super) fn check(part: Part, text: &str) -> Result<(), BuildError> {
    let why: Vec<_> = match text {
        "." => vec!["may not be '.'"],
        ".." => vec!["may not be '..'"],
        _ => [('/', "may not contain '/'"), ('%', "may not contain '%'")]
            .into_iter()
            .filter(|(letter, _)| text.contains(*letter))
            .map(|(_, why)| why)
            .collect(),
    };
    if why.is_empty() {
        return Ok(());
    }
    Err(BuildError::Invalid { part, text: text.to_owned(), why })
}
