//! Calls and the outcomes of their attempts, against the second statement of the rules.

#![no_main]

use libfuzzer_sys::fuzz_target;
use seatrial_models::request::{check, decode};

fuzz_target!(|bytes: &[u8]| check(&decode(bytes)));
