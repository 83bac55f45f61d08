//! Generated plans.

pub(crate) mod plans;
pub(crate) mod states;
