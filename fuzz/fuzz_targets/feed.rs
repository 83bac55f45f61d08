//! Calls on a subscription.

#![no_main]

use libfuzzer_sys::fuzz_target;
use seatrial_models::feed::{check, decode};

fuzz_target!(|bytes: &[u8]| check(&decode(bytes)));
