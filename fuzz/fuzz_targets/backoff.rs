//! Calls on the keyed back-off, against its sequential object.

#![no_main]

use libfuzzer_sys::fuzz_target;
use seatrial_models::backoff::check;

fuzz_target!(|bytes: &[u8]| check(bytes));
