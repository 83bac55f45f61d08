//! The part of JSON that a record in an annotation needs.
//!
//! The record is the only JSON of this module. Written here, its text matches the reference byte
//! for byte (including escapes), and exactly the texts that the reference accepts are accepted. A
//! general library would have to be adapted for both.

use std::fmt;

/// How deep skipped values may be nested.
const DEPTH_MAX: usize = 10_000;

/// Why a text is not an election record.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct JsonError {
    /// The position, in bytes.
    pub at: usize,
    /// The syntax that was expected there.
    pub expected: &'static str,
}

impl fmt::Display for JsonError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "expected {} at byte {}", self.expected, self.at)
    }
}

impl std::error::Error for JsonError {}

/// Writes a string with the reference's escapes, which include `<`, `>`, `&` and the two line
/// separators.
pub(super) fn write_string(out: &mut String, text: &str) {
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            '\0'..='\x1f' | '<' | '>' | '&' | '\u{2028}' | '\u{2029}' => {
                out.push_str("\\u");
                for shift in [12, 8, 4, 0] {
                    let digit = (u32::from(c) >> shift) & 15;
                    out.push(char::from_digit(digit, 16).expect("four bits are a digit"));
                }
            }
            _ => out.push(c),
        }
    }
    out.push('"');
}

