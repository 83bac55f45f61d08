//! Names of participants.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

/// The identity of a participant, or the name of a strategy; empty for "nobody" and "none"
/// (`election:LK-9`). Cheap to clone.
///
/// An identity must be unique per incarnation of a process (`election:LE-26`).
// One pointer wide, because records hold three names and are moved a lot.
#[derive(Clone, Default, PartialOrd, Ord)]
pub struct Name(Option<Arc<String>>);

impl Name {
    /// The empty name.
    pub const EMPTY: Self = Self(None);

    /// Makes a name.
    #[must_use]
    pub fn new(name: &str) -> Self {
        Self((!name.is_empty()).then(|| Arc::new(name.to_owned())))
    }

    /// Returns the name as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        self.0.as_deref().map_or("", String::as_str)
    }

    /// Tells whether the name is empty.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.0.is_none()
    }
}

impl PartialEq for Name {
    #[inline]
    fn eq(&self, other: &Self) -> bool {
        match (&self.0, &other.0) {
            (Some(a), Some(b)) => Arc::ptr_eq(a, b) || a == b,
            (None, None) => true,
            _ => false,
        }
    }
}

impl Eq for Name {}

impl Hash for Name {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.as_str().hash(state);
    }
}

impl From<&str> for Name {
    fn from(name: &str) -> Self {
        Self::new(name)
    }
}

impl fmt::Debug for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.as_str(), f)
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
