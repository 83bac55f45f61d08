//! Calls on the delaying queue, against its sequential object.

#![no_main]

use libfuzzer_sys::fuzz_target;
use seatrial_models::delaying_queue::{check, decode};

fuzz_target!(|bytes: &[u8]| check(&decode(bytes)));
