//! Choosing objects by their labels.

use crate::store::{Described, NoMetadata};

/// Chooses objects.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Selector {
    /// All objects, whether they have labels or not.
    Everything,
    /// None; nothing is read.
    Nothing,
    /// Those that meet every requirement: without any, all objects.
    Labels(Vec<Requirement>),
}

/// What must hold for the labels of an object.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Requirement {
    /// The label is there and has one of these values.
    In(String, Vec<String>),
    /// The label is not there, or has none of these values.
    NotIn(String, Vec<String>),
    /// The label is there.
    Exists(String),
    /// The label is not there.
    Missing(String),
}

impl Selector {
    /// Makes a selector of objects whose label has a value.
    pub fn label(name: &str, value: &str) -> Self {
        Self::Labels(vec![Requirement::In(name.to_owned(), vec![value.to_owned()])])
    }

    /// Tells whether an object is chosen.
    ///
    /// # Errors
    /// Its labels matter and it has no metadata.
    pub fn selects<O: Described>(&self, object: &O) -> Result<bool, NoMetadata> {
        match self {
            Self::Everything => Ok(true),
            Self::Nothing => Ok(false),
            Self::Labels(requirements) if requirements.is_empty() => Ok(true),
            Self::Labels(requirements) => {
                object.metadata().ok_or(NoMetadata)?;
                Ok(requirements.iter().all(|requirement| requirement.is_met(object)))
            }
        }
    }
}

impl Requirement {
    /// Tells whether the labels of an object meet it.
    pub fn is_met<O: Described>(&self, object: &O) -> bool {
        let among = |values: &[String], label: &str| values.iter().any(|value| value == label);
        match self {
            Self::In(name, values) => object.label(name).is_some_and(|label| among(values, label)),
            Self::NotIn(name, values) => {
                object.label(name).is_none_or(|label| !among(values, label))
            }
            Self::Exists(name) => object.label(name).is_some(),
            Self::Missing(name) => object.label(name).is_none(),
        }
    }
}
