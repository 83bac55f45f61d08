//! The parameters of a request (`election:RQ-23`).

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::duration::DurationText;
use super::error::BuildError;
use super::escape::{Form, unescape};

/// The key that is replaced by the request's own timeout.
const TIMEOUT: &str = "timeout";

/// Parameters, sorted by key. The values of one key keep their order.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Query(BTreeMap<String, Vec<String>>);

impl Query {
    /// Reads the query of a URI.
    pub(super) fn parse(text: &str) -> Result<Self, BuildError> {
        let mut query = Self::default();
        for pair in text.split('&').filter(|pair| !pair.is_empty()) {
            let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
            query.append(unescape(key, true)?, unescape(value, true)?);
        }
        Ok(query)
    }

    pub(super) fn append(&mut self, key: String, value: String) {
        self.0.entry(key).or_default().push(value);
    }

    /// Estimates the length of the text.
    pub(super) fn length(&self) -> usize {
        let values = self.0.iter().flat_map(|(key, values)| {
            values.iter().map(|value| key.len() + value.len() + "?=".len())
        });
        values.sum::<usize>() * 5 / 4
    }

    /// Returns the same keys, each with the single value `value`.
    pub(super) fn each_with(&self, value: &str) -> Self {
        Self(self.0.keys().map(|key| (key.clone(), vec![value.to_owned()])).collect())
    }

    /// Appends `?` and the parameters, if there are any. A timeout other than zero replaces the
    /// values of its key (`election:RQ-45`: it is sent to the server in every mode).
    pub(super) fn write(&self, text: &mut String, timeout_nanos: i64) {
        let replaced = timeout_nanos != 0;
        let mut owed = replaced;
        let mut mark = '?';
        for (key, values) in &self.0 {
            if owed && key.as_str() >= TIMEOUT {
                pair(text, &mut mark, TIMEOUT, DurationText(timeout_nanos));
                owed = false;
            }
            if replaced && key == TIMEOUT {
                continue;
            }
            for value in values {
                pair(text, &mut mark, key, value);
            }
        }
        if owed {
            pair(text, &mut mark, TIMEOUT, DurationText(timeout_nanos));
        }
    }
}

fn pair(text: &mut String, mark: &mut char, key: &str, value: impl std::fmt::Display) {
    text.push(std::mem::replace(mark, '&'));
    // Writing to a text cannot fail.
    let _ = write!(Form(text), "{key}");
    text.push('=');
    let _ = write!(Form(text), "{value}");
}
