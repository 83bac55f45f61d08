//! Calls and what becomes of their attempts, against the rules that are said once more.

#![no_main]

use libfuzzer_sys::fuzz_target;
use seatrial_models::request::{check, decode};

fuzz_target!(|bytes: &[u8]| check(&decode(bytes)));
