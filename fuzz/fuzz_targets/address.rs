//! Calls on the builder of addresses, against its sequential object.

#![no_main]

use libfuzzer_sys::fuzz_target;
use seatrial_models::address::{check, decode};

fuzz_target!(|bytes: &[u8]| check(&decode(bytes)));
