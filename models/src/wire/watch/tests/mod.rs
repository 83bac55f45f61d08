//! The watch that ships against the meaning of its bytes.

mod proptest;
