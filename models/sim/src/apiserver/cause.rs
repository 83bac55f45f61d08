//! What is wrong with an object: at most a hundred things, each told in a short text.

use std::fmt::{self, Display};
use std::ops::Deref;

use serde_json::Value;

use crate::short::{MOST, short};

/// One thing that is wrong with an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Cause {
    /// The path of the field, such as `metadata.name`.
    pub(crate) field: String,
    /// Why, as clients compare it, such as `FieldValueInvalid`.
    pub(crate) reason: &'static str,
    /// Why, as people read it.
    pub(crate) message: String,
}

impl Cause {
    pub(crate) fn new(field: impl Display, reason: &'static str, message: impl Display) -> Self {
        Self { field: short(field), reason, message: short(message) }
    }

    pub(crate) fn invalid(field: impl Display, value: &Value, why: impl Display) -> Self {
        let value = short(value);
        Self::new(field, "FieldValueInvalid", format_args!("Invalid value: {value}: {why}"))
    }

    pub(crate) fn required(field: impl Display, why: &str) -> Self {
        let colon = if why.is_empty() { "" } else { ": " };
        Self::new(field, "FieldValueRequired", format_args!("Required value{colon}{why}"))
    }

    pub(crate) fn forbidden(field: impl Display, why: &str) -> Self {
        Self::new(field, "FieldValueForbidden", format_args!("Forbidden: {why}"))
    }

    pub(crate) fn unsupported(field: impl Display, value: &Value, known: &[&str]) -> Self {
        let known = Quoted(known.iter());
        let value = short(value);
        let message = format_args!("Unsupported value: {value}: supported values: {known}");
        Self::new(field, "FieldValueNotSupported", message)
    }
}

/// Texts in quotes, with commas between them.
struct Quoted<I>(I);

impl<I: Iterator<Item: Display> + Clone> Display for Quoted<I> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, text) in self.0.clone().enumerate() {
            let comma = if index == 0 { "" } else { ", " };
            write!(f, "{comma}\"{text}\"")?;
        }
        Ok(())
    }
}

/// The first hundred causes of a refusal; more are not kept.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Causes(Vec<Cause>);

impl Causes {
    /// Tells whether nothing is added any more, so that no more needs to be looked for.
    pub(crate) fn is_full(&self) -> bool {
        self.0.len() >= MOST
    }

    pub(crate) fn push(&mut self, cause: Cause) {
        if !self.is_full() {
            self.0.push(cause);
        }
    }

    pub(crate) fn retain(&mut self, is_kept: impl FnMut(&Cause) -> bool) {
        self.0.retain(is_kept);
    }

    /// Forgets the causes after the first `count`.
    pub(crate) fn truncate(&mut self, count: usize) {
        self.0.truncate(count);
    }

    /// The causes after the first `count`.
    pub(crate) fn after(&mut self, count: usize) -> &mut [Cause] {
        &mut self.0[count..]
    }
}

impl Extend<Cause> for Causes {
    fn extend<I: IntoIterator<Item = Cause>>(&mut self, causes: I) {
        let room = MOST.saturating_sub(self.0.len());
        self.0.extend(causes.into_iter().take(room));
    }
}

impl FromIterator<Cause> for Causes {
    fn from_iter<I: IntoIterator<Item = Cause>>(causes: I) -> Self {
        let mut all = Self::default();
        all.extend(causes);
        all
    }
}

impl IntoIterator for Causes {
    type Item = Cause;
    type IntoIter = std::vec::IntoIter<Cause>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

impl Deref for Causes {
    type Target = [Cause];

    fn deref(&self) -> &[Cause] {
        &self.0
    }
}
