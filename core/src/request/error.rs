//! Why a request cannot be made.

use std::fmt;
use std::sync::Arc;

use super::json::JsonError;

/// A part of a request's path that can be set once.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum Part {
    /// The namespace.
    Namespace,
    /// The resource.
    Resource,
    /// The name of one object.
    Name,
    /// The subresource, such as `status`.
    SubResource,
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Namespace => "namespace",
            Self::Resource => "resource",
            Self::Name => "resource name",
            Self::SubResource => "subresource",
        })
    }
}

/// Why a request cannot be made. It is the first mistake made in the builder (`election:RQ-9`).
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum BuildError {
    /// The host is empty.
    NoHost,
    /// The base address is not a URL: the address, and why.
    Base(String, &'static str),
    /// A part was set before.
    AlreadySet {
        /// The part.
        part: Part,
        /// Its present value.
        old: String,
        /// The value that was refused.
        new: String,
    },
    /// A part is not a single segment of the path (`election:RQ-10`).
    Invalid {
        /// The part.
        part: Part,
        /// The text.
        text: String,
        /// The reasons.
        why: Vec<&'static str>,
    },
    /// The name is empty, which would address the whole collection.
    EmptyName,
    /// An escape is not `%` and two hexadecimal digits, or the decoded bytes are not UTF-8: the
    /// text.
    Escape(String),
    /// A URI has a control character or a space: the URI.
    Uri(String),
    /// A call on namespaced objects has an empty namespace (`election:RQ-40`).
    EmptyNamespace,
    /// The file for the body cannot be read: its path, and why.
    File(std::path::PathBuf, Arc<std::io::Error>),
    /// The object for the body cannot be written as JSON.
    Encode(JsonError),
}

impl fmt::Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoHost => f.write_str("the host is empty: set it to the server's address"),
            Self::Base(address, why) => write!(f, "{address:?} is no base address: {why}"),
            Self::AlreadySet { part, old, new } => {
                write!(f, "{part} already set to {old:?}, cannot change to {new:?}")
            }
            Self::Invalid { part, text, why } => {
                write!(f, "invalid {part} {text:?}: [{}]", why.join(" "))
            }
            Self::EmptyName => f.write_str("resource name may not be empty"),
            Self::Escape(text) => write!(f, "{text:?} has an escape that stands for no UTF-8 text"),
            Self::Uri(uri) => write!(f, "{uri:?} has a control character or a space: escape it"),
            Self::EmptyNamespace => {
                f.write_str("an empty namespace may not be set when a resource name is provided")
            }
            Self::Encode(_) => f.write_str("the object for the body has no form in JSON"),
            Self::File(path, _) => write!(f, "cannot read the body from {}", path.display()),
        }
    }
}

impl std::error::Error for BuildError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::File(_, why) => Some(why.as_ref()),
            Self::Encode(why) => Some(why),
            _ => None,
        }
    }
}
