//! Calls on the indexed store, against its sequential object.

#![no_main]

use libfuzzer_sys::fuzz_target;
use seatrial_models::indexed_store::{check, decode};

fuzz_target!(|bytes: &[u8]| check(&decode(bytes)));
