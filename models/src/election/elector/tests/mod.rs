//! The elector against the sequential object, and laws of its record.

pub(crate) mod beside;
pub(crate) mod laws;
pub(crate) mod reference;
pub(crate) mod simulations;
pub(crate) mod told;
