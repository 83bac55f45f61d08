//! Calls on the elector, against its sequential object.

#![no_main]

use libfuzzer_sys::fuzz_target;
use seatrial_models::elector::check_bytes;

fuzz_target!(|bytes: &[u8]| check_bytes(bytes));
