//! Calls on the limiters, against their sequential object.

#![no_main]

use libfuzzer_sys::fuzz_target;
use seatrial_models::limiter::check;

fuzz_target!(|bytes: &[u8]| check(bytes));
