//! The invariants over random runs, and over runs that were tampered with.
