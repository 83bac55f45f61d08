//! The words of an expression.

/// One word and the character at which it begins.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Token {
    pub(super) word: Word,
    pub(super) at: usize,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Word {
    /// A name; one in backticks may hold more than letters and is never a keyword.
    Name(String),
    Int(i64),
    Uint(u64),
    Double(f64),
    Text(String),
    Bytes(Vec<u8>),
    Sign(&'static str),
    End,
}

/// Longer ones first.
const SIGNS: &[&str] = &[
    "&&", "||", "==", "!=", "<=", ">=", "<", ">", "+", "-", "*", "/", "%", "!", "?", ":", ".", ",",
    "(", ")", "[", "]", "{", "}",
];

/// The words, or a mistake and its place.
pub(super) fn words(text: &str) -> Result<Vec<Token>, (usize, String)> {
    let mut lexer = Lexer { text: text.chars().collect(), at: 0 };
    let mut words = Vec::new();
    loop {
        lexer.skip();
        let at = lexer.at;
        let word = lexer.word()?;
        let ends = word == Word::End;
        words.push(Token { word, at });
        if ends {
            return Ok(words);
        }
    }
}

struct Lexer {
    text: Vec<char>,
    at: usize,
}

impl Lexer {
    fn peek(&self, ahead: usize) -> char {
        self.text.get(self.at + ahead).copied().unwrap_or('\0')
    }

    fn skip(&mut self) {
        loop {
            if self.peek(0).is_ascii_whitespace() {
                self.at += 1;
            } else if self.peek(0) == '/' && self.peek(1) == '/' {
                while self.at < self.text.len() && self.peek(0) != '\n' {
                    self.at += 1;
                }
            } else {
                return;
            }
        }
    }

    fn word(&mut self) -> Result<Word, (usize, String)> {
        let first = self.peek(0);
        if self.at >= self.text.len() {
            return Ok(Word::End);
        }
        let is_number = first.is_ascii_digit() || first == '.' && self.peek(1).is_ascii_digit();
        if is_number {
            return self.number();
        }
        if let Some((is_raw, is_bytes, length)) = self.prefix() {
            return self.text(is_raw, is_bytes, length);
        }
        if first.is_ascii_alphabetic() || first == '_' {
            let from = self.at;
            while self.peek(0).is_ascii_alphanumeric() || self.peek(0) == '_' {
                self.at += 1;
            }
            return Ok(Word::Name(self.text[from..self.at].iter().collect()));
        }
        let sign = SIGNS
            .iter()
            .find(|sign| sign.chars().enumerate().all(|(index, it)| self.peek(index) == it));
        if let Some(sign) = sign {
            self.at += sign.len();
            return Ok(Word::Sign(sign));
        }
        Err((self.at, format!("Syntax error: token recognition error at: '{first}'")))
    }

    fn number(&mut self) -> Result<Word, (usize, String)> {
        let from = self.at;
        let wrong = |why: &str| (from, why.to_owned());
        let is_hex = self.peek(0) == '0' && matches!(self.peek(1), 'x' | 'X');
        let mut is_double = false;
        if is_hex {
            self.at += 2;
            while self.peek(0).is_ascii_hexdigit() {
                self.at += 1;
            }
        } else {
            self.digits();
            if self.peek(0) == '.' && self.peek(1).is_ascii_digit() {
                is_double = true;
                self.at += 1;
                self.digits();
            }
            let sign = usize::from(matches!(self.peek(1), '+' | '-'));
            if matches!(self.peek(0), 'e' | 'E') && self.peek(1 + sign).is_ascii_digit() {
                is_double = true;
                self.at += 1 + sign;
                self.digits();
            }
        }
        let text: String = self.text[from..self.at].iter().collect();
        if is_double {
            return text.parse().map(Word::Double).map_err(|_| wrong("invalid double literal"));
        }
        let (digits, base) = if is_hex { (&text[2..], 16) } else { (&*text, 10) };
        if matches!(self.peek(0), 'u' | 'U') {
            self.at += 1;
            let number = u64::from_str_radix(digits, base);
            return number.map(Word::Uint).map_err(|_| wrong("invalid uint literal"));
        }
        match u64::from_str_radix(digits, base) {
            // The least whole number is written with a minus before one that does not fit.
            Ok(number) if number <= 1 << 63 => Ok(Word::Int(number as i64)),
            _ => Err(wrong("invalid int literal")),
        }
    }

    fn digits(&mut self) {
        while self.peek(0).is_ascii_digit() {
            self.at += 1;
        }
    }

    /// Whether a text begins here: raw, bytes, and the length of its prefix.
    fn prefix(&self) -> Option<(bool, bool, usize)> {
        let (mut is_raw, mut is_bytes, mut length) = (false, false, 0);
        loop {
            match self.peek(length) {
                '"' | '\'' => return Some((is_raw, is_bytes, length)),
                'r' | 'R' if !is_raw => is_raw = true,
                'b' | 'B' if !is_bytes => is_bytes = true,
                _ => return None,
            }
            length += 1;
        }
    }

    fn text(
        &mut self,
        is_raw: bool,
        is_bytes: bool,
        prefix: usize,
    ) -> Result<Word, (usize, String)> {
        let from = self.at;
        self.at += prefix;
        let quote = self.peek(0);
        let is_long = self.peek(1) == quote && self.peek(2) == quote;
        let length = if is_long { 3 } else { 1 };
        self.at += length;
        let (mut text, mut bytes) = (String::new(), Vec::new());
        loop {
            if self.at >= self.text.len() || self.peek(0) == '\n' && !is_long {
                return Err((from, "Syntax error: token recognition error".to_owned()));
            }
            if (0..length).all(|index| self.peek(index) == quote) {
                self.at += length;
                return Ok(if is_bytes { Word::Bytes(bytes) } else { Word::Text(text) });
            }
            let mut add = |it: char, is_octet: bool| {
                if is_octet {
                    bytes.push(it as u32 as u8);
                } else {
                    bytes.extend(it.encode_utf8(&mut [0; 4]).as_bytes());
                }
                text.push(it);
            };
            if self.peek(0) == '\\' && !is_raw {
                let (it, is_octet) = self.escape(from)?;
                add(it, is_octet);
            } else {
                add(self.peek(0), false);
                self.at += 1;
            }
        }
    }

    fn escape(&mut self, from: usize) -> Result<(char, bool), (usize, String)> {
        let kind = self.peek(1);
        self.at += 2;
        let simple = match kind {
            'a' => '\u{7}',
            'b' => '\u{8}',
            'f' => '\u{c}',
            'n' => '\n',
            'r' => '\r',
            't' => '\t',
            'v' => '\u{b}',
            '\\' | '?' | '"' | '\'' | '`' => kind,
            _ => '\0',
        };
        if simple != '\0' {
            return Ok((simple, false));
        }
        let (length, base) = match kind {
            'x' | 'X' => (2, 16),
            'u' => (4, 16),
            'U' => (8, 16),
            '0'..='3' => {
                self.at -= 1;
                (3, 8)
            }
            _ => return Err((from, "Syntax error: token recognition error".to_owned())),
        };
        let digits: String = (0..length).map(|index| self.peek(index)).collect();
        self.at += length;
        let code = u32::from_str_radix(&digits, base).ok().and_then(char::from_u32);
        let is_octet = matches!(kind, 'x' | 'X' | '0'..='3');
        code.map(|it| (it, is_octet)).ok_or((from, "invalid escape sequence".to_owned()))
    }
}
