//! Steps of a client's trial, against the sequential object.

#![no_main]

use libfuzzer_sys::fuzz_target;
use seatrial_models::client::{Client, Spec, decode};
use seatrial_models::wire::check;

fuzz_target!(|bytes: &[u8]| check::<Client, Spec>(&decode(bytes)));
