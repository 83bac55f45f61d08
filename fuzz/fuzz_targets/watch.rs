//! What happens to a watch, against what all of its bytes mean.

#![no_main]

use libfuzzer_sys::fuzz_target;
use seatrial_models::watch::{check, decode};

fuzz_target!(|bytes: &[u8]| check(&decode(bytes)));
