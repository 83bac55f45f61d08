//! Regular expressions as Go reads them. None of them runs longer than its length times that of the text.

use regex::{Regex, RegexBuilder};

/// How large a compiled expression may be, in bytes.
const LARGEST: usize = 1 << 20;

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

/// Classes of letters and digits are those of ASCII, and what this crate reads otherwise is written so that it
/// means what it means in Go: brackets and pairs of signs in a class, braces that count nothing, quoted texts.
fn ascii(text: &str) -> String {
    let mut made = String::with_capacity(text.len());
    let (mut rest, mut is_class) = (text, false);
    while let Some(it) = rest.chars().next() {
        let after = &rest[it.len_utf8()..];
        rest = match it {
            '\\' => escape(after, is_class, &mut made),
            '[' if is_class => match after.find(":]").filter(|_| after.starts_with(':')) {
                Some(end) => {
                    made.extend(["[", &after[..end + 2]]);
                    &after[end + 2..]
                }
                None => {
                    made.push_str("\\[");
                    after
                }
            },
            '[' => {
                is_class = true;
                let (head, after) = match after.strip_prefix('^') {
                    Some(after) => ("[^", after),
                    None => ("[", after),
                };
                made.push_str(head);
                // The first one does not end the class.
                let first = after.strip_prefix(']');
                made.extend(first.map(|_| "\\]"));
                first.unwrap_or(after)
            }
            ']' if is_class => {
                is_class = false;
                made.push(']');
                after
            }
            '-' if is_class && after.starts_with('-') => {
                made.push_str("-\\-");
                &after[1..]
            }
            '&' | '~' if is_class => {
                made.extend(['\\', it]);
                after
            }
            '{' if !is_class && !counts(after) => {
                made.push_str("\\{");
                after
            }
            _ => {
                made.push(it);
                after
            }
        };
    }
    made
}

/// Writes what follows a backslash, and returns what comes after it.
fn escape<'a>(after: &'a str, is_class: bool, made: &mut String) -> &'a str {
    let Some(it) = after.chars().next() else {
        made.push('\\');
        return after;
    };
    let rest = &after[it.len_utf8()..];
    match it {
        'd' => made.push_str("[0-9]"),
        'D' => made.push_str("[^0-9]"),
        'w' => made.push_str("[0-9A-Za-z_]"),
        'W' => made.push_str("[^0-9A-Za-z_]"),
        's' => made.push_str("[\\t\\n\\f\\r ]"),
        'S' => made.push_str("[^\\t\\n\\f\\r ]"),
        'b' if !is_class => made.push_str("(?-u:\\b)"),
        'Q' if !is_class => {
            let (quoted, after) = rest.split_once("\\E").unwrap_or((rest, ""));
            made.push_str(&regex::escape(quoted));
            return after;
        }
        other => made.extend(['\\', other]),
    }
    rest
}

/// Whether a number of repeats follows a brace.
fn counts(after: &str) -> bool {
    let Some((inner, _)) = after.split_once('}') else { return false };
    let (least, most) = inner.split_once(',').unwrap_or((inner, ""));
    let is_number = |it: &str| it.bytes().all(|it| it.is_ascii_digit());
    !least.is_empty() && is_number(least) && is_number(most)
}

#[cfg(test)]
mod tests {
    use super::compile;

    #[test]
    fn what_go_reads_otherwise_means_the_same() {
        for (pattern, text, fits) in [
            ("^[^[]+$", "ab", true),
            ("^[^[]+$", "a[", false),
            ("^[a-z[]+$", "a[", true),
            ("^[]a]+$", "a]", true),
            ("^[[:alpha:]&&]+$", "a&", true),
            ("^[+--]$", ",", true),
            ("^[a~~b]+$", "~", true),
            ("^{{.*}}$", "{{x}}", true),
            ("^\\${.*}$", "${x}", true),
            ("^a{2,3}$", "aaa", true),
            ("^a{,3}$", "a{,3}", true),
            ("^\\Qa.b\\E$", "a.b", true),
            ("^\\Qa.b\\E$", "axb", false),
            ("^[\\d.]+$", "1.2", true),
            ("^\\w+$", "\u{e9}", false),
        ] {
            let compiled = compile(pattern).unwrap_or_else(|why| panic!("{pattern}: {why}"));
            assert_eq!(compiled.is_match(text), fits, "{pattern} on {text}");
        }
        for wrong in ["[a", "(a", "a{3,2}"] {
            assert!(compile(wrong).is_err(), "{wrong}");
        }
    }
}
