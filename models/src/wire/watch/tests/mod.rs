//! The watch that ships against the meaning of its bytes.

pub(crate) mod proptest;
