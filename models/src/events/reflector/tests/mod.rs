//! Generated plans.

mod mistakes;
mod plans;
mod proptest;
mod states;
