//! Percent-encoding, both ways.

use std::fmt;

use super::error::BuildError;

const DIGITS: &[u8; 16] = b"0123456789ABCDEF";

/// The characters besides letters and digits that are not escaped in a path.
pub(super) const PATH: &[u8] = b"-_.~$&+,/:;=@";
/// The characters besides letters and digits that are not escaped in a query.
const QUERY: &[u8] = b"-_.~";

/// Appends `bytes`; escapes everything but letters, digits and the bytes in `kept`.
pub(super) fn escape(text: &mut String, bytes: &[u8], kept: &[u8]) {
    for &byte in bytes {
        if byte.is_ascii_alphanumeric() || kept.contains(&byte) {
            text.push(char::from(byte));
        } else {
            text.push('%');
            text.push(char::from(DIGITS[usize::from(byte >> 4)]));
            text.push(char::from(DIGITS[usize::from(byte & 15)]));
        }
    }
}

/// A writer that appends to a text as part of a query. A space becomes `+`.
pub(super) struct Form<'a>(pub(super) &'a mut String);

impl fmt::Write for Form<'_> {
    fn write_str(&mut self, part: &str) -> fmt::Result {
        for (index, words) in part.split(' ').enumerate() {
            if index > 0 {
                self.0.push('+');
            }
            escape(self.0, words.as_bytes(), QUERY);
        }
        Ok(())
    }
}

/// Returns the text that `escaped` stands for; in a query `+` is a space.
///
/// # Errors
/// An escape is not `%` and two hexadecimal digits, or the bytes are not UTF-8.
pub(super) fn unescape(escaped: &str, in_query: bool) -> Result<String, BuildError> {
    let mut bytes = Vec::with_capacity(escaped.len());
    let mut rest = escaped.bytes();
    while let Some(byte) = rest.next() {
        bytes.push(match byte {
            b'%' => {
                let mut digit = || rest.next().and_then(|digit| char::from(digit).to_digit(16));
                let high = digit();
                let (high, low) =
                    high.zip(digit()).ok_or_else(|| BuildError::Escape(escaped.to_owned()))?;
                (high * 16 + low) as u8
            }
            b'+' if in_query => b' ',
            other => other,
        });
    }
    String::from_utf8(bytes).map_err(|_| BuildError::Escape(escaped.to_owned()))
}
