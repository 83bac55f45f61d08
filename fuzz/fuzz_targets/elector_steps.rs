//! Steps of an elector in any order, against the second implementation of the rules.

#![no_main]

use libfuzzer_sys::fuzz_target;
use seatrial_models::elector::decisions::check_bytes;

fuzz_target!(|bytes: &[u8]| check_bytes(bytes));
