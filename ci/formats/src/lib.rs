//! Only tests: see `tests/formats.rs`.
