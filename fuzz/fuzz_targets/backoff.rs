//! Calls on the keyed back-off, against its sequential object.

#![no_main]

use libfuzzer_sys::fuzz_target;
use seatrial_models::backoff::{check, decode};

fuzz_target!(|bytes: &[u8]| {
    let (setup, ops) = decode(bytes);
    check(setup, &ops);
});
