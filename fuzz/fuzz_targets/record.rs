//! Records of elections and their times, as anybody may have written them.

#![no_main]

use libfuzzer_sys::fuzz_target;
use seatrial_models::texts::check_record;

fuzz_target!(|bytes: &[u8]| check_record(bytes));
