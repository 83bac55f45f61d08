//! Calls on the rate-limiting queue, against its sequential object.

#![no_main]

use libfuzzer_sys::fuzz_target;
use seatrial_models::limited_queue::{check, decode};

fuzz_target!(|bytes: &[u8]| check(&decode(bytes)));
