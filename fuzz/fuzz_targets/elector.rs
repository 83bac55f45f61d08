//! Calls on electors, against the second implementation of their rules.

#![no_main]

use libfuzzer_sys::fuzz_target;
use seatrial_models::elector::check_bytes;

fuzz_target!(|bytes: &[u8]| check_bytes(bytes));
