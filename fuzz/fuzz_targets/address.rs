//! Calls on the builder of addresses, against its sequential object.

#![no_main]

use libfuzzer_sys::fuzz_target;
use seatrial_models::address::{Address, Spec, decode};
use seatrial_models::wire::check;

fuzz_target!(|bytes: &[u8]| check::<Address, Spec>(&decode(bytes)));