/// Reads a JSON text from left to right.
pub(super) struct Reader<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Reader<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Self { text, at: 0 }
    }

    pub(super) fn error(&self, expected: &'static str) -> JsonError {
        JsonError { at: self.at, expected }
    }

    /// Returns the next byte that is not white space, without taking it.
    fn peek(&mut self) -> Option<u8> {
        let bytes = self.text.as_bytes();
        while matches!(bytes.get(self.at), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
        bytes.get(self.at).copied()
    }

    /// Takes the next byte if it is the given one.
    pub(super) fn take(&mut self, byte: u8) -> bool {
        let found = self.peek() == Some(byte);
        self.at += usize::from(found);
        found
    }

    pub(super) fn need(&mut self, byte: u8, expected: &'static str) -> Result<(), JsonError> {
        if self.take(byte) { Ok(()) } else { Err(self.error(expected)) }
    }

    /// Takes `null` if it comes next.
    pub(super) fn null(&mut self) -> Result<bool, JsonError> {
        if self.peek() != Some(b'n') {
            return Ok(false);
        }
        self.word("null").map(|()| true)
    }

    pub(super) fn end(&mut self) -> Result<(), JsonError> {
        if self.peek().is_none() { Ok(()) } else { Err(self.error("the end")) }
    }

    fn word(&mut self, word: &'static str) -> Result<(), JsonError> {
        if self.text.as_bytes()[self.at..].starts_with(word.as_bytes()) {
            self.at += word.len();
            Ok(())
        } else {
            Err(self.error(word))
        }
    }

    pub(super) fn string(&mut self) -> Result<String, JsonError> {
        self.need(b'"', "a string")?;
        let mut out = String::new();
        loop {
            let rest = &self.text[self.at..];
            let plain = rest
                .find(|c: char| c == '"' || c == '\\' || c < ' ')
                .ok_or_else(|| self.error("the end of a string"))?;
            out.push_str(&rest[..plain]);
            self.at += plain;
            match self.text.as_bytes()[self.at] {
                b'"' => {
                    self.at += 1;
                    return Ok(out);
                }
                b'\\' => {
                    self.at += 1;
                    out.push(self.escape()?);
                }
                _ => return Err(self.error("no control character in a string")),
            }
        }
    }

    fn escape(&mut self) -> Result<char, JsonError> {
        let byte = self.text.as_bytes().get(self.at).copied();
        let c = match byte {
            Some(b'u') => {
                self.at += 1;
                return self.unicode_escape();
            }
            Some(c @ (b'"' | b'\\' | b'/')) => char::from(c),
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            _ => return Err(self.error("an escape")),
        };
        self.at += 1;
        Ok(c)
    }

    /// Reads the digits after `\u`; half a surrogate pair becomes the replacement character.
    fn unicode_escape(&mut self) -> Result<char, JsonError> {
        let first = self.four_digits()?;
        if !(0xd800..0xdc00).contains(&first) {
            return Ok(char::from_u32(first).unwrap_or(char::REPLACEMENT_CHARACTER));
        }
        let after_first = self.at;
        if self.text.as_bytes()[self.at..].starts_with(b"\\u") {
            self.at += 2;
            let second = self.four_digits()?;
            if (0xdc00..0xe000).contains(&second) {
                let code = 0x1_0000 + ((first - 0xd800) << 10) + (second - 0xdc00);
                return Ok(char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER));
            }
            self.at = after_first;
        }
        Ok(char::REPLACEMENT_CHARACTER)
    }

    fn four_digits(&mut self) -> Result<u32, JsonError> {
        let digits = self.text.get(self.at..self.at + 4);
        let code = digits
            .filter(|digits| digits.bytes().all(|b| b.is_ascii_hexdigit()))
            .and_then(|digits| u32::from_str_radix(digits, 16).ok())
            .ok_or_else(|| self.error("four hexadecimal digits"))?;
        self.at += 4;
        Ok(code)
    }

    /// Reads a whole number of 64 bits; a fraction or an exponent is refused.
    pub(super) fn integer(&mut self) -> Result<i64, JsonError> {
        self.peek();
        let from = self.at;
        self.number()?;
        self.text[from..self.at].parse().map_err(|_| JsonError { at: from, expected: "an integer" })
    }

    fn number(&mut self) -> Result<(), JsonError> {
        let bytes = self.text.as_bytes();
        self.at += usize::from(bytes.get(self.at) == Some(&b'-'));
        if bytes.get(self.at) == Some(&b'0') {
            self.at += 1;
        } else {
            self.digits()?;
        }
        if bytes.get(self.at) == Some(&b'.') {
            self.at += 1;
            self.digits()?;
        }
        if matches!(bytes.get(self.at), Some(b'e' | b'E')) {
            self.at += 1;
            self.at += usize::from(matches!(bytes.get(self.at), Some(b'+' | b'-')));
            self.digits()?;
        }
        Ok(())
    }

    fn digits(&mut self) -> Result<(), JsonError> {
        let rest = &self.text.as_bytes()[self.at..];
        let count = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
        self.at += count;
        if count == 0 { Err(self.error("a digit")) } else { Ok(()) }
    }

    /// Skips any value. Open brackets are kept in a list and not on the stack, because the text is
    /// not trusted.
    pub(super) fn skip(&mut self) -> Result<(), JsonError> {
        let mut open: Vec<u8> = vec![];
        loop {
            let opened = self.skip_scalar_or_open(&mut open)?;
            if opened {
                continue;
            }
            loop {
                match open.last() {
                    None => return Ok(()),
                    Some(&close) if self.take(close) => {
                        open.pop();
                    }
                    Some(&close) => {
                        self.need(b',', "a comma or the end of a list")?;
                        if close == b'}' {
                            self.key()?;
                        }
                        break;
                    }
                }
            }
        }
    }

    /// Returns true if a non-empty list or object was opened, so that a value must follow.
    fn skip_scalar_or_open(&mut self, open: &mut Vec<u8>) -> Result<bool, JsonError> {
        match self.peek() {
            Some(bracket @ (b'[' | b'{')) => {
                let close = if bracket == b'[' { b']' } else { b'}' };
                self.at += 1;
                if self.take(close) {
                    return Ok(false);
                }
                if open.len() == DEPTH_MAX {
                    return Err(self.error("fewer brackets"));
                }
                open.push(close);
                if close == b'}' {
                    self.key()?;
                }
                return Ok(true);
            }
            Some(b'"') => drop(self.string()?),
            Some(b't') => self.word("true")?,
            Some(b'f') => self.word("false")?,
            Some(b'n') => self.word("null")?,
            _ => self.number().map_err(|e| JsonError { expected: "a value", ..e })?,
        }
        Ok(false)
    }

    /// Reads the name of a member and its colon.
    pub(super) fn key(&mut self) -> Result<String, JsonError> {
        let key = self.string()?;
        self.need(b':', "a colon")?;
        Ok(key)
    }
}
