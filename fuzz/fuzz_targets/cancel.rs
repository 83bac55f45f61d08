//! Calls on a tree of tokens, against its sequential object.

#![no_main]

use libfuzzer_sys::fuzz_target;
use seatrial_models::cancel::{check, decode};

fuzz_target!(|bytes: &[u8]| check(&decode(bytes)));
