//! Regular expressions as Go reads them. None of them runs longer than its length times that of the text.

use regex::{Regex, RegexBuilder};

/// How large a compiled expression may be, in bytes.
const LARGEST: usize = 10 << 20;

/// Compiles an expression; says why it is none.
pub(crate) fn compile(text: &str) -> Result<Regex, String> {
    let built = RegexBuilder::new(&ascii(text)).size_limit(LARGEST).dfa_size_limit(LARGEST).build();
    built.map_err(|why| {
        let why = why.to_string();
        let class = text.find('[').map_or(text, |at| &text[at..]);
        let what = if why.contains("unclosed character class") {
            format!("missing closing ]: `{class}`")
        } else if why.contains("unclosed group") {
            format!("missing closing ): `{text}`")
        } else {
            format!("`{text}`")
        };
        format!("error parsing regexp: {what}")
    })
}

/// Classes of letters and digits are those of ASCII, as in Go.
fn ascii(text: &str) -> String {
    let mut made = String::with_capacity(text.len());
    let mut letters = text.chars();
    while let Some(it) = letters.next() {
        if it != '\\' {
            made.push(it);
            continue;
        }
        match letters.next() {
            Some('d') => made.push_str("[0-9]"),
            Some('D') => made.push_str("[^0-9]"),
            Some('w') => made.push_str("[0-9A-Za-z_]"),
            Some('W') => made.push_str("[^0-9A-Za-z_]"),
            Some('s') => made.push_str("[\\t\\n\\f\\r ]"),
            Some('S') => made.push_str("[^\\t\\n\\f\\r ]"),
            Some('b') => made.push_str("(?-u:\\b)"),
            Some(other) => made.extend(['\\', other]),
            None => made.push('\\'),
        }
    }
    made
}
