//! Calls on a group of channels, against a simple construction of them.

#![no_main]

use libfuzzer_sys::fuzz_target;
use seatrial_models::channel::{check, decode};

fuzz_target!(|bytes: &[u8]| check(&decode(bytes)));
