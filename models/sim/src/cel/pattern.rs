//! Regular expressions as Go reads them. None of them runs longer than its length times that of the text.

use regex::{Regex, RegexBuilder};

/// How large a compiled expression may be, in bytes.
const LARGEST: usize = 1 << 20;

/// How often something may be repeated, with the repeats around it: Go refuses more.
const MOST: u64 = 1000;

/// About how many states a class of letters has: one that is written out, one of all others, one with a name.
const WRITTEN: u64 = 2;
const OTHERS: u64 = 10;
const NAMED: u64 = 300;

/// Compiles an expression; says why it is none.
pub(crate) fn compile(text: &str) -> Result<Regex, String> {
    weight(text).map_err(|at| format!("error parsing regexp: invalid repeat count: `{at}`"))?;
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

/// A part of an expression: about how many states it has, and how often it repeats the most repeated part of it.
#[derive(Clone, Copy, Default)]
struct Size {
    states: u64,
    repeats: u64,
}

impl Size {
    fn add(&mut self, other: Self) {
        self.states = self.states.saturating_add(other.states);
        self.repeats = self.repeats.max(other.repeats);
    }
}

/// About how many states an expression has once it is compiled, which takes time and memory for each.
///
/// # Errors
/// It repeats something too often: these are the braces that say so.
pub(crate) fn weight(text: &str) -> Result<u64, &str> {
    // What is around a group, what is before the last part, and that part.
    let (mut around, mut all, mut last) = (Vec::new(), Size::default(), Size::default());
    let mut rest = text;
    while let Some(it) = rest.chars().next() {
        let (from, after) = (rest, &rest[it.len_utf8()..]);
        rest = after;
        let states = match it {
            '(' => {
                all.add(std::mem::take(&mut last));
                around.push(std::mem::take(&mut all));
                // Flags and names are no letters.
                let flags = after.strip_prefix('?').map_or(0, |it| {
                    1 + it
                        .find([':', ')', '>'])
                        .map_or(it.len(), |at| at + usize::from(&it[at..=at] != ")"))
                });
                rest = &after[flags..];
                continue;
            }
            ')' => {
                all.add(last);
                last = std::mem::replace(&mut all, around.pop().unwrap_or_default());
                continue;
            }
            '*' | '+' | '?' | '|' => continue,
            '{' if counts(after) => {
                let (inner, next) = after.split_once('}').unwrap_or((after, ""));
                let count = |it: &str| it.parse::<u64>().unwrap_or(u64::MAX);
                let (least, most) = inner.split_once(',').unwrap_or((inner, inner));
                let count =
                    if most.is_empty() { count(least) } else { count(least).max(count(most)) };
                last.repeats = last.repeats.max(1).saturating_mul(count);
                last.states = last.states.saturating_mul(count.max(1));
                if last.repeats > MOST {
                    return Err(&from[..from.len() - next.len()]);
                }
                rest = next;
                continue;
            }
            '[' => {
                let end = class(after);
                rest = &after[end..];
                let names = ["\\p", "\\P"].map(|it| after[..end].matches(it).count() as u64);
                let own = if after.starts_with('^') { OTHERS } else { WRITTEN };
                own + NAMED * (names[0] + names[1])
            }
            '\\' => {
                let kind = after.chars().next().unwrap_or(' ');
                rest = &after[kind.len_utf8().min(after.len())..];
                match kind {
                    'p' | 'P' => {
                        let name = if rest.starts_with('{') { rest.find('}') } else { Some(0) };
                        let end = name.map_or(rest.len(), |at| at + 1);
                        rest = rest.get(end..).unwrap_or("");
                        NAMED
                    }
                    'd' | 'w' | 's' => WRITTEN,
                    'D' | 'W' | 'S' => OTHERS,
                    _ => 1,
                }
            }
            '.' => OTHERS,
            _ => 1,
        };
        all.add(std::mem::replace(&mut last, Size { states, repeats: 1 }));
    }
    all.add(last);
    Ok(around.into_iter().fold(all.states, |sum, it| sum.saturating_add(it.states)))
}

/// Where a class of letters ends, whose first bracket is before this text.
fn class(text: &str) -> usize {
    let begin = text.len() - text.trim_start_matches('^').trim_start_matches(']').len();
    let mut at = begin;
    while let Some(found) = text[at..].find([']', '\\', '[']) {
        at += found;
        at += match &text.as_bytes()[at..] {
            [b']', ..] => return at + 1,
            [b'[', b':', ..] => text[at..].find(":]").map_or(1, |end| end + 2),
            [b'\\', ..] => 1 + text[at + 1..].chars().next().map_or(0, char::len_utf8),
            _ => 1,
        };
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::{compile, weight};

    #[test]
    fn what_is_repeated_counts_as_often_and_go_refuses_more_than_a_thousand() {
        for (pattern, states) in [
            ("", 0),
            ("abc", 3),
            ("a{3}", 3),
            ("(ab){3}c", 7),
            ("(?:a{10}){100}", 1000),
            ("(?i)[^]a]b?", 11),
            ("[[:alpha:]\\]]{2}", 4),
            ("\\pL{2}", 600),
            ("a{2,}|b{,3}", 7),
            ("\\d{4}-\\d\\{9}", 14),
        ] {
            assert_eq!(weight(pattern), Ok(states), "{pattern}");
        }
        for (pattern, at) in [
            ("a{1001}", "{1001}"),
            ("(a{500}){3}", "{3}"),
            ("((a{10}|b){20}c){0,6}", "{0,6}"),
            ("a{99999999999999999999}", "{99999999999999999999}"),
        ] {
            assert_eq!(weight(pattern), Err(at), "{pattern}");
            let why = format!("error parsing regexp: invalid repeat count: `{at}`");
            assert_eq!(compile(pattern).map(drop), Err(why));
        }
        for broken in
            ["[", "[^", "(", "(?", ")", "\\", "[\\", "[[:", "{", "a{", "(?P<", "[]", "\\p"]
        {
            assert!(weight(broken).is_ok(), "{broken}");
        }
    }

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
