//! Texts about mistakes, bounded in number and length: a request that makes many mistakes, or long
//! ones, costs no more memory than one that makes none.

use std::fmt::{self, Display, Write as _};

/// How many mistakes of one request are told, as a real server does.
pub(crate) const MOST: usize = 100;
/// The bytes of a text about one of them.
pub(crate) const LONGEST: usize = 8 * 1024;

/// A text that takes no more than it may: then writing to it fails.
struct Short(String);

impl fmt::Write for Short {
    fn write_str(&mut self, part: &str) -> fmt::Result {
        let room = LONGEST - self.0.len().min(LONGEST);
        if part.len() <= room {
            self.0.push_str(part);
            return Ok(());
        }
        let end = (0..=room).rev().find(|end| part.is_char_boundary(*end)).unwrap_or(0);
        self.0.push_str(&part[..end]);
        self.0.push_str("...");
        Err(fmt::Error)
    }
}

/// The text of a value, cut where it becomes too long. Nothing is rendered beyond that.
pub(crate) fn short(value: impl Display) -> String {
    let mut text = Short(String::new());
    // The only failure is that the text is full.
    write!(text, "{value}").ok();
    text.0
}

/// Adds a text to a list of mistakes, unless there are enough of them.
pub(crate) fn note(list: &mut Vec<String>, value: impl Display) {
    if list.len() < MOST {
        list.push(short(value));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_text_is_cut_between_letters_and_not_rendered_beyond() {
        struct Endless;
        impl Display for Endless {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                loop {
                    f.write_str("äöü")?;
                }
            }
        }
        let text = short(Endless);
        assert!(text.len() <= LONGEST + 3 && text.ends_with("..."), "{}", text.len());
        assert_eq!(short("short"), "short");
    }

    #[test]
    fn the_mistakes_after_the_hundredth_are_not_told() {
        let mut list = Vec::new();
        (0..1_000).for_each(|number| note(&mut list, number));
        assert_eq!(list.len(), MOST);
    }
}
