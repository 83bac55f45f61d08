//! The watch that ships against what its bytes mean.

mod proptest;
