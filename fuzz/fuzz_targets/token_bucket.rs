//! Calls on the token bucket, against its sequential object.

#![no_main]

use libfuzzer_sys::fuzz_target;
use seatrial_models::token_bucket::check;

fuzz_target!(|bytes: &[u8]| check(bytes));
