//! The methods of requests.

use std::fmt;

/// The method of a request.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum Verb {
    /// Reads.
    Get,
    /// Creates.
    Post,
    /// Replaces.
    Put,
    /// Changes.
    Patch,
    /// Deletes.
    Delete,
    /// Any other, in upper case.
    Other(String),
}

impl Verb {
    /// Returns the text that goes over the wire.
    pub fn as_str(&self) -> &str {
        match self {
            Self::Get => "GET",
            Self::Post => "POST",
            Self::Put => "PUT",
            Self::Patch => "PATCH",
            Self::Delete => "DELETE",
            Self::Other(verb) => verb,
        }
    }
}

impl From<&str> for Verb {
    fn from(verb: &str) -> Self {
        match verb {
            "GET" => Self::Get,
            "POST" => Self::Post,
            "PUT" => Self::Put,
            "PATCH" => Self::Patch,
            "DELETE" => Self::Delete,
            other => Self::Other(other.to_owned()),
        }
    }
}

impl fmt::Display for Verb {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
