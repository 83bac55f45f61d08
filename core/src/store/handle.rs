//! The traits of keys and objects.

use std::fmt;
use std::hash::Hash;

/// The identity of an object: equal keys are the same object.
pub trait Key: Eq + Hash + Clone + Send + Sync + fmt::Debug + 'static {}
impl<T: Eq + Hash + Clone + Send + Sync + fmt::Debug + 'static> Key for T {}

/// Shared access to an object. It is cloned often, so it should be an `Arc` or equally small.
pub trait Handle: Clone + Send + Sync + fmt::Debug + 'static {}
impl<T: Clone + Send + Sync + fmt::Debug + 'static> Handle for T {}
