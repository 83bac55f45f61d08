//! Selecting objects by their labels.

use crate::store::{Described, NoMetadata};

/// Selects objects.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Selector {
    /// All objects, whether they have labels or not.
    Everything,
    /// No objects; the store is not read.
    Nothing,
    /// Objects that meet every requirement; without requirements, all objects.
    Labels(Vec<Requirement>),
}

/// A condition on the labels of an object.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Requirement {
    /// The label exists and has one of these values.
    In(String, Vec<String>),
    /// The label does not exist, or has none of these values.
    NotIn(String, Vec<String>),
    /// The label exists.
    Exists(String),
    /// The label does not exist.
    Missing(String),
}

impl Selector {
    /// Makes a selector of objects whose label has a value.
    pub fn label(name: &str, value: &str) -> Self {
        Self::Labels(vec![Requirement::In(name.to_owned(), vec![value.to_owned()])])
    }

    /// Tells whether an object is selected.
    ///
    /// # Errors
    /// The selector needs labels, and the object has no metadata.
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
    /// Tells whether the labels of an object meet the requirement.
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
