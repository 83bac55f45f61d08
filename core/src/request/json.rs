//! JSON that is read, and where it cannot be. An error tells no values, which may be secrets.

use std::fmt;

use serde::de::DeserializeOwned;
use serde_json::error::Category;

use super::veil::Veil;

/// How much of a field's path is told.
const LONGEST: usize = 200;

/// Why a text is not the JSON that was asked for, and where. It quotes no value of the text.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct JsonError {
    fault: Fault,
    path: String,
    line: usize,
    column: usize,
    /// The type of the content, if it is not JSON.
    foreign: Option<String>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
enum Fault {
    /// It ends too early.
    Ends,
    /// It is no JSON; the reason is one of a few fixed texts.
    Syntax(String),
    /// It is JSON of another form.
    Form,
}

impl JsonError {
    /// Keeps what is safe of an error at a path.
    pub(super) fn new(error: &serde_json::Error, path: &str) -> Self {
        let fault = match error.classify() {
            Category::Eof => Fault::Ends,
            Category::Syntax => {
                let text = error.to_string();
                Fault::Syntax(text.split(" at line ").next().unwrap_or_default().to_owned())
            }
            Category::Data | Category::Io => Fault::Form, // its text quotes the value
        };
        let path = if path == "." { "" } else { path };
        let path = path.chars().take(LONGEST).collect();
        Self { fault, path, line: error.line(), column: error.column(), foreign: None }
    }

    /// Returns the path of the field, such as `items[3].spec.replicas`; empty if it is the whole
    /// text or is not known.
    #[must_use]
    pub fn path(&self) -> &str {
        &self.path
    }

    /// Returns line and column, both from one; zero if they are not known.
    #[must_use]
    pub const fn position(&self) -> (usize, usize) {
        (self.line, self.column)
    }

    /// Tells whether more of the text might have made it whole.
    pub(super) const fn is_cut(&self) -> bool {
        matches!(self.fault, Fault::Ends)
    }

    /// Sets the type of a content that is not JSON.
    pub(super) fn foreign(mut self, kind: Option<&str>) -> Self {
        self.foreign = kind.map(|kind| kind.chars().take(80).collect());
        self
    }

    /// Removes secrets from the names of fields, which may be a server's echo.
    pub(super) fn veiled(mut self, veil: &Veil) -> Self {
        self.path = veil.text(&self.path).into_owned();
        self
    }

    /// Tells where the value stands that was read alone: at a path, behind these bytes.
    fn within(mut self, path: &str, before: &[u8]) -> Self {
        let start = before.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        if self.line == 1 {
            self.column += before.len() - start;
        }
        self.line += before.iter().filter(|byte| **byte == b'\n').count();
        let dot = if self.path.is_empty() || self.path.starts_with('[') { "" } else { "." };
        self.path = format!("{path}{dot}{}", self.path);
        self
    }
}

/// Reads a text. Only where it cannot be read, it is read again to find the field.
pub(super) fn read<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, JsonError> {
    serde_json::from_slice(bytes).map_err(|why| {
        let mut text = serde_json::Deserializer::from_slice(bytes);
        let again = serde_path_to_error::deserialize::<_, T>(&mut text);
        JsonError::new(&why, &again.err().map_or_else(String::new, |it| it.path().to_string()))
    })
}

/// Reads a part of a text that stands at this path.
pub(super) fn read_part<T: DeserializeOwned>(
    whole: &[u8],
    part: &str,
    path: impl FnOnce() -> String,
) -> Result<T, JsonError> {
    read(part.as_bytes()).map_err(|why| {
        let offset = part.as_ptr().addr().saturating_sub(whole.as_ptr().addr());
        why.within(&path(), whole.get(..offset).unwrap_or_default())
    })
}

impl fmt::Display for JsonError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.fault {
            Fault::Ends => f.write_str("the JSON ends too early")?,
            Fault::Syntax(why) => write!(f, "it is no JSON: {why}")?,
            Fault::Form => f.write_str("a value has another form than is expected")?,
        }
        if !self.path.is_empty() {
            write!(f, " at `{}`", self.path)?;
        }
        if self.line > 0 {
            write!(f, " (line {}, column {})", self.line, self.column)?;
        }
        match &self.foreign {
            Some(kind) => write!(f, " (it is {kind})"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for JsonError {}
