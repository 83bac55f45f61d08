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
/// How many a letter beyond ASCII has at most: its bytes.
const WIDE: u64 = 4;
/// What each expression weighs however short it is: what is around its states takes some kilobytes.
const BASE: u64 = 50;

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
                let (states, next) = class(after);
                rest = next;
                states
            }
            '\\' if after.starts_with('Q') => {
                let (quoted, next) = after[1..].split_once("\\E").unwrap_or((&after[1..], ""));
                rest = next;
                // Only its last letter is repeated by what follows.
                let Some(letter) = quoted.chars().next_back() else { continue };
                let states = (quoted.len() - letter.len_utf8()) as u64;
                all.add(std::mem::replace(&mut last, Size { states, repeats: 1 }));
                letter.len_utf8() as u64
            }
            '\\' => {
                let (states, next) = sign(after);
                rest = next;
                states
            }
            '.' => OTHERS,
            other => other.len_utf8() as u64,
        };
        all.add(std::mem::replace(&mut last, Size { states, repeats: 1 }));
    }
    all.add(last);
    Ok(around
        .into_iter()
        .fold(all.states, |sum, it| sum.saturating_add(it.states))
        .saturating_add(BASE))
}

/// About how many states the sign behind a backslash has, and what comes after it.
fn sign(after: &str) -> (u64, &str) {
    let Some(kind) = after.chars().next() else { return (1, after) };
    let rest = &after[kind.len_utf8()..];
    // A name or a number in braces is no count of repeats.
    let braced = rest.starts_with('{').then(|| rest.find('}').map_or("", |end| &rest[end + 1..]));
    match kind {
        'p' | 'P' => {
            let short = || rest.chars().next().map_or("", |it| &rest[it.len_utf8()..]);
            (NAMED, braced.unwrap_or_else(short))
        }
        'x' | 'u' | 'U' => {
            // Two digits are a letter of ASCII up to 7f.
            let is_wide = kind != 'x' || rest.starts_with(|it| !matches!(it, '0'..='7'));
            let digits = if kind == 'x' { rest.get(2..) } else { None };
            (if is_wide { WIDE } else { 1 }, braced.or(digits).unwrap_or(rest))
        }
        'd' | 'w' | 's' => (WRITTEN, rest),
        'D' | 'W' | 'S' => (OTHERS, rest),
        other => (other.len_utf8() as u64, rest),
    }
}

/// About how many states a class of letters has, whose first bracket is before this text, and what comes after it.
/// Each sign that stands for letters beyond ASCII counts: it may begin a range of them.
fn class(text: &str) -> (u64, &str) {
    let others = text.strip_prefix('^');
    let mut states = if others.is_some() { OTHERS } else { 0 };
    let inner = others.unwrap_or(text);
    // The first one does not end the class.
    let mut rest = inner.strip_prefix(']').unwrap_or(inner);
    while let Some(it) = rest.chars().next() {
        rest = &rest[it.len_utf8()..];
        match it {
            ']' => break,
            '[' if rest.starts_with(':') => {
                states += if rest.starts_with(":^") { OTHERS } else { 0 };
                rest = rest.find(":]").map_or(rest, |end| &rest[end + 2..]);
            }
            '\\' => {
                let (own, next) = sign(rest);
                rest = next;
                states += match own {
                    NAMED => NAMED,
                    0..=WRITTEN => 0,
                    _ => OTHERS,
                };
            }
            it if !it.is_ascii() => states += OTHERS,
            _ => {}
        }
    }
    (states.max(WRITTEN), rest)
}

#[cfg(test)]
mod tests {
    use super::{BASE, compile, weight};

    #[test]
    fn what_is_repeated_counts_as_often_and_go_refuses_more_than_a_thousand() {
        for (pattern, states) in [
            ("", 0),
            ("abc", 3),
            ("a{3}", 3),
            ("(ab){3}c", 7),
            ("(?:a{10}){100}", 1000),
            ("(?i)[^]a]b?", 11),
            ("[^^](\\w{99}){10}", 1990),
            ("[]](a{9}){2}", 20),
            ("[\\s\\S]{900}", 9000),
            ("[a\\x{80}-\\x{10FFFF}]{900}", 18_000),
            ("[\\xff]{9}[\\x20-\\x7e]{9}", 108),
            ("[[:^alpha:]]{9}", 90),
            ("[\u{4e00}-\u{9fa5}]{9}", 180),
            ("\u{e9}{9}", 18),
            ("\\x{2028}{2}", 8),
            ("\\x20{9}\\xff{9}", 45),
            ("\\Q{2000}\\E", 6),
            ("\\Qab\\E{3}c\\Q\\E{3}", 7),
            ("\\Qa", 1),
            ("[[:alpha:]\\]]{2}", 4),
            ("\\pL{2}", 600),
            ("a{2,}|b{,3}", 7),
            ("\\d{4}-\\d\\{9}", 14),
        ] {
            assert_eq!(weight(pattern), Ok(BASE + states), "{pattern}");
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
        for broken in [
            "[", "[^", "(", "(?", ")", "\\", "[\\", "[[:", "{", "a{", "(?P<", "[]", "\\p", "\\x{",
            "\\Q", "\\p{",
        ] {
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
            ("^\\x{2028}$", "\u{2028}", true),
            ("^[\\x{2028}]{2}$", "\u{2028}\u{2028}", true),
            ("^\\Q{2000}\\E$", "{2000}", true),
        ] {
            let compiled = compile(pattern).unwrap_or_else(|why| panic!("{pattern}: {why}"));
            assert_eq!(compiled.is_match(text), fits, "{pattern} on {text}");
        }
        for wrong in ["[a", "(a", "a{3,2}"] {
            assert!(compile(wrong).is_err(), "{wrong}");
        }
    }
}
