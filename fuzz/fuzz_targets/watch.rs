//! Inputs of a watch, against the meaning of all of its bytes.

#![no_main]

use libfuzzer_sys::fuzz_target;
use seatrial_models::watch::{Spec, Watch, decode};
use seatrial_models::wire::check;

fuzz_target!(|bytes: &[u8]| check::<Watch, Spec>(&decode(bytes)));
