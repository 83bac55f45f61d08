//! Steps of a client's trial, against the sequential object.

#![no_main]

use libfuzzer_sys::fuzz_target;
use seatrial_models::client::{check, decode};

fuzz_target!(|bytes: &[u8]| check(&decode(bytes)));
