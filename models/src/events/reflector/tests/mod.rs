//! Generated plans.

pub(crate) mod mistakes;
pub(crate) mod plans;
pub(crate) mod proptest;
pub(crate) mod states;
