//! Made-up plans of events at the server of a reflector.

#![no_main]

use libfuzzer_sys::fuzz_target;
use seatrial_models::reflector::{check, decode};

fuzz_target!(|bytes: &[u8]| check(&decode(bytes)));
