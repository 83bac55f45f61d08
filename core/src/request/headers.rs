//! Headers of requests and answers.

use std::fmt;

/// Headers: names ignore case, and the values of one name keep their order.
#[derive(Clone, PartialEq, Eq, Default)]
pub struct Headers(Vec<(String, String)>);

impl Headers {
    /// No headers.
    #[must_use]
    pub const fn new() -> Self {
        Self(Vec::new())
    }

    /// Replaces all values of a name.
    pub fn set(&mut self, name: &str, values: &[&str]) {
        self.0.retain(|(known, _)| !known.eq_ignore_ascii_case(name));
        for value in values {
            self.add(name, value);
        }
    }

    /// Adds a value to a name.
    pub fn add(&mut self, name: &str, value: &str) {
        self.0.push((name.to_owned(), value.to_owned()));
    }

    /// Returns the first value of a name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&str> {
        self.all(name).next()
    }

    /// Visits the values of a name.
    pub fn all<'h>(&'h self, name: &str) -> impl Iterator<Item = &'h str> {
        let of_name = move |known: &str| known.eq_ignore_ascii_case(name);
        self.0.iter().filter(move |(known, _)| of_name(known)).map(|(_, value)| value.as_str())
    }

    /// Changes every value.
    pub(super) fn each(&mut self, mut change: impl FnMut(&mut String)) {
        self.0.iter_mut().for_each(|(_, value)| change(value));
    }

    /// Visits all names and values.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }
}

/// Values may be secrets, so only names are shown.
impl fmt::Debug for Headers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.0.iter().map(|(name, _)| name)).finish()
    }
}
