//! Fields whose names are no names of the language are written in another way.

const KEYWORDS: &[&str] = &[
    "true",
    "false",
    "null",
    "in",
    "as",
    "break",
    "const",
    "continue",
    "else",
    "for",
    "function",
    "if",
    "import",
    "let",
    "loop",
    "package",
    "namespace",
    "return",
    "var",
    "void",
    "while",
];
const PARTS: &[(&str, &str)] =
    &[("__underscores__", "__"), ("__dot__", "."), ("__dash__", "-"), ("__slash__", "/")];

/// The field that a name stands for.
pub(super) fn plain(name: &str) -> String {
    let inner = name.strip_prefix("__").and_then(|it| it.strip_suffix("__"));
    if let Some(word) = inner.filter(|it| KEYWORDS.contains(it)) {
        return word.to_owned();
    }
    let (mut text, mut rest) = (String::new(), name);
    'next: while let Some(first) = rest.chars().next() {
        for (written, meant) in PARTS {
            if let Some(after) = rest.strip_prefix(written) {
                text.push_str(meant);
                rest = after;
                continue 'next;
            }
        }
        text.push(first);
        rest = &rest[first.len_utf8()..];
    }
    text
}

/// Whether a name may not be that of a variable.
pub(crate) fn is_reserved(name: &str) -> bool {
    KEYWORDS.contains(&name)
}

/// Whether a field can be written at all.
pub(super) fn is_writable(field: &str) -> bool {
    let starts = field.starts_with(|it: char| it.is_ascii_alphabetic() || it == '_');
    let rest = |it: char| it.is_ascii_alphanumeric() || matches!(it, '_' | '.' | '-' | '/');
    starts && field.chars().all(rest)
}
